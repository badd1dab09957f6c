import { OperatorError, type OperatorErrorKind } from '../base/operator-error.ts'
import { type BackupJob, writeBackup } from './backup.ts'
import { checkDatabase } from './check.ts'
import { type ArrivalJob, prepareArrival } from './restore.ts'

/** The one message to this worker. */
export type Job =
  | { kind: 'check'; source: string }
  | ({ kind: 'backup' } & BackupJob)
  | ({ kind: 'arrival' } & ArrivalJob)

/** Its one answer. */
export type Outcome =
  | { done: unknown }
  | { refused: { message: string; kind: OperatorErrorKind } }
  | { failed: { message: string; code: string | undefined } }

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<Job>) => {
  self.postMessage(await run(data))
}

async function run(job: Job): Promise<Outcome> {
  try {
    return { done: await work(job) }
  } catch (cause) {
    if (cause instanceof OperatorError) {
      return { refused: { message: cause.message, kind: cause.kind } }
    }
    const error = cause instanceof Error ? cause : new Error(String(cause))
    return {
      failed: { message: error.message, code: 'code' in error ? String(error.code) : undefined },
    }
  }
}

function work(job: Job): Promise<unknown> {
  switch (job.kind) {
    case 'check':
      // Short pauses leave the processor to the service. Long ones would let the WAL grow.
      return checkDatabase(job.source, (tookMs) => Bun.sleep(tookMs / 4))
    case 'backup':
      return writeBackup(job)
    case 'arrival':
      return prepareArrival(job)
  }
}
