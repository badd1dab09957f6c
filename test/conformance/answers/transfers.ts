import { expect } from 'bun:test'
import type { Signer } from '../../../src/nostr/event.ts'
import {
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newSigner,
  nostrHeader,
} from '../../support/client.ts'
import { damage } from '../../support/database.ts'
import { type Documented, sharedServer } from '../../support/documented.ts'
import type { TestServer } from '../../support/server.ts'
import { addAccount } from '../../support/shops.ts'

const origin = 'https://cupones.example'
const taking = 'POST /api/lud16/{name}/cb'
const sending = 'POST /api/transfer'
/** The key of a service that is known, and away. */
const elsewhere = newSigner()
const env = {
  RATE_LIMIT: 'off',
  PUBLIC_URL: origin,
  MERCHANTS: 'open',
  VOUCHER_SERVICES: `${elsewhere.pubkey}|https://127.0.0.1:9/api/coupons/refresh`,
}

/** The holder of a name, and coupons of hers to give away. */
async function withHolder({ newCaller }: Documented, at: TestServer) {
  const caller = await newCaller({ at, origin })
  const name = `eva-${caller.signer.pubkey.slice(0, 8)}`
  await addAccount(at.dataDir, name, caller.signer.pubkey)
  const couponId = await createDefinition(at.url, caller.token)
  const mint = () => mintOne(at.url, caller.token, couponId)
  return {
    ...{ ...caller, name, mint, path: `/api/lud16/${name}/cb`, to: `${name}@cupones.example` },
    offer: async (changes: Json = {}) => {
      const { nonce, voucher } = await mint()
      return { action: 'voucher', nonce, voucher, ...changes }
    },
    /** A voucher that seems to be of another service. */
    offerBy: async (signer: Signer) => {
      const { nonce, voucher } = await mint()
      return { action: 'voucher', nonce, voucher: signer.sign(voucher) }
    },
  }
}

export function testTransfers(service: Documented): void {
  const { scenario } = service
  const home = sharedServer(env)

  scenario('a voucher arrives at a name', async () => {
    const { ask, refused, path, offer, offerBy } = await withHolder(service, home())
    const body = await offer()
    await ask(taking, { path, body })
    await refused(taking, 'voucher-invalid', { path, body: await offer({ voucher: {} }) })
    const nobody = { path: '/api/lud16/x/cb', body: await offer() }
    await refused(taking, 'vouchers-not-taken', nobody)
    await refused(taking, 'service-unknown', { path, body: await offerBy(newSigner()) })
    await refused(taking, 'service-silent', { path, body: await offerBy(elsewhere) })
    await refused(taking, 'field-invalid', { path, body: {} })
    await refused(taking, 'body-invalid', { path, body: '[]' })
    await refused(taking, 'nonce-invalid', { path, body: { ...body, nonce: 'x' } })
  })

  scenario('a voucher is sent to a name', async () => {
    const { ask, refused, to, mint } = await withHolder(service, home())
    const { nonce } = await mint()
    await ask(sending, { body: { nonce, to, comment: 'Feliz cumple' } })
    const again = { nonce, to: 'x@cupones.example' }
    await refused(sending, 'voucher-refreshed', { body: again })
    const { nonce: kept } = await mint()
    await refused(sending, 'address-silent', { body: { nonce: kept, to: 'eva@127.0.0.1:9' } })
    await refused(sending, 'vouchers-not-taken', { body: { ...again, nonce: kept } })
  })

  scenario('a voucher that cannot be sent', async () => {
    const { refused, to, mint, offerBy } = await withHolder(service, home())
    const { nonce } = await mint()
    await refused(sending, 'voucher-unknown', { body: { nonce: 'A'.repeat(22), to } })
    await refused(sending, 'field-invalid', { body: { nonce, to: 'nobody' } })
    await refused(sending, 'nonce-invalid', { body: { nonce: 'x', to } })
    await refused(sending, 'voucher-invalid', { body: { nonce, to, voucher: {} } })
    const { nonce: strange, voucher } = await offerBy(newSigner())
    await refused(sending, 'service-unknown', { body: { nonce: strange, voucher, to } })
  })

  scenario('the vouchers that a name received', async () => {
    const { ask, refused, path, offer, signer } = await withHolder(service, home())
    const signed = (method: string, there: string) => {
      const proof = createProof(signer, `${origin}${there}`, { method })
      return { path: there, headers: { Authorization: nostrHeader(proof) } }
    }
    await ask(taking, { path, body: await offer() })
    const list = 'GET /api/wallet/vouchers'
    await ask(list)
    const { vouchers } = await ask(list, signed('GET', '/api/wallet/vouchers'))
    expect(vouchers).toHaveLength(1)
    await refused(list, 'auth-missing', { token: '' })
    const drop = 'DELETE /api/wallet/vouchers/{id}'
    const one = `/api/wallet/vouchers/${vouchers[0].id}`
    await ask(drop, signed('DELETE', one))
    await refused(drop, 'held-unknown', signed('DELETE', one))
  })

  scenario('the settings of a name, and of nobody', async () => {
    const { ask, refused, name, server } = await withHolder(service, home())
    const settings = '/api/wallet/settings'
    await ask(`GET ${settings}`)
    await ask(`PUT ${settings}`, { body: { allowVouchers: false } })
    await refused(`PUT ${settings}`, 'field-invalid', { body: { allowVouchers: 1 } })
    await damage(server.dataDir, `DELETE FROM accounts WHERE name = '${name}'`)
    await refused(`GET ${settings}`, 'account-unknown')
    await refused(`PUT ${settings}`, 'account-unknown', { body: { allowVouchers: true } })
  })
}
