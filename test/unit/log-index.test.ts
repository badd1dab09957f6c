import { afterAll, afterEach, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { storeLog } from '../../src/db/left-log.ts'
import { lockDatabases } from '../../src/db/lock.ts'
import { openConnection } from '../../src/db/sqlite.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const children: Bun.Subprocess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    await child.exited
  }
})
afterAll(cleanUp)

/** Another program that has a database open, in the midst of a read. */
async function openElsewhere(path: string) {
  const code = `
    const { Database } = require('bun:sqlite')
    const connection = new Database(process.argv[1])
    connection.run('BEGIN')
    connection.query('SELECT count(*) FROM notes').get()
    console.log('open')
    for await (const _ of console) {
      connection.run('COMMIT')
      console.log(JSON.stringify(connection.query('SELECT name FROM notes').values().flat()))
      connection.close(true)
      break
    }`
  const child = Bun.spawn([process.execPath, '-e', code, path], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  children.push(child)
  const lines = child.stdout.getReader()
  const line = async () => new TextDecoder().decode((await lines.read()).value).trim()
  expect(await line()).toBe('open')
  return {
    /** The notes that it sees now. It closes the database then. */
    async close(): Promise<string[]> {
      child.stdin.write('\n')
      child.stdin.end()
      const seen = JSON.parse(await line())
      expect(await child.exited).toBe(0)
      return seen
    },
  }
}

/** A service that is killed when a commit of its own is in the log, and not on disk. */
function commitAndDie(path: string): void {
  const code = `
    const { Database } = require('bun:sqlite')
    const connection = new Database(process.argv[1])
    connection.run('PRAGMA synchronous = NORMAL')
    connection.run('PRAGMA wal_autocheckpoint = 0')
    connection.run("INSERT INTO notes VALUES ('lost', ?)", ['x'.repeat(50_000)])
    process.kill(process.pid, 'SIGKILL')`
  const { signalCode } = Bun.spawnSync([process.execPath, '-e', code, path])
  expect(signalCode).toBe('SIGKILL')
}

function newNotes(): string {
  const path = join(newDirectory(), 'cuponera.db')
  const connection = openConnection(path)
  connection.run('CREATE TABLE notes (name TEXT, value TEXT)')
  connection.run("INSERT INTO notes VALUES ('before', ?)", ['y'.repeat(50_000)])
  connection.close()
  return path
}

const notesOf = (connection: ReturnType<typeof openConnection>) => [
  connection.query('PRAGMA integrity_check').values().flat(),
  connection.query('SELECT name FROM notes').values().flat(),
]

test('a start reads nothing that the disk lost, though another program has the index of the log open', async () => {
  const path = newNotes()
  const log = `${path}-wal`
  const other = await openElsewhere(path)
  commitAndDie(path)
  // The kernel dropped all that was not synced.
  writeFileSync(log, Buffer.alloc(statSync(log).size))
  lockDatabases(dirname(path), [path])?.release()
  const next = openConnection(path)
  expect(notesOf(next)).toEqual([['ok'], ['before']])
  next.run("INSERT INTO notes VALUES ('after', '')")
  next.close()
  expect(await other.close()).toEqual(['before', 'after'])
  const last = openConnection(path)
  expect(notesOf(last)).toEqual([['ok'], ['before', 'after']])
  last.close()
})

test('a process forgets an index once, because a later descriptor would cost its locks', () => {
  const path = newNotes()
  const connection = openConnection(path)
  connection.query('SELECT * FROM notes').all()
  const [index, header] = [`${path}-shm`, () => readFileSync(`${path}-shm`).subarray(0, 96)]
  connection.close()
  writeFileSync(index, Buffer.alloc(200, 1))
  storeLog(path, 'kept')
  expect(header()).toEqual(Buffer.alloc(96, 1))
  storeLog(path, 'forgotten')
  expect(readFileSync(index)).toEqual(Buffer.concat([Buffer.alloc(96), Buffer.alloc(104, 1)]))
  writeFileSync(index, Buffer.alloc(200, 1))
  storeLog(path, 'forgotten')
  expect(header()).toEqual(Buffer.alloc(96, 1))
})
