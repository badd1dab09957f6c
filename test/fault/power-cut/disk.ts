import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../../fuzz/random.ts'
import type { Change, NodeId, Recording, Timed } from './trace.ts'

/** The unit that a disk writes whole or not at all. */
const sectorBytes = 512

/** Calls of sync that the disk ignores, for controls: a check that then finds nothing would prove nothing. */
export type Lie = 'none' | 'all syncs' | 'syncs of files' | 'syncs of directories'

/** A change that a sync has not yet brought to the disk. */
type Pending<T> = T & { done: number }
type FileChange = Pending<{ offset: number; data: Uint8Array } | { size: number }>
/** A name is set. `needs`: a file that is moved is lost nowhere before its new name is there. */
type NameChange = Pending<{ names: [string, NodeId | null][]; needs: NameChange | null }>

/** `read`: the content that programs see, once a failed sync has lost a part of it. */
type FileNode = { durable: Content; pending: FileChange[]; read: Content | null }
type DirectoryNode = { durable: Map<string, NodeId>; pending: NameChange[] }

/** The fraction of the pending changes that a power cut leaves on the disk. */
type Fate = 'none' | 'all' | 'first' | 'some' | 'sectors'
const fates: readonly Fate[] = ['none', 'none', 'all', 'first', 'some', 'sectors']

/** The worst for a name that came before its content: all names are there, and of content only what was synced. */
export type Harshness = 'any' | 'names without content' | 'only what was synced'

/**
 * A disk under the changes of a recording. It assumes no more than POSIX gives: a sync of a file keeps its content, a
 * sync of a directory its names, and all else may be there or not, in any order and torn at sectors. Beyond POSIX it assumes
 * that a rename is atomic. A sync of a file that fails may lose what it was about, though programs read it on: the
 * kernel calls such pages clean, and no later sync stores them.
 */
export class Disk {
  readonly #recording: Recording
  readonly #files = new Map<NodeId, FileNode>()
  readonly #directories = new Map<NodeId, DirectoryNode>()
  readonly #random: Random
  #lie: Lie = 'none'

  /** `random` decides on the part of a failed sync that came to the disk. */
  constructor(recording: Recording, random = new Random(1)) {
    this.#recording = recording
    this.#random = random
  }

  /** Ignore syncs from here on. */
  lie(lie: Lie): void {
    this.#lie = lie
  }

  apply(event: Timed & Change): void {
    const { at, done } = event
    switch (event.kind) {
      case 'write':
        this.#change(event.file, { done, offset: event.offset, data: event.data })
        return
      case 'copy': {
        const source = this.#newest(event.from)
        const data = source.slice(event.begin, event.begin + event.length)
        this.#change(event.file, { done, offset: event.offset, data })
        return
      }
      case 'truncate':
        this.#change(event.file, { done, size: event.size })
        return
      case 'entry': {
        const names: NameChange['names'] = [[event.name, event.node]]
        this.#directory(event.directory).pending.push({ done, names, needs: null })
        return
      }
      case 'rename':
        this.#rename(event)
        return
      case 'sync':
        this.#sync(event.node, at)
        return
      case 'loss':
        // The names of a directory wait for its next sync: its file system has them in its journal.
        if (!this.#recording.directories.has(event.node)) this.#lose(this.#file(event.node), at)
        return
    }
  }

  #change(node: NodeId, change: FileChange): void {
    const file = this.#file(node)
    file.pending.push(change)
    file.read?.apply(change)
  }

  /** A sync failed. Some of the changes that it was about are on the disk, and the others never come there. */
  #lose(file: FileNode, began: number): void {
    const lost = file.pending.filter(({ done }) => done < began)
    if (lost.length === 0) return
    file.read ??= readOf(file)
    const share = this.#random.pick([0, 0, 0.5, 0.9])
    for (const change of lost) file.durable.applyTorn(change, this.#random, share)
    remove(file.pending, lost)
  }

