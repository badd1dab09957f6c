import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { cleanUp } from '../support/server.ts'
import { judge, parseTrace, traceFaults, traceOrder, whyNotTraceable } from './trace-sync.ts'

afterAll(cleanUp)

const program = join(import.meta.dir, 'trace-sync.ts')
const untraceable = await whyNotTraceable()

test('an answer leaves after the log was synced, and a failing disk is answered 503', async () => {
  if (untraceable !== null) {
    console.log(`left out: the trace of syncs (${untraceable})`)
    return expectSaid(await runCommand(process.env.PATH ?? ''))
  }
  const [order, faults] = [await traceOrder(), await traceFaults()]
  expect([...order.problems, ...faults.problems]).toEqual([])
  expect(order.shown.join('\n')).toMatch(/f(data)?sync/)
})

test('the command reports a missing strace and fails', async () => {
  expectSaid(await runCommand('/nonexistent'))
})

const write = '7 1.0 pwrite64(9</d/cuponera.db-wal>, "x", 24, 0) = 24'
const sync = '7 1.0 fsync(9</d/cuponera.db-wal>) = 0'
const answer = '7 1.0 sendto(15<TCP:[a->b]>, "HTTP/1.1 200 OK", 20, 0, NULL, 0) = 20'

test.each([
  ['the right order', [write, write, sync, answer], []],
  ['an early answer', [write, answer, sync], ['the answer left before the sync']],
  ['a late write', [write, sync, write, answer], ['the last write came after the sync']],
  ['no sync', [write, answer], ['the log was never synced']],
  ['a failed sync', [write, sync.replace('= 0', '= -1 EIO'), answer], ['the log was never synced']],
  [
    'a sync that ends after the answer',
    [
      write,
      '7 1.0 fsync(9</d/cuponera.db-wal> <unfinished ...>',
      answer.replace('7', '8'),
      '7 1.0 <... fsync resumed>) = 0',
    ],
    ['the answer left before the sync'],
  ],
  [
    'an answer that begins before the sync',
    [
      write,
      '8 1.0 sendto(15<TCP:[a->b]>, "HTTP/1.1 200 OK", 20, 0 <unfinished ...>',
      sync,
      '8 1.0 <... sendto resumed>, NULL, 0) = 20',
    ],
    ['the answer left before the sync'],
  ],
  [
    'the log of the relay behind the answer',
    [write, sync, answer, write.replace('cuponera', 'relay'), sync.replace('cuponera', 'relay')],
    [],
  ],
  [
    'another file',
    [write, sync.replace('cuponera.db-wal', 'other'), answer],
    ['the log was never synced'],
  ],
])('a trace with %s is judged as such', (_, lines, problems) => {
  expect(judge(parseTrace(lines.join('\n')))).toEqual(problems)
})

async function runCommand(path: string): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([process.execPath, program], { env: { PATH: path }, stderr: 'inherit' })
  const output = await new Response(child.stdout).text()
  return { code: await child.exited, output }
}

function expectSaid({ code, output }: { code: number; output: string }): void {
  expect(output).toMatch(/strace (is not installed|may not attach)/)
  expect(code).toBe(2)
}
