import { readFileSync } from 'node:fs'
import { findCarriedLibrary } from '../../src/crypto/embedded.ts'

/** The signature engine that a start block names. */
export function engineIn(output: string): string {
  return /signatures\s+(.+)/.exec(output)?.[1] ?? 'unknown'
}

/**
 * Throw if a program signs with another engine than the ceilings, or carries another library: its share would tell of
 * the engines and not of the program. `carried`: the library of the ceilings.
 */
export function requireSameEngine(
  command: readonly string[],
  { program, ceiling }: Record<'program' | 'ceiling', string>,
  carried: string | null = findCarriedLibrary()?.path ?? null,
): void {
  const [ours, theirs] = [program, ceiling].map((detail) => detail.split(' ')[0])
  if (ours !== theirs) throw new Error(`the program signs with ${ours}, the ceiling with ${theirs}`)
  const [file = ''] = command
  if (!program.endsWith('(embedded)') || carried === null) return
  // A build holds the bytes of its library as they are.
  if (!readFileSync(file).includes(readFileSync(carried))) {
    throw new Error(`${file} carries another libsecp256k1 than the ceiling: npm run build`)
  }
}
