/** The state of issuing: the session of the till's key, its coupons, and the voucher on the screen. */
import { signal } from '@preact/signals'
import { parseRecord } from '../../client/json.ts'
import { listAuthorizations, listMintable, type Mintable, mintOne } from '../../client/mint.ts'
import type { Authorization } from '../../client/models.ts'
import type { Identity } from '../../client/session.ts'
import { openExtension } from '../../client/signer-extension.ts'
import { rulesIn, type ShownRules } from '../../client/voucher-rules.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import { device, tab } from '../browser/storage.ts'
import { openKeyBox } from '../state/key-box.ts'
import { reachable } from '../state/reach.ts'
import { openPageSession } from '../state/session.ts'
import { adoptShop, shops } from '../state/shops.ts'

/** An issued voucher that is not handed over yet. The screen has the only copy of its nonce. */
export type Issued = {
  nonce: string
  name: string
  description: string
  coupon: Benefit
  npub: string
  expiresAt: number | null
  rules?: ShownRules
}

const issuedPlace = 'till:issued'
const tillNamePlace = 'till:name'

export const keyBox = openKeyBox('till')
/** Whether this device has a key of its own. */
export const hasKey = signal(keyBox.find() !== null)
export const session = openPageSession('till:session', restore)
/** The coupons that this key may issue; null before they are loaded. */
export const mintable = signal<readonly Mintable[] | null>(null)
/** The merchants that list this key; null before they are loaded. */
export const authorizations = signal<readonly Authorization[] | null>(null)
/** The name that the shop gave this till, as of the last answer; null without one. */
export const tillName = signal<string | null>(device.read(tillNamePlace))
/** The reason why the last request failed; null when it did not. */
export const trouble = signal<unknown>(null)
/** The id of the coupon that is being issued. */
export const minting = signal<string | null>(null)
export const issued = signal<Issued | null>(parseIssued())

/** Only an extension comes back without the person. A till has no remote signer: its policy allows no relay. */
async function restore({ kind }: Identity) {
  return kind === 'extension' ? openExtension() : null
}

export async function loadMintable(): Promise<void> {
  try {
    const [coupons, listed] = await Promise.all([
      listMintable(session),
      listAuthorizations(session),
    ])
    reachable.value = true
    mintable.value = coupons
    authorizations.value = listed
    trouble.value = null
    // Any merchant may add this key as a minter, so only a till without a shop trusts the list.
    const [npub, ...others] = new Set([...coupons, ...listed].map((one) => one.npub))
    if (npub && others.length === 0) adoptShop(npub)
    nameTill(listed)
  } catch (cause) {
    trouble.value = cause
  }
}

/** Take the name that this till's shop gave it. A stranger may list any key, so other merchants name nothing. */
function nameTill(listed: readonly Authorization[]): void {
  const ours = listed.find(({ npub, label }) => label !== null && shops.peek().includes(npub))
  tillName.value = ours?.label ?? null
  if (tillName.value === null) device.remove(tillNamePlace)
  else device.write(tillNamePlace, tillName.value)
}

/** Another key of this till has another name. */
export function forgetName(): void {
  nameTill([])
}

/** True if a shop of this till lets it redeem, and not issue. */
export function redeemsOnly(): boolean {
  const ours = authorizations.value?.filter(({ npub }) => shops.value.includes(npub)) ?? []
  return ours.length > 0 && ours.every(({ mint }) => !mint)
}

/** Issue one voucher. After a lost answer, the next tap on the same coupon fetches it and issues no other. */
export async function mint({ id }: Mintable): Promise<void> {
  if (minting.peek() !== null) return
  minting.value = id
  trouble.value = null
  try {
    // The store of the tab: two tabs that each issue one want two vouchers.
    const voucher = await mintOne(session, id)
    const { nonce, name, description, coupon, npub, expiresAt } = voucher
    const known = { nonce, name, description, coupon, npub, expiresAt }
    issued.value = { ...known, ...rulesIn(voucher) }
    // A reload must not lose the only copy.
    tab.write(issuedPlace, JSON.stringify(issued.value))
  } catch (cause) {
    trouble.value = cause
  } finally {
    minting.value = null
  }
}

/** The customer has the voucher: forget its nonce. */
export function handedOver(): void {
  tab.remove(issuedPlace)
  issued.value = null
  void loadMintable()
}

export function signOut(): void {
  session.signOut()
  mintable.value = null
  authorizations.value = null
  trouble.value = null
}

function parseIssued(): Issued | null {
  return parseRecord(tab.read(issuedPlace), 'nonce', 'name', 'npub') as Issued | null
}
