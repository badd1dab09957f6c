import { systemClock } from '../../base/clock.ts'
import type { KeptKey } from '../../client/signer-local.ts'
import { npubOf } from '../../nostr/keys.ts'
import { day } from '../words/format.ts'
import { panelWords as t } from '../words/panel.ts'

/** The text of a backup file. The person may find it years later, so it says where and how it opens. */
export function backupText({ pubkey, ncryptsec }: KeptKey): string {
  const saved = day(systemClock())
  const parts = [
    t('file.title').toUpperCase(),
    t('file.what'),
    t('file.where', { address: `${location.origin}/panel` }),
    t('file.how', { saved }),
    t('file.care'),
    `${t('file.key')}\n${ncryptsec}`,
    `${t('file.public')}\n${npubOf(pubkey)}`,
  ]
  // Old editors of Windows show no line feed alone.
  return `${parts.join('\n\n')}\n`.replaceAll('\n', '\r\n')
}
