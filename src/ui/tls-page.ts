import { escapeHTML } from 'bun'
import { encodeQR } from 'qr'
import { parseAddress } from '../base/network.ts'
import { hostForOthers } from '../tls/files.ts'
import { staticPageHeaders } from './static-page.ts'

/** The certificate authority of a shop, and the addresses of the service. */
export type TlsPlace = {
  /** Its certificate in DER. */
  authority: Uint8Array
  /** SHA-256 in the form that people compare. */
  fingerprint: string
  /** Names and addresses of its certificate. */
  hosts: readonly string[]
  /** `http` is null when there is only https. */
  ports(): { http: number | null; https: number }
}

type Language = 'es' | 'en'
type Text = Record<Language, string>
/** Text of a step between backticks is a command or an address, to be typed or pasted. */
type System = { name: string; agent: RegExp; steps: Record<Language, string[]> }

const download = '/tls/cuponera.crt'

// In order, since the first match is shown open: the agent of Android names Linux, too.
const systems: System[] = [
  {
    name: 'Android',
    agent: /Android/,
    steps: {
      es: [
        'Tocá «Descargar el certificado».',
        'Abrí Ajustes y buscá «certificado CA» (suele estar en Seguridad › Más ajustes de seguridad › Encriptación y credenciales › Instalar un certificado › Certificado CA).',
        'Tocá «Instalar de todas formas» y elegí el archivo cuponera.crt.',
      ],
      en: [
        'Tap “Download the certificate”.',
        'Open Settings and search for “CA certificate” (often in Security › More security settings › Encryption & credentials › Install a certificate › CA certificate).',
        'Tap “Install anyway” and choose the file cuponera.crt.',
      ],
    },
  },
  {
    name: 'iPhone, iPad',
    agent: /iPhone|iPad/,
    steps: {
      es: [
        'En Safari, tocá «Descargar el certificado» y permití la descarga del perfil.',
        'Abrí Ajustes › General › VPN y gestión de dispositivos, tocá el perfil y después Instalar.',
        'Abrí Ajustes › General › Información › Ajustes de confianza de los certificados y activá el de Cuponera. Sin este paso no alcanza.',
      ],
      en: [
        'In Safari, tap “Download the certificate” and allow the profile.',
        'Open Settings › General › VPN & Device Management, tap the profile, then Install.',
        'Open Settings › General › About › Certificate Trust Settings and switch Cuponera on. It does not work without this step.',
      ],
    },
  },
  {
    name: 'Windows',
    agent: /Windows/,
    steps: {
      es: [
        'Hacé clic en «Descargar el certificado» y abrí cuponera.crt.',
        'Elegí Instalar certificado › Usuario actual › Colocar todos los certificados en el siguiente almacén › Examinar › Entidades de certificación raíz de confianza.',
        'Terminá, compará la huella con la de abajo y confirmá. Cerrá y abrí el navegador.',
      ],
      en: [
        'Click “Download the certificate” and open cuponera.crt.',
        'Choose Install Certificate › Current User › Place all certificates in the following store › Browse › Trusted Root Certification Authorities.',
        'Finish, compare the fingerprint with the one below and confirm. Close and open the browser.',
      ],
    },
  },
  {
    name: 'Mac',
    agent: /Macintosh/,
    steps: {
      es: [
        'Hacé clic en «Descargar el certificado» y abrí cuponera.crt: se agrega a Acceso a Llaveros.',
        'Ahí buscá Cuponera, abrilo, y en Confiar elegí «Confiar siempre» para SSL.',
      ],
      en: [
        'Click “Download the certificate” and open cuponera.crt: it is added to Keychain Access.',
        'Find Cuponera there, open it, and under Trust choose “Always Trust” for SSL.',
      ],
    },
  },
  {
    name: 'Linux',
    agent: /Linux|X11/,
    steps: {
      es: [
        'Hacé clic en «Descargar el certificado».',
        'Chrome o Chromium: `chrome://certificate-manager` › Certificados locales › Instalados por vos › Importar.',
        'Todo el sistema (Debian, Ubuntu, Raspberry Pi OS): convertilo con `openssl x509 -inform der -in cuponera.crt -out cuponera-pem.crt`, copialo a `/usr/local/share/ca-certificates` y corré `sudo update-ca-certificates`.',
      ],
      en: [
        'Click “Download the certificate”.',
        'Chrome or Chromium: `chrome://certificate-manager` › Local certificates › Installed by you › Import.',
        'The whole system (Debian, Ubuntu, Raspberry Pi OS): convert it with `openssl x509 -inform der -in cuponera.crt -out cuponera-pem.crt`, copy that to `/usr/local/share/ca-certificates` and run `sudo update-ca-certificates`.',
      ],
    },
  },
  {
    name: 'Firefox',
    agent: /Firefox/,
    steps: {
      es: [
        'En la computadora: Ajustes › Privacidad y seguridad › Certificados › Ver certificados › Autoridades › Importar, y marcá «Confiar para identificar sitios web».',
      ],
      en: [
        'On a computer: Settings › Privacy & Security › Certificates › View Certificates › Authorities › Import, and tick “Trust this CA to identify websites”.',
      ],
    },
  },
]

