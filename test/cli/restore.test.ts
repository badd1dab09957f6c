/** Restores of a database whose last process left a WAL. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyDirectory, createPopulated, runCommand } from '../support/cli.ts'
import { createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { damage, describeFile } from '../support/database.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

describeFile('cuponera restore', () => {
  let dataDir: string
  let backup: string

  beforeAll(async () => {
    dataDir = (await createPopulated()).dataDir
    backup = join(newDirectory(), 'copy.db')
    expect((await runCommand(['backup', backup], { dataDir })).code).toBe(0)
  })
  afterAll(cleanUp)

  const restoreTo = (directory: string, file = backup) =>
    runCommand(['restore', file, '--force'], { dataDir: directory })

  /** A directory whose WAL cannot be opened. */
  const withoutLog = (directory: string) => {
    const log = join(directory, 'cuponera.db-wal')
    mkdirSync(log)
    return { directory, log }
  }

  test('wants a WAL that nobody can read to be moved away by a person first', async () => {
    const { directory, log } = withoutLog(copyDirectory(dataDir))
    const before = readFileSync(join(directory, 'cuponera.db'))
    const { code, stderr } = await restoreTo(directory)
    expect(stderr).toContain('if it was not, move this file away and restore again')
    expect(code).toBe(1)
    expect(readFileSync(join(directory, 'cuponera.db'))).toEqual(before)
    renameSync(log, join(newDirectory(), 'log'))
    expect((await restoreTo(directory)).code).toBe(0)
  })

  test('opens no service that was moved away, whether its WAL can be read or not', async () => {
    const moved = copyDirectory(dataDir)
    await damage(moved, "INSERT INTO facts (name, value) VALUES ('moved', '17')")
    const { directory, log } = withoutLog(copyDirectory(moved))
    expect((await restoreTo(directory)).code).toBe(1)
    renameSync(log, join(newDirectory(), 'log'))
    for (const place of [directory, moved]) {
      const { code, stderr } = await restoreTo(place)
      expect(stderr).toContain('this service was moved to another computer')
      expect(code).toBe(1)
    }
  })

  test('finds the mark of a move that is in the WAL alone', async () => {
    const open = copyDirectory(dataDir)
    using file = new Database(join(open, 'cuponera.db'))
    file.run("INSERT INTO facts (name, value) VALUES ('moved', '17')")
    const directory = copyDirectory(open)
    expect((await restoreTo(directory)).stderr).toContain('was moved to another computer')
    expect(existsSync(join(directory, 'cuponera.db-wal'))).toBe(true)
  })

  test('that refuses its file leaves the database and the WAL of a killed service as they are', async () => {
    const other = await startServer()
    const token = await openSession(other.url, newSigner())
    await mintOne(other.url, token, await createDefinition(other.url, token))
    await other.kill()
    const state = () =>
      ['cuponera.db', 'cuponera.db-wal', 'relay.db', 'relay.db-wal'].map((name) => {
        const path = join(other.dataDir, name)
        return [name, existsSync(path) && Bun.hash(readFileSync(path))]
      })
    const before = state()
    const broken = join(newDirectory(), 'broken.db')
    writeFileSync(broken, 'nothing of the kind'.repeat(500))
    for (const file of [join(newDirectory(), 'missing.db'), broken, backup]) {
      const { code, stderr } = await restoreTo(other.dataDir, file)
      expect(stderr).toMatch(/there is no file|not a sound database|nothing was replaced/)
      expect(code).toBe(1)
      expect(state()).toEqual(before)
    }
  })
})
