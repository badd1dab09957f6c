import { afterAll, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createPopulated, runCommand } from '../support/cli.ts'
import { testOfFile } from '../support/database.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { logged } from '../support/until.ts'

afterAll(cleanUp)

/** The start says in one line what the operator has to mend; no trace. */
async function expectLine(dataDir: string, line: string): Promise<void> {
  const { code, stdout, stderr } = await runCommand(['serve'], { dataDir })
  expect(stderr).toBe(`cuponera: ${line}\n`)
  expect(stdout).toBe('')
  expect(code).toBe(1)
}

test('a data directory that is a file is reported in one line', async () => {
  const dataDir = join(newDirectory(), 'data')
  writeFileSync(dataDir, 'notes')
  await expectLine(dataDir, `cannot use the data directory ${dataDir} (EEXIST)`)
})

test('a port of another service is reported in one line, and stays with that service', async () => {
  const { port } = new URL((await startServer()).url)
  const { code, stderr } = await runCommand(['serve', '--port', port], { dataDir: newDirectory() })
  expect(stderr).toEndWith(`cuponera: cannot listen on 127.0.0.1 port ${port} (EADDRINUSE)\n`)
  expect(code).toBe(1)
})

test('a directory below a file is reported in one line', async () => {
  const file = join(newDirectory(), 'data')
  writeFileSync(file, 'notes')
  const dataDir = join(file, 'below')
  await expectLine(dataDir, `cannot use the data directory ${dataDir} (ENOTDIR)`)
})

test('a directory of another user is refused in one line, and left as it was', async () => {
  const dataDir = newDirectory()
  writeFileSync(join(dataDir, 'thesis.txt'), 'chapter one')
  chmodSync(dataDir, 0o755)
  const line = `${dataDir} is not empty and not a data directory: name another one`
  await expectLine(dataDir, line)
  expect(readdirSync(dataDir)).toEqual(['thesis.txt'])
  expect(statSync(dataDir).mode & 0o777).toBe(0o755)
})

test.each(['lock-journal', 'incoming'])(
  'a directory with nothing but %s, as a power cut leaves it, is taken',
  async (name) => {
    const dataDir = newDirectory()
    if (name === 'incoming') mkdirSync(join(dataDir, name))
    else writeFileSync(join(dataDir, name), '')
    const server = await startServer({ dataDir })
    expect(await server.stop()).toBe(0)
  },
)

testOfFile(
  'a file that is no database is reported in one line, which names cuponera check',
  async () => {
    const dataDir = (await createPopulated()).dataDir
    const path = join(dataDir, 'cuponera.db')
    writeFileSync(path, 'this is not a database. '.repeat(500))
    const advice = 'look at it with "cuponera check"'
    await expectLine(dataDir, `cannot open the database ${path} (SQLITE_NOTADB): ${advice}`)
  },
)

testOfFile(
  'a database with a damaged first page is reported in one line, which names cuponera check',
  async () => {
    const dataDir = (await createPopulated()).dataDir
    const path = join(dataDir, 'cuponera.db')
    // The page behind the file header lists the tables.
    writeSync(openSync(path, 'r+'), Buffer.alloc(3000, 0x5a), 0, 3000, 100)
    const advice = 'look at it with "cuponera check"'
    await expectLine(dataDir, `cannot open the database ${path} (SQLITE_CORRUPT): ${advice}`)
  },
)

for (const file of ['wal', 'shm']) {
  testOfFile(`a database whose -${file} cannot be opened is reported in one line`, async () => {
    const dataDir = (await createPopulated()).dataDir
    const path = join(dataDir, `cuponera.db-${file}`)
    mkdirSync(path)
    await expectLine(
      dataDir,
      `cannot read and write ${path} again (EISDIR): make room or mend the disk, then do this again`,
    )
  })
}

testOfFile('a relay whose WAL cannot be opened keeps nobody from the coupons', async () => {
  const { dataDir } = await createPopulated()
  const path = join(dataDir, 'relay.db-wal')
  rmSync(path, { force: true })
  mkdirSync(path)
  const server = await startServer({ dataDir })
  await logged(server, '"relay.down"')
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  rmdirSync(path)
  await logged(server, '"relay.up"')
})

test('the start prints an address of the panel that a browser can open, on any HOST', async () => {
  const { output } = await startServer({ env: { HOST: '0.0.0.0' } })
  const [, panel = ''] = /panel\s+(\S+)/.exec(output()) ?? []
  expect(new URL(panel).hostname).not.toBe('0.0.0.0')
  const answer = await fetch(panel)
  expect({ status: answer.status, page: answer.headers.get('content-type') }).toEqual({
    status: 200,
    page: 'text/html; charset=utf-8',
  })
})
