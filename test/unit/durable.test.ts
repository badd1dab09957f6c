import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../../src/base/durable.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

afterAll(cleanUp)

test('a file for which there is no room keeps its old content', () => {
  const directory = newDirectory()
  const path = join(directory, 'key')
  writeDurably(path, 'old')
  const program = `
    import { writeDurably } from '${join(import.meta.dir, '../../src/base/durable.ts')}'
    writeDurably('${path}', 'x'.repeat(4096))\n`
  // Above its limit a file takes a part of a write, as a full disk does.
  const limited = `trap '' XFSZ; ulimit -f 1; exec "$0" -e "$1"`
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', limited, process.execPath, program])
  expect(stderr.toString()).toContain('EFBIG')
  expect(exitCode).not.toBe(0)
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(directory)).toEqual(['key'])
})
