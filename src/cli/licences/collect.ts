import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { license, version } from '../../../package.json'
import { parseJsonObject } from '../../base/json.ts'
import { buildPages } from '../../ui/bundle.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Entry files of a build. A worker that is missing here hangs silently in the binary. A worker must be started by
 * `new Worker(new URL(…, import.meta.url))` from a file in its own folder: only that works both from source and
 * compiled.
 */
export const programEntries = [
  'src/main.ts',
  'src/db/maintenance-worker.ts',
  'src/relay/relay-worker.ts',
  'src/crypto/crypto-worker.ts',
]

const descriptionBytesMax = 1_000_000

type Notice = { title: string; text: string }

/** The licences of all parts of a build, as one text. Throws if a package has none. */
export async function collectNotices(): Promise<string> {
  const pages = await buildPages()
  const program = await Bun.build({
    entrypoints: programEntries.map((entry) => join(root, entry)),
    root,
    target: 'bun',
    metafile: true,
  })
  const folders = packagesIn(program).union(packagesIn(pages))
  const packages = [...folders].map(noticeOf).sort((a, b) => (a.title < b.title ? -1 : 1))
  const opening = [
    `Cuponera ${version} and all that it is made of, each part under its own licence.`,
    'The parts, in the order of this text:',
  ]
  const notices = [own(), ...engines(), ...packages]
  const list = notices.map(({ title }) => `  ${title}`)
  return [
    [...opening, '', ...list].join('\n'),
    ...notices.map(({ title, text }) => `${title}\n\n${text.trim()}`),
  ]
    .join(`\n\n${'─'.repeat(80)}\n\n`)
    .concat('\n')
}

/** Folders of the packages that a build includes. */
export function packagesIn({ metafile }: Bun.BuildOutput): Set<string> {
  if (!metafile) throw new Error('the build says nothing of what it read')
  const folders = new Set<string>()
  for (const path of Object.keys(metafile.inputs)) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.replaceAll('\\', '/')) ?? []
    // Paths of Bun start at the working directory.
    if (folder !== undefined) folders.add(resolve(folder))
  }
  return folders
}

/** The licence of a package: its licence files, or else that section of its README. */
export function noticeOf(folder: string): Notice {
  const described = parseJsonObject(readFileSync(join(folder, 'package.json')), descriptionBytesMax)
  const { name, version, license = 'see below' } = described ?? {}
  const title = `${name} ${version}, ${license}`
  const files = readdirSync(folder).filter((name) =>
    /^(un)?licen[cs]e|^copying|^notice/i.test(name),
  )
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
  const text = texts.length > 0 ? texts.join('\n\n') : licenceInReadme(folder)
  if (text === null) throw new Error(`${title}: the package has no licence text`)
  return { title, text }
}

function licenceInReadme(folder: string): string | null {
  const path = join(folder, 'README.md')
  if (!existsSync(path)) return null
  const [, after = ''] = readFileSync(path, 'utf8').split(/^#+ licen[cs]e\s*$/im)
  const text = (after.split(/^#/m)[0] ?? '').trim()
  // A name or a link alone is not the text.
  return text.includes('Permission') ? text : null
}

function own(): Notice {
  return { title: `Cuponera ${version}, ${license}`, text: read('../../../LICENSE') }
}

/** Licences of parts that are no package. Their texts are in `texts`. */
function engines(): Notice[] {
  const terms = [
    ['MIT', 'mit'],
    ['BSD 3-Clause; BSD 2-Clause is the same without its third condition', 'bsd-3-clause'],
    ['zlib', 'zlib'],
    ['Apache 2.0', 'apache-2'],
    ['MPL 2.0', 'mpl-2'],
    ['LGPL 2', 'lgpl-2'],
    ['LGPL 2.1', 'lgpl-2-1'],
  ] as const
  const full = terms.map(([title, file]) => `── ${title}\n\n${text(file)}`)
  return [
    { title: `Bun ${Bun.version}, MIT and others`, text: [text('bun'), ...full].join('\n') },
    { title: 'SQLite, public domain', text: text('sqlite') },
    { title: 'libsecp256k1, MIT', text: text('libsecp256k1') + text('mit') },
  ]
}

function text(name: string): string {
  return read(`./texts/${name}.txt`)
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