const text = {
  title: { es: 'Confiar en esta Cuponera', en: 'Trust this Cuponera' },
  why: {
    es: 'Para usar la cámara, instalar la caja como aplicación y trabajar sin conexión, el navegador pide una dirección segura (https). Este comercio hizo su propio certificado: cada aparato tiene que confiar en él una sola vez.',
    en: 'To use the camera, install the till as an app and work offline, the browser needs a secure address (https). This shop made its own certificate: each device has to trust it just once.',
  },
  who: {
    es: 'Es para los aparatos del comercio. Quien sólo tiene un cupón no necesita nada de esto.',
    en: 'This is for the shop’s devices. If you only have a coupon, you need none of it.',
  },
  download: { es: 'Descargar el certificado', en: 'Download the certificate' },
  afterwards: {
    es: 'Después, abrí la caja o el panel acá:',
    en: 'Then open the till or the panel here:',
  },
  compare: {
    es: 'Huella (SHA-256): tiene que ser la que mostró la computadora del comercio.',
    en: 'Fingerprint (SHA-256): it must be the one that the shop’s computer showed.',
  },
  limits: {
    es: 'Este certificado no vale para nombres de internet: con él nadie puede hacerse pasar por un banco ni por otro sitio.',
    en: 'This certificate does not work for names on the internet: nobody can use it to pose as a bank or another site.',
  },
  another: {
    es: 'Para otro aparato, escaneá este código:',
    en: 'For another device, scan this code:',
  },
  other: { es: 'In English', en: 'En castellano' },
} satisfies Record<string, Text>

