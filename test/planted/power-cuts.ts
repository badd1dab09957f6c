// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
import { type PlantedFault, planted, powerCut } from './fault.ts'

const mint = 'src/coupons/mint.ts'

/** One fault for each rule of the judge of power cuts, and of the disk faults, that no other fault is found by. */
export const judgedFaults: PlantedFault[] = [
  {
    name: 'a voucher that was claimed is refreshed',
    edits: [
      {
        file: 'src/coupons/refresh.ts',
        find: "  if (!spendable(old, now)) throw refusalFor(old, now, 'refresh')\n",
        replace: '',
      },
      {
        file: 'src/coupons/voucher-store.ts',
        find: 'WHERE id = ?2 AND ${openRow}\n       AND coalesce(',
        replace: 'WHERE id = ?2\n       AND coalesce(',
      },
    ],
    suites: [powerCut],
  },
  {
    name: 'a mint issues one voucher more than it answers, and counts it',
    edits: [
      {
        file: mint,
        find: 'tx.definitions.take(definition, count, now)',
        replace: 'tx.definitions.take(definition, count + 1, now)',
      },
      { file: mint, find: 'made < count; made++', replace: 'made <= count; made++' },
      {
        file: mint,
        find: '  return issued\n',
        replace: '  return issued.slice(0, count)\n',
      },
    ],
    suites: [powerCut],
  },
  planted(
    'a service that arrives gets its names before its content is on disk',
    'test/fault/power-cut.test.ts -t in its move',
    'src/db/arrival.ts',
    '    syncFile(path)\n',
    '',
  ),
  planted(
    'a commit is refused because the fold before it failed',
    'test/fault/disk-faults.test.ts -t checkpoint',
    'src/db/fold.ts',
    '      this.#fail(writer, cause)\n      return null\n',
    '      throw cause\n',
  ),
]
