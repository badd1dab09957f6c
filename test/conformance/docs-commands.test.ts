/** The commands of the reference, each as printed, in a shell, against a real service. */
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { cardEvent, delegationOf, manager, newHolder, newUid, tapQuery } from '../support/cards.ts'
import { call, type Json, mintOne, newKey, newSigner, openSession } from '../support/client.ts'
import { startClosed } from '../support/closed.ts'
import { onFile } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { identityEvent } from '../support/identities.ts'
import {
  createInvoice,
  newFundedCard,
  payEnv,
  payEvent,
  tap,
  tapStandard,
} from '../support/payments.ts'
import { samples } from '../support/pictures.ts'
import { program } from '../support/program.ts'
import { cleanUp, newDirectory, type TestServer } from '../support/server.ts'
import { addAccount } from '../support/shops.ts'
import { until } from '../support/until.ts'
import { announcementOf } from './answers/announcements.ts'

afterAll(cleanUp)

test('each command of the reference sends its request, as printed', async () => {
  const server = await startClosed({ env: { ...payEnv, IDENTITY_SELF_SIGNUP: 'on' } })
  const commands = await commandsOf(server.url)
  const shell = openShell(server, commands)
  const { granted, refused, send } = shell
  await granted('postSetup', { CODE: server.code })
  const { token: TOKEN } = await granted('postAuthSession')

  await asMerchant(shell, TOKEN)
  await follow(shell, TOKEN)
  await asHolder(shell, TOKEN)
  await withPosters(shell, TOKEN)
  await withPictures(shell, TOKEN)
  await withEvents(shell, TOKEN)
  await withNames(shell, TOKEN)
  await withCards(shell)
  await withPayments(shell)
  await withPages(shell)
  for (const id of ['patchCard', 'postCardResetRequest', 'postCardResetClaim']) {
    await refused(id, 'not-supported')
  }
  // Neither has an authority of its own.
  for (const id of ['getTls', 'getTlsCuponeraCrt']) await refused(id, 'not-found')
  expect((await send('get')).status).toBe(302)
  // A database on a server is moved by the command alone.
  if (onFile) await move(shell, commands)
  else await refused('postMove', 'move-not-allowed')
  expect([...shell.left].sort()).toEqual(onFile ? [] : ofFilesAlone)
}, 300_000)

const ofFilesAlone = [
  'deleteMove',
  'postArrival',
  'postArrivalFinish',
  'postMoveFile',
  'putArrivalPieces',
]

type Values = Record<string, string>

/** The commands on the page of all operations, by operation. */
async function commandsOf(url: string): Promise<Map<string, string>> {
  const { text } = await call(url, '/openapi.html?lang=en')
  const [, ...operations] = text.split('<article class="operation" id="')
  return new Map(
    operations.map((operation) => {
      const [id = ''] = operation.split('"')
      const [, command = ''] = /<pre><code>([^<]*)<\/code><\/pre>/.exec(operation) ?? []
      return [id, plain(command)]
    }),
  )
}

