import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decrypt } from 'nostr-tools/nip49'
import { sealKeyFile } from '../../src/crypto/key-file.ts'
import { nsecOf } from '../../src/nostr/keys.ts'
import {
  copyDirectory,
  createPopulated,
  type Populated,
  runCommand,
  runInTerminal,
} from '../support/cli.ts'
import { newSigner } from '../support/client.ts'
import { damage } from '../support/database.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'

const passphrase = 'correct horse battery'
const names = ['manager.nsec', 'session.secret', 'store.key', 'card.key']
let sound: Populated

beforeAll(async () => {
  sound = await createPopulated()
})
afterAll(cleanUp)

function readKeys(dataDir: string): string[] {
  return names.map((name) => readFileSync(join(dataDir, 'keys', name), 'utf8').trim())
}

function writePassphrase(text: string): string {
  const file = join(newDirectory(), 'passphrase')
  writeFileSync(file, text)
  return file
}

async function exportKeys(): Promise<string> {
  const file = join(newDirectory(), 'keys.json')
  const args = ['keys', 'export', file, '--passphrase-file', writePassphrase(`${passphrase}\n`)]
  const { code, stderr } = await runCommand(args, { dataDir: sound.dataDir })
  expect(stderr).toBe('')
  expect(code).toBe(0)
  return file
}

function importArguments(file: string, ...more: string[]): string[] {
  return ['keys', 'import', file, '--passphrase-file', writePassphrase(passphrase), ...more]
}

describe('cuponera keys show', () => {
  test.each(['stopped', 'running'])(
    'lists the keys and their places, without a secret (%s)',
    async (how) => {
      const dataDir = copyDirectory(sound.dataDir)
      const server = how === 'running' ? await startServer({ dataDir }) : null
      const { code, stdout, stderr } = await runCommand(['keys', 'show'], { dataDir })
      expect(code).toBe(0)
      expect(stdout).toMatch(
        /^manager key\n {2}npub1\w{58}\n {2}[0-9a-f]{64}\n {2}from \S+manager\.nsec\n/,
      )
      expect(stdout).toMatch(/store key\n {2}fingerprint [0-9a-f]{16}\n {2}from \S+store\.key\n/)
      expect(stdout).toMatch(/session secret\n {2}from \S+session\.secret\n/)
      expect(stdout).toMatch(
        /key of the cards\n {2}fingerprint [0-9a-f]{16}\n {2}from \S+card\.key\n$/,
      )
      for (const secret of readKeys(dataDir)) expect(stdout + stderr).not.toContain(secret)
      await server?.stop()
    },
  )

  test('names the setting that a key comes from', async () => {
    const secret = '11'.repeat(32)
    const env = { COUPON_MANAGER_NSEC: secret, SESSION_JWT_SECRET: 'x'.repeat(32) }
    const { stdout } = await runCommand(['keys', 'show'], { dataDir: newDirectory(), env })
    expect(stdout).toContain(`  ${newSigner(Uint8Array.fromHex(secret)).pubkey}\n`)
    expect(stdout).toContain('from the setting COUPON_MANAGER_NSEC')
    expect(stdout).toContain('store key\n  none yet: the first start makes it')
    expect(stdout).toContain('from the setting SESSION_JWT_SECRET')
    expect(stdout).not.toContain(secret)
  })
})

