// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
import { type PlantedFault, planted, powerCut } from './fault.ts'

const sqlite = 'src/db/sqlite.ts'
const writer = 'src/db/writer.ts'
const reader = 'src/db/reader.ts'
const batchSuite = 'test/unit/batch.test.ts'
const engineSuite = 'test/unit/sqlite-engine.test.ts'
const durable = 'src/base/durable.ts'
const slowDisk = 'src/db/slow-disk.ts'
const slowSuite = 'test/unit/slow-disk.test.ts'
const slowPowerCut = 'test/fault/power-cut.test.ts -t power cut of a slow disk'

/** Faults of the embedded engine, its commits, and the work behind it. */
export const engineFaults: PlantedFault[] = [
  planted(
    'a commit waits for no disk (synchronous = NORMAL)',
    [powerCut, 'test/fault/trace-sync.test.ts'],
    sqlite,
    "'synchronous = FULL'",
    "'synchronous = NORMAL'",
  ),
  planted(
    'a database has no journal that is synced (synchronous = OFF)',
    [powerCut, 'test/fault/trace-sync.test.ts'],
    sqlite,
    "'synchronous = FULL'",
    "'synchronous = OFF'",
  ),
  planted(
    'a key file gets its name before its content is on disk',
    powerCut,
    durable,
    '    writeFileSync(file, text)\n    fsyncSync(file)\n',
    '    writeFileSync(file, text)\n',
  ),
  planted(
    'the name of a key file is not synced',
    powerCut,
    durable,
    '    throw cause\n  }\n  syncDirectory(dirname(path))\n',
    '    throw cause\n  }\n',
  ),
  planted(
    'a new data directory is not synced',
    powerCut,
    durable,
    '    syncDirectory(dirname(made))\n',
    '',
  ),
  planted(
    'a backup gets its name before its content is on disk',
    powerCut,
    'src/db/backup.ts',
    '    syncFile(partial)\n',
    '',
  ),
  planted(
    'a restored database gets its name before its content is on disk',
    powerCut,
    'src/db/restore.ts',
    '  syncFile(candidate.path)\n',
    '',
  ),
  planted(
    // So many turns that the answer is on its way before the commit.
    'an answer leaves before its commit',
    [powerCut, 'test/fault/trace-sync.test.ts', engineSuite],
    sqlite,
    '    writer.commit.run()\n',
    '    for (const job of batch) settle(job)\n    for (let turn = 0; turn < 500; turn++) await null\n    writer.commit.run()\n',
  ),
  planted(
    'on a slow disk an answer leaves before its sync',
    [slowSuite, slowPowerCut],
    slowDisk,
    "await this.#wal.sync(this.#way === 'here')",
    "void this.#wal.sync(this.#way === 'here').catch(() => null)",
  ),
  planted(
    'on a slow disk reads see a commit before its sync',
    slowSuite,
    slowDisk,
    '    this.#reader.pin()\n',
    '',
  ),
  planted(
    'a pinned reader keeps no state, because it has not read',
    slowSuite,
    reader,
    '    this.#look.get()\n',
    '',
  ),
  planted(
    'after a failed sync nothing holds checkpoints back',
    slowSuite,
    slowDisk,
    "this.#wal.sync(this.#way === 'here')\n",
    "this.#wal.sync(this.#way === 'here').finally(() => this.#unpin())\n",
  ),
  planted(
    'a failed sync in another thread counts as done',
    [slowSuite, 'test/fault/disk-faults.test.ts -t slow-service'],
    sqlite,
    '      this.#unsettled = batch\n      return this.#fail(batch, cause)\n',
    '',
  ),
  planted(
    'a log whose sync failed is synced once more as it is',
    slowSuite,
    slowDisk,
    '      this.#wal.rewrite(frames)\n',
    '',
  ),
  planted(
    'a log with other bytes than were written is taken for whole',
    slowSuite,
    'src/db/wal.ts',
    '    if (offset === this.#frameBytes - 8 &&',
    '    if (offset < 0 &&',
  ),
  planted(
    'a service whose log lost pages refuses for ever',
    slowSuite,
    sqlite,
    '      if (cause instanceof BrokenLog) this.#end(cause)\n',
    '',
  ),
  planted(
    'a log that cannot be stored is folded by an orderly stop',
    slowSuite,
    sqlite,
    "      return this.#end(diskFailure(cause) ?? { code: 'none', message: String(cause) })\n",
    '',
  ),
  planted(
    'a busy machine is taken for a slow disk',
    slowSuite,
    'src/db/sync-times.ts',
    'steadyMs() - processorWaitMs()',
    'steadyMs()',
  ),
  planted(
    'a COMMIT that has much to write is taken for a slow disk',
    slowSuite,
    'src/db/sync-times.ts',
    'limits.asideCommits / 2',
    'limits.asideCommits',
  ),
  planted(
    'the writes of a refused operation stay',
    engineSuite,
    writer,
    '        if (batch.writes !== before) return false\n',
    '',
  ),
  planted(
    'a savepoint of a refused operation is not undone',
    engineSuite,
    writer,
    '    undo.run()\n',
    '',
  ),
  planted(
    'counts of a refused operation stay',
    batchSuite,
    writer,
    '    release.run()\n    batch.clear()\n',
    '    release.run()\n',
  ),
  planted(
    'a statement does not see the counts of its commit',
    batchSuite,
    'src/db/connection.ts',
    'if (this.#reads.length > 0) this.#batch.write(this.#reads)',
    '',
  ),
  planted(
    'a definition that was edited is minted as it was before in that commit',
    batchSuite,
    'src/db/batch.ts',
    'if (tables.some((table) => this.#keptTables.has(table))) this.#kept.clear()',
    '',
  ),
  planted(
    'the effects of a refused operation take place',
    engineSuite,
    writer,
    '        job.effects.length = kept\n',
    '',
  ),
  {
    name: 'a refusal undoes the replay guard, too',
    edits: [
      {
        file: writer,
        find: '  if (!(await runFirst(writer, job))) return batch.write()\n  batch.write()\n  const kept = job.effects.length\n  set.run()\n',
        replace:
          '  set.run()\n  if (!(await runFirst(writer, job))) return void release.run()\n  batch.write()\n  const kept = job.effects.length\n',
      },
    ],
    suites: [engineSuite],
  },
  planted(
    // SQLite itself undoes a commit that a real disk refused, so that the disk faults cannot see it.
    'after a failed commit the same connection goes on',
    engineSuite,
    sqlite,
    '      clearImmediate(timer)\n      this.#discard()\n',
    '      clearImmediate(timer)\n',
  ),
  planted(
    'a failed commit is answered as done',
    ['test/fault/disk-faults.test.ts -t service'],
    sqlite,
    '      this.#discard()\n      this.#fail(batch, cause)\n      return\n    }\n    clearImmediate(timer)\n',
    '      this.#discard()\n    }\n    clearImmediate(timer)\n',
  ),
  planted(
    'a log that an ended process left is read as it stands',
    ['test/fault/power-cut.test.ts -t failed sync', 'test/fault/disk-faults.test.ts -t log'],
    'src/db/lock.ts',
    '    if (lock) for (const path of needed) storeLog(path)\n',
    '',
  ),
  planted(
    'a restore opens a service that may have been moved away',
    'test/cli/restore.test.ts',
    'src/db/inspect.ts',
    '/^SQLITE_(CORRUPT|NOTADB|ERROR)/',
    '/^SQLITE_/',
  ),
  planted(
    'a log that was folded in part is folded on after a failed sync',
    'test/fault/disk-faults.test.ts -t fold',
    'src/db/fold.ts',
    '      if (sync && partly) this.#end(cause)\n',
    '',
  ),
  planted(
    'a file is marked clean though its check failed',
    engineSuite,
    sqlite,
    'this.#sound ? 1 : 0,',
    '1,',
  ),
  planted(
    'a running service leaves its file marked clean',
    engineSuite,
    sqlite,
    "    connection.run('UPDATE state SET clean = 0 WHERE id = 1')\n",
    '',
  ),
  planted(
    'a clock that is behind is not noticed',
    engineSuite,
    sqlite,
    "    if (this.clockBehind) throw new Refusal('clock-behind', { retryAfter: 30 })\n",
    '',
  ),
  planted(
    'an operation that awaits the network is committed in parts',
    engineSuite,
    sqlite,
    "      watch.stalled = true\n      this.#discard()\n      this.#fail(batch, new StalledOperation('an operation awaited more than its transaction'))\n",
    '',
  ),
  planted(
    'a read sees two states',
    engineSuite,
    reader,
    "this.#begin = connection.query('BEGIN')",
    "this.#begin = connection.query('SELECT 1')",
  ),
  planted(
    'a background worker runs without its lease',
    'test/unit/jobs.test.ts',
    'src/db/jobs.ts',
    'if (options.lease !== undefined && !(await holdsLease(options.lease))) {',
    'if (options.lease !== undefined && !(await holdsLease(options.lease)) && stopped) {',
  ),
  planted(
    'a lost lease is not noticed',
    'test/unit/jobs.test.ts',
    'src/db/jobs.ts',
    'if (!lease?.held()) lease =',
    'if (!lease) lease =',
  ),
  planted(
    'an arrival replaces a service that was used since',
    'test/unit/arrival.test.ts',
    'src/db/arrival.ts',
    '!existsSync(aside) && !untouched(dataDir)',
    '!existsSync(aside) && !existsSync(dataDir)',
  ),
  planted(
    'a crash in the middle of an arrival loses its mark',
    'test/unit/arrival.test.ts',
    'src/db/arrival.ts',
    '  mkdirSync(aside, { recursive: true, mode: 0o700 })\n',
    '  mkdirSync(aside, { recursive: true, mode: 0o700 })\n  rmSync(markOf(dataDir))\n',
  ),
  planted(
    'a moved service gives its file away after it was opened again',
    'test/unit/moved-out.test.ts',
    'src/app/moved-out.ts',
    "    if (goingBack) throw new Refusal('move-not-begun')\n",
    '',
  ),
  planted(
    'a restore opens sessions from before it again',
    ['test/cli/backup.test.ts -t session', 'test/postgres/going-back.test.ts'],
    'src/db/going-back.ts',
    '.changes(everybody, now)',
    '.changes(everybody, 0)',
  ),
  planted(
    'a restored card takes taps from before the backup',
    ['test/cli/backup.test.ts -t cards', 'test/postgres/going-back.test.ts'],
    'src/db/going-back.ts',
    "    'UPDATE cards SET counter_known = 0 WHERE deleted_at IS NULL',\n",
    '',
  ),
]