function plain(html: string): string {
  const marks: Values = { '&quot;': '"', '&#x27;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  return html.replace(/&[^;]+;/g, (mark) => marks[mark] ?? mark)
}

type Shell = ReturnType<typeof openShell>

/** A shell with the program in its path. curl writes the status in a last line. */
function openShell(server: TestServer, commands: ReadonlyMap<string, string>) {
  const { url } = server
  const folder = newDirectory()
  const run = program.map((part) => `'${part}'`).join(' ')
  writeFileSync(join(folder, 'cuponera'), `#!/bin/sh\nexec ${run} "$@"\n`, { mode: 0o755 })
  writeFileSync(join(folder, '.curlrc'), 'write-out = "\\n%{http_code}"\n')
  writeFileSync(join(folder, 'picture.png'), samples.png)
  const left = new Set(commands.keys())
  const start = (id: string, values: Values = {}) => {
    const command = commands.get(id)
    if (command === undefined) throw new Error(`the page has no command of ${id}`)
    left.delete(id)
    return Bun.spawn(['sh', '-eu', '-c', `exec ${command}`], {
      cwd: folder,
      env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder, URL: url, ...values },
      stdin: 'ignore',
      stderr: 'pipe',
    })
  }
  /** The answer to the command of an operation: its status and, where it is JSON, its body. */
  const send = async (id: string, values: Values = {}): Promise<{ status: number; body: Json }> => {
    const running = start(id, values)
    const lines = (await new Response(running.stdout).text()).split('\n')
    expect({ id, stderr: await new Response(running.stderr).text() }).toEqual({ id, stderr: '' })
    const status = Number(lines.pop())
    // An answer of bytes is in a file.
    const kept = commands.get(id)?.includes(' -o answer ') && join(folder, 'answer')
    const text = kept ? await Bun.file(kept).text() : lines.join('\n')
    return { status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  /** The same, for a request that is granted. */
  const granted = async (id: string, values: Values = {}): Promise<Json> => {
    const { status, body } = await send(id, values)
    if (!(status < 300)) throw new Error(`${id} was answered ${status}: ${JSON.stringify(body)}`)
    return body
  }
  const refused = async (id: string, code: string, values: Values = {}) => {
    const { body } = await send(id, values)
    expect({ id, code: body.code }).toEqual({ id, code })
  }
  return { server, url, folder, left, start, send, granted, refused }
}

async function asMerchant({ granted, refused }: Shell, TOKEN: string) {
  const COUPON: string = (await granted('postCoupons', { TOKEN })).coupon.id
  const on = { TOKEN, COUPON }
  await granted('postCouponsMint', on)
  await granted('patchCouponsId', on)
  for (const id of ['getCoupons', 'getCouponsMintable', 'getCouponsAuthorizations']) {
    await granted(id, on)
  }
  for (const id of ['getCouponsRedemptions', 'getCouponsStats', 'getCouponsStatsTills']) {
    await granted(id, on)
  }
  const { mints } = await granted('getCouponsIdMints', on)
  await granted('deleteCouponsIdMintsHandle', { ...on, HANDLE: mints[0].handle })
  await granted('deleteCouponsIdMints', on)
  await granted('getCouponsIdBatches', on)
  const BATCH = crypto.randomUUID()
  await refused('deleteCouponsIdBatchesBatch', 'batch-unknown', { ...on, BATCH })
  await granted('deleteCouponsId', on)

  const other = { TOKEN, KEY: newSigner().pubkey }
  await granted('postCouponsMinters', other)
  await granted('getCouponsMinters', other)
  await granted('deleteCouponsMintersKey', other)
  await granted('postMerchants', other)
  await granted('getMerchants', other)
  await granted('deleteMerchantsKey', other)
  await granted('getShop', other)
  await granted('patchShop', other)
  await granted('getShopsKey', other)
}

/** The live stream does not end: it is read until something happens. */
async function follow({ start, url }: Shell, TOKEN: string) {
  const stream = start('getCouponsLive', { TOKEN })
  const reader = stream.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const reading = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value
  })()
  await until('an event came', async () => {
    await newCoupon(url, TOKEN)
    return text.includes('event: ')
  })
  stream.kill()
  await reading
}

async function newCoupon(url: string, token: string): Promise<string> {
  const body = { name: 'Café', benefit: { type: 'percent', percent: 10 } }
  return (await call(url, '/api/coupons', { body, token })).json.coupon.id
}

async function asHolder({ granted, url }: Shell, TOKEN: string) {
  const { nonce: NONCE } = await mintOne(url, TOKEN, await newCoupon(url, TOKEN))
  await granted('getCouponsManager')
  await granted('getCouponsClaim', { NONCE })
  await granted('postCouponsPreview', { NONCE })
  const { nonce } = await granted('postCouponsRefresh', { NONCE, ATTEMPT: newKey() })
  expect(await granted('postCouponsClaim', { NONCE: nonce })).toMatchObject({ status: 'success' })
}

async function withPosters({ granted, url }: Shell, TOKEN: string) {
  const { poster } = await granted('postPosters', { TOKEN, COUPON: await newCoupon(url, TOKEN) })
  const values = { TOKEN, POSTER: poster.id, ATTEMPT: newKey() }
  for (const id of ['getPosters', 'getPostersId', 'postPostersIdTake']) await granted(id, values)
  for (const id of ['getCPId', 'patchPostersId', 'deletePostersId']) await granted(id, values)
}

async function withPictures({ granted, refused }: Shell, TOKEN: string) {
  const { picture } = await granted('postPictures', { TOKEN })
  await granted('getPicturesHash', { PICTURE: picture.hash })
  await refused('getCouponsImagesHash', 'image-unknown', { PICTURE: picture.hash })
}

const eventOf = (event: NostrEvent): Values => ({ EVENT: JSON.stringify(event) })

async function withEvents({ granted, server, url }: Shell, TOKEN: string) {
  const note = createEvent({ signer: manager, content: '' })
  await granted('postNostrPublish', eventOf(note))
  await granted('getNostrPublishId', { EVENT_ID: note.id })
  await granted('postNostrFetch')
  const merchant = newSigner()
  await call(url, '/api/merchants', { body: { pubkey: merchant.pubkey }, token: TOKEN })
  const own = { TOKEN: await openSession(url, merchant), KEY: merchant.pubkey }
  const announcement = announcementOf({ ...server, url: 'https://cupones.example' }, merchant)
  await granted('putCouponsDiscovery', { ...own, ...eventOf(announcement) })
  await granted('deleteCouponsDiscovery', own)
  await granted('getLedgerBalancesKey', own)
}

