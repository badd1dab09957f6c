import type { Verdict } from './standby-watch.ts'

/** Events of the engine for the log and the metrics. */
export type EngineEvents = {
  committed(operations: number, seconds: number): void
  failed(cause: unknown, operations: number): void
  /** The answer to a commit got lost, and nobody told in time whether it stands. */
  unknown?(commit: string): void
  /** The database has a schema that this program cannot use. It takes no more operations. */
  outdated?(schema: number): void
  /** The news of other nodes could not be read for too long. */
  unread?(cause: unknown): void
  /** The service was moved away from this database while this node was silent. */
  moved?(): void
  /** The watch of the standby found that the server answers, or the reason why operations may be refused. */
  watched?(verdict: Verdict): void
}
