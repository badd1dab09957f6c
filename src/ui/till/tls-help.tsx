import { tillWords as t } from '../words/till.ts'

/** How to get https here: the page of a shop that has it, else whom to ask. */
export function TlsHelp() {
  const known = document.documentElement.dataset.httpPort !== undefined
  return known ? <a href="/tls">{t('tls.link')}</a> : <span>{t('tls.ask')}</span>
}
