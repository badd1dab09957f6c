import { encodeQR } from 'qr'
import type { Config } from '../app/config.ts'
import { toBrowserUrl } from '../tls/files.ts'
import { settingsAddress } from './health.ts'
import { operateOn } from './merchants.ts'

/** Show the setup code as text, as a link and as a QR code. `another` replaces it first. */
export async function setup(config: Config, another: boolean): Promise<number> {
  // The address of the running server is better than the setting: `PORT=0` chooses a port at the start.
  const { code, address } = await operateOn(config, { do: 'code', another })
  const panel = panelAddress(config, address ?? settingsAddress(config))
  const link = setupLink(panel, code)
  const lines = [
    `The code lets one key in as the first merchant, once: ${code}`,
    '',
    `Open ${panel}, sign in and type it, or open this:`,
    '',
    `  ${link}`,
    '',
    encodeQR(link, 'ascii').trimEnd(),
  ]
  if (address === null) lines.push('', 'No server is running: start it first.')
  console.log(lines.join('\n'))
  return 0
}

/** URL of the panel of a server that listens at `url`. */
export function panelAddress({ publicUrls }: Config, url: string): string {
  return `${publicUrls[0] ?? toBrowserUrl(url)}/panel`
}

/** URL of the panel with the code in its fragment, which browsers do not send to servers. */
export function setupLink(panel: string, code: string): string {
  return `${panel}#alta=${code}`
}
