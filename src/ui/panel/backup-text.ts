import { systemClock } from '../../base/clock.ts'
import type { KeptKey } from '../../client/signer-local.ts'
import { npubOf } from '../../nostr/keys.ts'
import { day } from '../words/format.ts'
import { keyWords as t } from '../words/key.ts'

/** The text of a backup file, which opens with the PIN. */
export function backupText({ pubkey, ncryptsec }: KeptKey): string {
  const saved = day(systemClock())
  const explained = [
    t('file.title').toUpperCase(),
    t('file.what'),
    where(),
    t('file.how', { saved }),
    t('file.care'),
  ]
  return fileText(explained, pubkey, ncryptsec)
}

/** The text of the file of a second copy, which opens with words or with a password. */
export function secondCopyText(pubkey: string, ncryptsec: string, words: boolean): string {
  const explained = [
    t('second.file.title').toUpperCase(),
    t('second.file.what'),
    where(),
    t(words ? 'second.file.how.words' : 'second.file.how.password'),
    t('second.file.care'),
  ]
  return fileText(explained, pubkey, ncryptsec)
}

function where(): string {
  return t('file.where', { address: `${location.origin}/panel` })
}

/** The person may find a file years later, so it says first what it is, where and how it opens. */
function fileText(explained: readonly string[], pubkey: string, ncryptsec: string): string {
  const parts = [
    ...explained,
    `${t('file.key')}\n${ncryptsec}`,
    `${t('file.public')}\n${npubOf(pubkey)}`,
  ]
  // Old editors of Windows show no line feed alone.
  return `${parts.join('\n\n')}\n`.replaceAll('\n', '\r\n')
}