describe('cuponera keys export and import', () => {
  test('move all keys to another directory, where the database starts with them', async () => {
    const file = await exportKeys()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const content = readFileSync(file, 'utf8')
    for (const secret of readKeys(sound.dataDir)) expect(content).not.toContain(secret)

    const dataDir = copyDirectory(sound.dataDir)
    rmSync(join(dataDir, 'keys'), { recursive: true })
    const { code, stdout } = await runCommand(importArguments(file), { dataDir })
    expect(stdout).toMatch(/has the keys of npub1\w{58}\n$/)
    expect(code).toBe(0)
    expect(readKeys(dataDir)).toEqual(readKeys(sound.dataDir))
    for (const name of names) {
      expect(statSync(join(dataDir, 'keys', name)).mode & 0o777).toBe(0o600)
    }
    const server = await startServer({ dataDir })
    expect(await server.stop()).toBe(0)
  })

  test('a wrong passphrase is reported and changes nothing', async () => {
    const file = await exportKeys()
    const dataDir = newDirectory()
    const wrong = writePassphrase('correct horse batterz')
    const args = ['keys', 'import', file, '--passphrase-file', wrong]
    const { code, stderr } = await runCommand(args, { dataDir })
    expect(stderr).toBe('cuponera: wrong passphrase (or the file was changed)\n')
    expect(code).toBe(1)
    expect(existsSync(join(dataDir, 'keys'))).toBe(false)
  })

  test('export needs eight characters, does not ask without a terminal, and overwrites nothing', async () => {
    const { dataDir } = sound
    const file = join(newDirectory(), 'keys.json')
    const short = ['keys', 'export', file, '--passphrase-file', writePassphrase('siete 7')]
    expect((await runCommand(short, { dataDir })).stderr).toBe(
      'cuponera: the passphrase is too short: at least 8 characters\n',
    )
    const asking = await runCommand(['keys', 'export', file], { dataDir })
    expect(asking.stderr).toBe(
      'cuponera: there is no terminal to ask on: give --passphrase-file FILE\n',
    )
    expect(asking.code).toBe(2)
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, 'precious')
    const long = ['keys', 'export', file, '--passphrase-file', writePassphrase(passphrase)]
    expect((await runCommand(long, { dataDir })).stderr).toContain('--force replaces it')
    expect(readFileSync(file, 'utf8')).toBe('precious')
    expect((await runCommand([...long, '--force'], { dataDir })).code).toBe(0)
  })

  test('import replaces other keys with --force only, and then keeps a copy of them', async () => {
    const file = await exportKeys()
    const dataDir = newDirectory()
    await (await startServer({ dataDir })).stop()
    // A database that belongs to no key.
    await damage(dataDir, 'DELETE FROM facts')
    const mine = readKeys(dataDir)
    const refused = await runCommand(importArguments(file), { dataDir })
    expect(refused.stderr).toContain('other keys are here already')
    expect(refused.code).toBe(1)
    expect(readKeys(dataDir)).toEqual(mine)
    expect((await runCommand(importArguments(file, '--force'), { dataDir })).code).toBe(0)
    expect(readKeys(dataDir)).toEqual(readKeys(sound.dataDir))
    const kept = readdirSync(join(dataDir, 'keys')).filter((name) => name.includes('before-import'))
    const texts = kept.map((name) => readFileSync(join(dataDir, 'keys', name), 'utf8').trim())
    expect(new Set(texts)).toEqual(new Set(mine))
  })

  test('import refuses keys that do not belong to the database, also with --force', async () => {
    const file = await exportKeys()
    const dataDir = newDirectory()
    await (await startServer({ dataDir })).stop()
    const mine = readKeys(dataDir)
    const { code, stderr } = await runCommand(importArguments(file, '--force'), { dataDir })
    expect(stderr).toMatch(
      /^cuponera: the database belongs to the manager key npub1\w+, not to npub1\w+: nothing was replaced\n$/,
    )
    expect(code).toBe(1)
    expect(readKeys(dataDir)).toEqual(mine)
  })

  test('import refuses while a server runs, and refuses a file that is no export', async () => {
    const file = await exportKeys()
    const server = await startServer({ dataDir: copyDirectory(sound.dataDir) })
    expect((await runCommand(importArguments(file), server)).stderr).toContain('stop it first')
    await server.stop()
    writeFileSync(file, '{"format":"else"}')
    expect((await runCommand(importArguments(file), server)).stderr).toBe(
      'cuponera: this is not a file of "cuponera keys export"\n',
    )
    writeFileSync(file, sealKeyFile('["keys"]', 'npub1someone', passphrase))
    expect((await runCommand(importArguments(file), server)).stderr).toBe(
      'cuponera: the file does not hold keys\n',
    )
  })

  test('a passphrase typed on a terminal is asked for twice and not shown', async () => {
    const { dataDir } = sound
    const file = join(newDirectory(), 'keys.json')
    const typed = await runInTerminal(['keys', 'export', file], { dataDir }, [
      ['Passphrase: ', `${passphrase}x\u007f\r`],
      ['Once more: ', `${passphrase}\r`],
    ])
    expect(typed.code).toBe(0)
    expect(typed.screen).not.toContain('horse')
    expect((await runCommand(importArguments(file), { dataDir: newDirectory() })).code).toBe(0)

    const differ = await runInTerminal(['keys', 'export', file, '--force'], { dataDir }, [
      ['Passphrase: ', `${passphrase}\r`],
      ['Once more: ', 'something else\r'],
    ])
    expect(differ.screen).toContain('the two passphrases differ')
    expect(differ.code).toBe(1)
    const interrupted = await runInTerminal(['keys', 'export', file, '--force'], { dataDir }, [
      ['Passphrase: ', 'corr\u0003'],
    ])
    expect(interrupted.screen).toContain('interrupted')
    expect(interrupted.code).toBe(1)
  })

  test('--ncryptsec prints the manager key in the format of other Nostr programs', async () => {
    const { dataDir } = sound
    const args = ['keys', 'export', '--ncryptsec', '--passphrase-file', writePassphrase(passphrase)]
    const { code, stdout } = await runCommand(args, { dataDir })
    expect(code).toBe(0)
    expect(nsecOf(decrypt(stdout.trim(), passphrase))).toBe(readKeys(dataDir)[0] as string)
  })
})
