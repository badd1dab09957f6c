/** Issuing at the till: who signs, what may be issued, and the coupon that waits for its customer. */
import { signal } from '@preact/signals'
import { parseRecord } from '../../client/json.ts'
import { listMintable, type Mintable, mintOne } from '../../client/mint.ts'
import type { Identity } from '../../client/session.ts'
import { openExtension } from '../../client/signer-extension.ts'
import type { Benefit } from '../../coupons/benefit.ts'
import { tab } from '../browser/storage.ts'
import { openKeyBox } from '../state/key-box.ts'
import { reachable } from '../state/reach.ts'
import { openPageSession } from '../state/session.ts'
import { adoptShop } from '../state/shops.ts'

/** One that was issued and not handed over yet: the screen holds the only copy of its code. */
export type Issued = {
  nonce: string
  name: string
  description: string
  coupon: Benefit
  npub: string
  expiresAt: number | null
}

const issuedPlace = 'till:issued'

export const keyBox = openKeyBox('till')
/** Whether this device has a key of its own. */
export const hasKey = signal(keyBox.find() !== null)
export const session = openPageSession('till:session', restore)
export const mintable = signal<readonly Mintable[] | null>(null)
/** Why the list could not be had. */
export const trouble = signal<unknown>(null)
export const minting = signal<string | null>(null)
export const issued = signal<Issued | null>(parseIssued())

/** Only an extension comes back without the person: a till has no remote signer, since it talks to its service alone. */
async function restore({ kind }: Identity) {
  return kind === 'extension' ? openExtension() : null
}

export async function loadMintable(): Promise<void> {
  try {
    const coupons = await listMintable(session)
    reachable.value = true
    mintable.value = coupons
    trouble.value = null
    // Anybody may name this key as a minter: only the first to do so is taken at its word.
    const [npub, ...others] = new Set(coupons.map((one) => one.npub))
    if (npub && others.length === 0) adoptShop(npub)
  } catch (cause) {
    trouble.value = cause
  }
}

/** Issue one; a lost answer is fetched by the next tap on the same coupon, and costs no other. */
export async function mint({ id }: Mintable): Promise<void> {
  if (minting.peek() !== null) return
  minting.value = id
  trouble.value = null
  try {
    // The key is kept by tab: two tabs that each issue one want two.
    const voucher = await mintOne(session, id, tab)
    const { nonce, name, description, coupon, npub, expiresAt } = voucher
    issued.value = { nonce, name, description, coupon, npub, expiresAt }
    tab.write(issuedPlace, JSON.stringify(issued.value))
  } catch (cause) {
    trouble.value = cause
  } finally {
    minting.value = null
  }
}

/** It is with its customer: forget its code. */
export function handedOver(): void {
  tab.remove(issuedPlace)
  issued.value = null
  void loadMintable()
}

export function signOut(): void {
  session.signOut()
  mintable.value = null
  trouble.value = null
}

function parseIssued(): Issued | null {
  return parseRecord(tab.read(issuedPlace), 'nonce', 'name', 'npub') as Issued | null
}
