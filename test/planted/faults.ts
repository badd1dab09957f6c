import { campaignFaults, compared, differential, simulated, simulation } from './campaigns.ts'
import { couponFaults } from './coupons.ts'
import { engineFaults } from './engine.ts'
import type { PlantedFault } from './fault.ts'
import { keyFaults } from './keys.ts'
import { postgresFaults } from './postgres.ts'
import { judgedFaults } from './power-cuts.ts'
import { walletFaults } from './wallet.ts'

const ofFeatures = [
  ...couponFaults,
  ...engineFaults,
  ...keyFaults,
  ...walletFaults,
  ...postgresFaults,
  ...judgedFaults,
].map((fault) => {
  const campaigns = [
    ...(simulated.includes(fault.name) ? [simulation] : []),
    ...(compared.includes(fault.name) ? [differential] : []),
  ]
  return { ...fault, suites: [...fault.suites, ...campaigns] }
})

export const faults: PlantedFault[] = [...ofFeatures, ...campaignFaults]

/** The files of a fault with its replacements, by path. Throws if a text is not there once. */
export function plant(fault: PlantedFault, read: (file: string) => string): Map<string, string> {
  const changed = new Map<string, string>()
  for (const { file, find, replace } of fault.edits) {
    const text = changed.get(file) ?? read(file)
    const parts = text.split(find)
    if (parts.length !== 2) {
      throw new Error(
        `test/planted, ${fault.name}: its text is ${parts.length - 1} times in ${file}: change the fault with the source`,
      )
    }
    changed.set(file, parts.join(replace))
  }
  return changed
}
