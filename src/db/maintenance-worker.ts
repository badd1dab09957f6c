import { OperatorError } from '../base/operator-error.ts'
import { type BackupJob, writeBackup } from './backup.ts'
import { checkDatabase } from './check.ts'

/** What this worker is asked, once. */
export type Job = { kind: 'check'; source: string } | ({ kind: 'backup' } & BackupJob)

/** What it answers, once. */
export type Outcome =
  | { done: unknown }
  | { refused: string }
  | { failed: { message: string; code: string | undefined } }

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<Job>) => {
  self.postMessage(await run(data))
}

async function run(job: Job): Promise<Outcome> {
  try {
    // Some rest, as the service has the processor first; not much, as the WAL grows until it ends.
    return {
      done:
        job.kind === 'check'
          ? await checkDatabase(job.source, (tookMs) => Bun.sleep(tookMs / 4))
          : await writeBackup(job),
    }
  } catch (cause) {
    if (cause instanceof OperatorError) return { refused: cause.message }
    const error = cause instanceof Error ? cause : new Error(String(cause))
    return {
      failed: { message: error.message, code: 'code' in error ? String(error.code) : undefined },
    }
  }
}