  #rename({ from, to, node, done }: Timed & Extract<Change, { kind: 'rename' }>): void {
    const set: [string, NodeId] = [to.name, node]
    const clear: [string, null] = [from.name, null]
    const target = this.#directory(to.directory)
    if (from.directory === to.directory) {
      target.pending.push({ done, names: [clear, set], needs: null })
      return
    }
    const arrival: NameChange = { done, names: [set], needs: null }
    target.pending.push(arrival)
    this.#directory(from.directory).pending.push({ done, names: [clear], needs: arrival })
  }

  /** A sync covers changes that were complete before it began. */
  #sync(node: NodeId, began: number): void {
    const directory = this.#recording.directories.has(node)
    const lies = directory ? 'syncs of directories' : 'syncs of files'
    if (this.#lie === 'all syncs' || this.#lie === lies) return
    if (directory) {
      const { durable, pending } = this.#directory(node)
      const settled = pending.filter(({ done }) => done < began)
      for (const change of settled) {
        settle(durable, change)
        if (change.needs) this.#settleElsewhere(change.needs)
      }
      remove(pending, settled)
      return
    }
    const file = this.#file(node)
    const settled = file.pending.filter(({ done }) => done < began)
    for (const change of settled) file.durable.apply(change)
    remove(file.pending, settled)
  }

  #settleElsewhere(change: NameChange): void {
    for (const { durable, pending } of this.#directories.values()) {
      if (!pending.includes(change)) continue
      settle(durable, change)
      remove(pending, [change])
    }
  }

  #file(node: NodeId): FileNode {
    return getOr(this.#files, node, () => ({ durable: new Content(), pending: [], read: null }))
  }

  #directory(node: NodeId): DirectoryNode {
    return getOr(this.#directories, node, () => ({ durable: new Map(), pending: [] }))
  }

  #newest(node: NodeId): Uint8Array {
    return readOf(this.#file(node)).bytes()
  }

  /** Write one of the states that a power cut may leave now. Without `random`, the one in which all was written. */
  write(target: string, random: Random | null, harshness: Harshness = 'any'): void {
    const common = random === null ? 'all' : random.chance(0.7) ? random.pick(fates) : null
    const harsh = harshness === 'any' ? null : 'none'
    const fate = () => harsh ?? common ?? random?.pick(fates) ?? 'all'
    const fateOfNames = () => (harshness === 'names without content' ? 'all' : fate())
    const kept = new Set<NameChange>()
    for (const { pending } of this.#directories.values()) {
      for (const change of keep(pending, fateOfNames(), random)) kept.add(change)
    }
    const written = new Map<NodeId, string>()
    const writeDirectory = (node: NodeId, path: string) => {
      mkdirSync(path, { mode: 0o700 })
      const { durable, pending } = this.#directory(node)
      const names = new Map(durable)
      for (const change of pending) {
        if (kept.has(change) && (!change.needs || kept.has(change.needs))) settle(names, change)
      }
      for (const [name, child] of names) {
        const place = join(path, name)
        const before = written.get(child)
        if (this.#recording.directories.has(child)) writeDirectory(child, place)
        else if (before !== undefined) linkSync(before, place)
        else {
          writeFileSync(place, this.#content(child, fate(), random), { mode: 0o600 })
          written.set(child, place)
        }
      }
    }
    writeDirectory(0, target)
  }

  #content(node: NodeId, fate: Fate, random: Random | null): Uint8Array {
    // Memory of the processes came to the file at any time, or never.
    if (random && this.#recording.shared.has(node)) return Buffer.alloc(32_768, random.below(256))
    if (random === null) return this.#newest(node)
    const { durable, pending } = this.#file(node)
    const content = durable.copy(random.chance(0.2) ? random.below(256) : 0)
    if (fate !== 'sectors') {
      const kept = keep(pending, fate, random)
      for (const change of kept) content.apply(change)
      const next = pending[kept.length]
      // The first change that did not come through may be torn.
      if (fate === 'first' && next) content.applyTorn(next, random, 0.5)
      return content.bytes()
    }
    const share = random.next()
    for (const change of pending) content.applyTorn(change, random, share)
    return content.bytes()
  }
}

/** The content that programs see. */
function readOf({ durable, pending, read }: FileNode): Content {
  if (read) return read
  const content = durable.copy()
  for (const change of pending) content.apply(change)
  return content
}

function keep<T>(pending: readonly T[], fate: Fate, random: Random | null): T[] {
  if (random === null || fate === 'all') return [...pending]
  if (fate === 'none') return []
  if (fate === 'first') return pending.slice(0, random.below(pending.length + 1))
  const share = random.next()
  return pending.filter(() => random.chance(share))
}

function settle(names: Map<string, NodeId>, change: NameChange): void {
  for (const [name, node] of change.names) {
    if (node === null) names.delete(name)
    else names.set(name, node)
  }
}

function remove<T>(list: T[], gone: readonly T[]): void {
  const there = new Set(gone)
  const rest = list.filter((one) => !there.has(one))
  list.length = 0
  for (const one of rest) list.push(one)
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const there = map.get(key)
  if (there !== undefined) return there
  const made = make()
  map.set(key, made)
  return made
}

/** The bytes of a file. */
class Content {
  #bytes = Buffer.alloc(0)
  #size = 0
  /** A file that grew shows this where nothing was written: zeros, or the rest of another file. */
  readonly #gap: number

  constructor(gap = 0) {
    this.#gap = gap
  }

  copy(gap = 0): Content {
    const content = new Content(gap)
    content.#bytes = Buffer.from(this.bytes())
    content.#size = this.#size
    return content
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  apply(change: FileChange): void {
    if ('size' in change) this.#resize(change.size)
    else this.#put(change.offset, change.data)
  }

  /** Apply each sector of a change with that probability. */
  applyTorn(change: FileChange, random: Random, share: number): void {
    if ('size' in change) {
      if (random.chance(share)) this.#resize(change.size)
      return
    }
    const { offset, data } = change
    const end = offset + data.length
    for (let at = offset; at < end; ) {
      const next = Math.min(end, (Math.floor(at / sectorBytes) + 1) * sectorBytes)
      if (random.chance(share)) this.#put(at, data.subarray(at - offset, next - offset))
      at = next
    }
    // The size of a file is written apart from its content.
    if (end > this.#size && random.chance(share)) this.#resize(end)
  }

  #put(offset: number, data: Uint8Array): void {
    if (offset + data.length > this.#size) this.#resize(offset + data.length)
    this.#bytes.set(data, offset)
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(size, this.#bytes.length * 2))
      larger.set(this.bytes())
      this.#bytes = larger
    }
    if (size > this.#size) this.#bytes.fill(this.#gap, this.#size, size)
    this.#size = size
  }
}
