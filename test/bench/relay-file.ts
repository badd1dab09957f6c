import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { relaySchema } from '../../src/db/migrations.ts'
import { secondsNow } from '../support/clock.ts'

/** Authors of a made file, and the kinds they wrote. */
export const fileAuthors = 1000
export const fileKinds = [1, 7, 1112, 9735]

/** The key of an author of a made file. */
export function fileAuthor(at: number): string {
  return Bun.SHA256.hash(`author ${at}`, 'hex')
}

/**
 * A relay's file with so many events, written past the relay and kept from run to run. Ids and
 * signatures are of the right length and nothing else: what is stored is not verified again.
 */
export function makeRelayFile(kept: string, events: number, say: (line: string) => void): string {
  const path = join(kept, `relay-${events}.db`)
  if (existsSync(path)) return path
  say(`making a file of ${events} events …`)
  mkdirSync(kept, { recursive: true })
  const partial = `${path}.part`
  for (const end of ['', '-wal', '-shm']) rmSync(`${partial}${end}`, { force: true })
  const database = new Database(partial, { create: true, strict: true })
  database.run('PRAGMA journal_mode = OFF')
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -400000')
  database.run(relaySchema.text)
  const event = database.query(
    'INSERT INTO events (id, event_id, pubkey, kind, created_at, event) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const tag = database.query('INSERT INTO tags (letter, value, created_at, id) VALUES (?, ?, ?, ?)')
  const authors = Array.from({ length: fileAuthors }, (_, at) => fileAuthor(at))
  const now = secondsNow()
  const sig = 'f'.repeat(128)
  database.run('BEGIN')
  for (let at = 0; at < events; at++) {
    const id = Bun.SHA256.hash(`event ${at}`, 'hex')
    const pubkey = authors[(at * 7919) % fileAuthors] ?? ''
    const kind = fileKinds[Math.floor(at / fileAuthors) % fileKinds.length] ?? 1
    const created_at = now - events + at
    const tags = [['p', authors[(at * 31) % fileAuthors] ?? '']]
    const content = `an event of a made file, number ${at}, about as long as a short note usually is`
    const text = JSON.stringify({ id, pubkey, created_at, kind, tags, content, sig })
    event.run(at + 1, Buffer.from(id, 'hex'), Buffer.from(pubkey, 'hex'), kind, created_at, text)
    tag.run('p', tags[0]?.[1] ?? '', created_at, at + 1)
  }
  database.run('COMMIT')
  database.close()
  renameSync(partial, path)
  return path
}

/** A copy of a made file for one run. */
export function copyRelayFile(path: string, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true })
  copyFileSync(path, join(dataDir, 'relay.db'))
}