/** The page for one request, in its language and with the steps of its system open. */
export function createTlsPage(place: TlsPlace, { url, headers: asked }: Request) {
  const language = languageOf(url, asked.get('accept-language'))
  const say = (name: keyof typeof text) => escapeHTML(text[name][language])
  const agent = asked.get('user-agent') ?? ''
  const mine = systems.find((system) => system.agent.test(agent))
  const host = hostOf(place, asked.get('host'))
  const { http, https } = place.ports()
  const secure = (path: string) =>
    escapeHTML(`https://${host}${https === 443 ? '' : `:${https}`}${path}`)
  const here = http === null ? secure('/tls') : `http://${host}${http === 80 ? '' : `:${http}`}/tls`
  const steps = systems.map((system) => {
    const items = system.steps[language].map((step) => `<li>${stepHtml(step)}</li>`).join('')
    const open = system === mine ? ' open' : ''
    return `<details${open}><summary>${escapeHTML(system.name)}</summary><ol>${items}</ol></details>`
  })
  const other = language === 'es' ? 'en' : 'es'
  const html = `<!doctype html>
<html lang="${language === 'es' ? 'es-AR' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${say('title')}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<a class="other" href="/tls?lang=${other}" lang="${other}" hreflang="${other}">${say('other')}</a>
<h1>${say('title')}</h1>
<p>${say('why')}</p>
<p>${say('who')}</p>
<p><a class="button" href="${download}">${say('download')}</a></p>
${steps.join('\n')}
<p>${say('afterwards')}</p>
<ul>
<li><a href="${secure('/caja')}">${secure('/caja')}</a></li>
<li><a href="${secure('/panel')}">${secure('/panel')}</a></li>
</ul>
<p>${say('compare')}</p>
<p><code class="fingerprint">${escapeHTML(place.fingerprint)}</code></p>
<p>${say('limits')}</p>
<p>${say('another')} <code>${escapeHTML(here)}</code></p>
<div class="qr" role="img" aria-label="${escapeHTML(here)}">${encodeQR(here, 'svg')}</div>
</main>
</body>
</html>
`
  return { html, headers }
}

/** No line breaks inside a word of a command: a line that ends after a hyphen reads as another option. */
function stepHtml(step: string): string {
  return escapeHTML(step).replace(/`(.+?)`/g, (_, typed: string) => {
    const words = typed.split(' ').map((word) => `<span>${word}</span>`)
    return `<code>${words.join(' ')}</code>`
  })
}

function languageOf(url: string, accepted: string | null): Language {
  const [, wanted] = /[?&]lang=(es|en)(?:&|$)/.exec(url) ?? []
  if (wanted) return wanted as Language
  return /^\s*en\b/i.test(accepted ?? '') ? 'en' : 'es'
}

/** The host by which this device reached us; from loopback, a host that another device can use. */
function hostOf({ hosts }: TlsPlace, header: string | null): string {
  const { hostname = '' } = URL.parse(`http://${header}`) ?? {}
  const plain = hostname.replace(/^\[|\]$/g, '')
  const loopback = plain === 'localhost' || parseAddress(plain)?.range() === 'loopback'
  if (!loopback && hosts.includes(plain)) return hostname
  return hostForOthers(hosts)
}

/** The colours of the pages. Their own style would be a second request, over plain http. */
const style = `
:root{color-scheme:light dark;--ink:#211d18;--paper:#faf7f2;--card:#fff;--line:#e2dacd;--mark:#0d6650;--on-mark:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#f0ebe3;--paper:#161411;--card:#211e1a;--line:#38332c;--mark:#74d3b1;--on-mark:#06251b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:42rem;padding:1rem;background:var(--paper);color:var(--ink);font:17px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:.5rem 0 1rem;line-height:1.2;text-wrap:balance}
a{color:var(--mark)}
:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
.other{display:block;width:fit-content;margin-left:auto;padding:.6rem 0}
.button{display:inline-block;padding:.7rem 1.2rem;border-radius:.9rem;background:var(--mark);color:var(--on-mark);text-decoration:none;font-weight:600}
details{margin:.5rem 0;border:1px solid var(--line);border-radius:.9rem;background:var(--card)}
summary{padding:.7rem 1rem;cursor:pointer;font-weight:600}
ol{margin:0;padding:0 1rem 1rem 2.4rem}
li+li{margin-top:.3rem}
ul{margin:0;padding:0;list-style:none}
ul a{display:inline-block;padding:.6rem 0}
code{font:.9em/1.5 ui-monospace,Menlo,monospace}
code span{display:inline-block;max-width:100%}
.fingerprint{display:block;width:24.5ch;line-break:anywhere}
.qr{width:12rem;padding:.6rem;border-radius:.9rem;background:#fff}
.qr svg{display:block;width:100%;height:auto}
`

const headers = {
  ...staticPageHeaders(style, 'img-src data:'),
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
}
