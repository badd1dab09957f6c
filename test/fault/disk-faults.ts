/**
 * `npm run disk-faults -- [--every N] [--part I/N] [--only NAMES]` (of the workloads below): the disk fails (EIO,
 * ENOSPC) at the n-th write or sync of a recorded workload, for every n, once or from there on. `--every N`: for each N-th
 * n, with one kind of fault after the other. `--part 2/10`: the second tenth of the calls, for runs that share the work.
 */
import { parseArgs } from 'node:util'
import { cleanUp } from '../support/server.ts'
import { whyNoDevice } from './disk-device.ts'
import { failCommands, failLogs } from './disk-faults-commands.ts'
import { failFold } from './disk-faults-fold.ts'
import { failStarts, failStops } from './disk-faults-process.ts'
import { type DiskReport, type Numbers, showReport } from './disk-faults-report.ts'
import { failCheckpoints, failService } from './disk-faults-service.ts'

/** On a disk whose syncs take so much longer, those of commits run in another thread. */
const slowSyncMs = 2

/** The workloads by name. Each takes the numbers of the calls that fail. */
export const workloads: Record<string, (numbers: Numbers) => Promise<DiskReport>> = {
  service: (numbers) => failService(numbers),
  'slow-service': (numbers) => failService(numbers, slowSyncMs),
  checkpoint: (numbers) => failCheckpoints(numbers),
  'slow-checkpoint': (numbers) => failCheckpoints(numbers, slowSyncMs),
  fold: failFold,
  start: failStarts,
  stop: failStops,
  command: failCommands,
  log: failLogs,
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      every: { type: 'string', default: '1' },
      part: { type: 'string', default: '1/1' },
      only: { type: 'string', default: Object.keys(workloads).join(',') },
    },
  })
  const reason = whyNoDevice()
  if (reason !== null) {
    console.log(reason)
    process.exit(2)
  }
  const [part = 1, parts = 1] = values.part.split('/').map(Number)
  const numbers = { every: Number(values.every), part: part - 1, parts }
  let problems = 0
  for (const name of values.only.split(',')) {
    const report = await workloads[name]?.(numbers)
    if (!report) throw new Error(`no workload is called ${name}`)
    console.log(`${name}: ${showReport(report)}`)
    for (const problem of report.problems) console.log(`PROBLEM ${problem}`)
    problems += report.problems.length
  }
  await cleanUp()
  console.log(`${problems} problems`)
  process.exit(problems === 0 ? 0 : 1)
}
