import { tillWords as t } from '../words/till.ts'

/** Help for https: the page about the shop's certificate if it has one, else whom to ask. */
export function TlsHelp() {
  const known = document.documentElement.dataset.httpPort !== undefined
  return known ? <a href="/tls">{t('tls.link')}</a> : <span>{t('tls.ask')}</span>
}
