import { OperatorError } from '../base/operator-error.ts'
import { type BackupJob, writeBackup } from './backup.ts'
import { checkDatabase } from './check.ts'

/** The one message to this worker. */
export type Job = { kind: 'check'; source: string } | ({ kind: 'backup' } & BackupJob)

/** Its one answer. */
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
    // Short pauses leave the processor to the service. Long ones would let the WAL grow.
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
