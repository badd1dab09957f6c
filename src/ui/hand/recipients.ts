/** The numbers that this device wrote to lately. No request has them. */
import { signal } from '@preact/signals'
import { parseStored } from '../../client/json.ts'
import { device } from '../browser/storage.ts'
import { type Phone, parsePhone } from './phone.ts'

const place = 'recipients'
/** They are other people's numbers: enough for regulars, and no list of all customers. */
const recipientsMax = 8

/** Newest first. */
export const recipients = signal<readonly Phone[]>(parseRecipients(device.read(place)))

export function rememberRecipient(phone: Phone): void {
  keep([phone, ...others(phone)].slice(0, recipientsMax))
}

export function forgetRecipient(phone: Phone): void {
  keep(others(phone))
}

export function forgetRecipients(): void {
  keep([])
}

function others({ digits }: Phone): Phone[] {
  return recipients.peek().filter((one) => one.digits !== digits)
}

function keep(list: readonly Phone[]): void {
  recipients.value = list
  if (list.length === 0) device.remove(place)
  else device.write(place, JSON.stringify(list.map(({ digits }) => `+${digits}`)))
}

/** The stored numbers, checked: other builds may have written them. */
function parseRecipients(text: string | null): Phone[] {
  const list = parseStored(text)
  const typed = Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  return typed
    .map(parsePhone)
    .filter((one) => typeof one === 'object')
    .slice(0, recipientsMax)
}