async function withNames({ granted, refused, server, url }: Shell, TOKEN: string) {
  const asking = (unique: string) =>
    createEvent({
      ...{ kind: 1112, content: '', signer: manager },
      tags: [
        ['t', 'create-nonce'],
        ['unique', unique],
      ],
    })
  await granted('postNonceCreate', eventOf(asking('one')))
  const { nonce } = await granted('postNonce', eventOf(asking('two')))
  await granted('getNonceNonce', { IDENTITY_NONCE: nonce })
  for (const id of ['getSignup', 'getSignupRequest']) await granted(id)
  const holder = newSigner()
  const wanted = identityEvent(manager, nonce, { name: 'ana', pubkey: holder.pubkey })
  await granted('postIdentity', eventOf(wanted))
  const known = { NAME: 'ana', KEY: holder.pubkey }
  await granted('getIdentity', known)
  await granted('getWellKnownNostrJson', known)
  await granted('getWellKnownLnurlpName', known)
  await granted('getLud16Name', known)
  await granted('getPubkeyKey', known)
  // She has no wallet.
  await refused('getLud16NameCb', 'payments-not-taken', known)

  await addAccount(server.dataDir, 'eva', holder.pubkey).catch(() => undefined)
  const COUPON = await newCoupon(url, TOKEN)
  const { nonce: NONCE, voucher } = await mintOne(url, TOKEN, COUPON)
  await granted('postLud16NameCb', { ...known, NONCE, VOUCHER: JSON.stringify(voucher) })
  const { nonce: another } = await mintOne(url, TOKEN, COUPON)
  const { host } = new URL(url)
  await granted('postTransfer', { NONCE: another, ADDRESS: `ana@${host}` })
  const own = { TOKEN: await openSession(url, holder) }
  const { vouchers } = await granted('getWalletVouchers', own)
  await granted('deleteWalletVouchersId', { ...own, HANDLE: vouchers[0].id })
  await granted('getWalletSettings', own)
  await granted('putWalletSettings', own)
}

async function withCards({ granted }: Shell) {
  const cid = newUid()
  const holder = newHolder()
  const [P = '', C = ''] = tapQuery(cid, 1)
    .split('&')
    .map((part) => part.slice(2))
  await granted('postNtag424', eventOf(cardEvent('card-init-request', { cid })))
  const otc = newKey()
  await granted('patchNtag424', { P, C, ...eventOf(cardEvent('card-link-request', { otc })) })
  const delegation = delegationOf(holder)
  const activation = cardEvent('card-activation-request', { otc, delegation }, { signer: holder })
  await granted('postCard', eventOf(activation))
  const asked = (type: string) => eventOf(cardEvent(type, '', { signer: holder }))
  await granted('postCardDataRequest', asked('card-data-request'))
  await granted('postCardConfigRequest', asked('card-config-request'))
  const [p = '', c = ''] = tapQuery(cid, 2)
    .split('&')
    .map((part) => part.slice(2))
  await granted('getCardScan', { P: p, C: c })
  await granted('deleteNtag424', eventOf(cardEvent('card-delete-request', { cid })))
}

async function withPayments({ granted, server }: Shell) {
  const card = await newFundedCard(server, { PESO: 10, BTC: 100_000 })
  const K1 = await tap(server, card)
  const { pubkey } = newSigner()
  await granted('postCardPay', eventOf(payEvent({ k1: K1, pubkey, tokens: { PESO: 1 } })))
  await granted('getCardPayK1', { K1 })
  const standard = await tapStandard(server, card)
  await granted('getCardPay', { K1: standard, INVOICE: createInvoice() })
}

async function withPages({ granted }: Shell) {
  for (const id of ['getLivez', 'getReadyz', 'getMetrics', 'getRelay', 'getOpenapiJson']) {
    await granted(id)
  }
  for (const id of ['getOpenapiHtml', 'getDocs', 'getCaja', 'getC', 'getSwJs']) await granted(id)
  await granted('getCajaWebmanifest')
  const [, file = ''] = /\/ui\/(style-\w+\.css)/.exec(await granted('getPanel')) ?? []
  await granted('getUiFile', { FILE: file })
}

/** The service closes, and goes on in another one. */
async function move({ folder, granted, left, url }: Shell, commands: Map<string, string>) {
  const PASSPHRASE = 'uno dos tres cuatro cinco seis siete ocho'
  await granted('postMove')
  await until('it was moved', async () => {
    const answer = await call(url, '/readyz').catch(() => null)
    return answer?.json?.code === 'moved'
  })
  await granted('postMoveFile', { PASSPHRASE })
  const fresh = await startClosed()
  const there = openShell(fresh, commands)
  copyFileSync(join(folder, 'answer'), join(there.folder, 'move.age'))
  const { ticket: TICKET } = await there.granted('postArrival', { CODE: fresh.code })
  await there.granted('putArrivalPieces', { TICKET })
  await there.granted('postArrivalFinish', { TICKET, PASSPHRASE })
  await granted('deleteMove')
  for (const id of ['postArrival', 'putArrivalPieces', 'postArrivalFinish']) left.delete(id)
}
