import type { Caller } from '../session/caller.ts'

/** The way out of this computer. */
export type MoveOut = {
  /**
   * Close the service, and restart it as one that was moved. Refuses `move-not-allowed`, `move-not-begun` while it opens
   * again, `disk-low` where the copy for the file has no room.
   */
  begin(caller: Caller): Promise<{ movedAt: number }>
  /**
   * The file of the move, as a stream, and its time in Unix seconds. Refuses `move-not-allowed`, `move-not-begun`,
   * `disk-low`.
   */
  file(
    caller: Caller,
    passphrase: string,
  ): Promise<{ stream: ReadableStream<Uint8Array>; createdAt: number }>
  /** Open the service again. Refuses `move-not-allowed`, `move-not-begun`. */
  back(caller: Caller): Promise<void>
}

/** The way into an unused service. */
export type MoveIn = {
  /** Begin to receive a file. `code` is the setup code. Refuses `setup-code-wrong`, `move-not-allowed`, `move-not-empty`. */
  open(code: string | null, address: string): Promise<{ ticket: string }>
  /** Take the next piece, after `at` bytes; zero begins anew. Returns the bytes so far. */
  take(ticket: string | null, at: number, piece: Uint8Array): { bytes: number }
  /**
   * Check the file, and restart with it. Refuses `move-passphrase-wrong`, `move-file-damaged`, `move-not-empty`,
   * `disk-low`.
   */
  finish(ticket: string | null, passphrase: string): Promise<{ npub: string }>
}
