import { spyOn } from 'bun:test'
import { demo } from '../../src/cli/demo.ts'
import type { Patience } from '../../src/cli/demo-client.ts'

/** Run the demo in this process; `output` has the lines of both streams. */
export async function runDemo(
  url: string,
  patience?: Patience,
): Promise<{ code: number; output: string }> {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const spies = [
    spyOn(console, 'log').mockImplementation(write),
    spyOn(console, 'error').mockImplementation(write),
  ]
  try {
    return { code: await demo({ url }, patience), output: lines.join('\n') }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
