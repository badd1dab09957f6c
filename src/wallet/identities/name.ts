import { Refusal } from '../../base/refusal.ts'

const form = /^[a-z0-9._-]{1,64}$/

/** `_` is the service itself (NIP-05); dots alone fit in no URL. */
const unusable = /^(_|\.+)$/

/** Names that could be taken for the service, its operator or a part of it. */
const reserved = new Set(
  `admin administrator administrador administracion api abuse account accounts app auth ayuda
  billing bot caja cajero card cards claim contact contacto coupon coupons cupon cupones cuponera
  dev docs email federation ftp gateway gerencia help hostmaster identity info lacrypta lawallet
  ledger legal lnurlp localhost login mail manager me metrics mint minter moderator nostr noreply no-reply
  null oficial official operator owner pago pagos pay payments postmaster privacy relay root
  security seguridad server service servicio shop signup sistema smtp soporte staff status store
  support system tarjeta tarjetas team tesoreria test tienda treasury undefined voucher vouchers
  wallet webmaster well-known www`.split(/\s+/),
)

/** A name for an identity, in lower case. Refuses `identity-name-invalid`. */
export function parseName(value: unknown): string {
  const name = typeof value === 'string' ? value.toLowerCase() : ''
  if (!form.test(name)) throw new Refusal('identity-name-invalid')
  return name
}

/** True for a name of the right form, in lower case. */
export function isName(text: string): boolean {
  return form.test(text)
}

/** True for a name that no identity can have. */
export function isUnusable(name: string): boolean {
  return unusable.test(name)
}

/** True for a name that only the operator can give away. `more` are the names from IDENTITY_RESERVED. */
export function isReserved(name: string, more: ReadonlySet<string>): boolean {
  return isUnusable(name) || reserved.has(name) || more.has(name)
}
