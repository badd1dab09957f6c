// Writes the types of the client from the OpenAPI document of the program: `npm run client-types`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ApiDocument } from '../../src/http/openapi.ts'
import { describeTypes } from './types.ts'

const root = resolve(import.meta.dir, '../..')
const folder = join('src', 'client', 'described')

/** The files of the types in their final form, by name. */
export async function formTypes(document: ApiDocument): Promise<Record<string, string>> {
  const formed = Object.entries(describeTypes(document)).map(async ([name, text]) => {
    const biome = Bun.spawn(
      [
        join(root, 'node_modules', '.bin', 'biome'),
        ...['check', '--write', `--stdin-file-path=${join(folder, name)}`],
      ],
      { cwd: root, stdin: new Blob([text]), stderr: 'pipe' },
    )
    const [out, err] = await Promise.all([
      new Response(biome.stdout).text(),
      new Response(biome.stderr).text(),
    ])
    if ((await biome.exited) !== 0) throw new Error(`${name}: ${err}`)
    return [name, out] as const
  })
  return Object.fromEntries(await Promise.all(formed))
}

/** The document of a service that starts for it alone. */
async function fetchDocument(): Promise<ApiDocument> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cuponera-types-'))
  const service = Bun.spawn([process.execPath, join(root, 'src/main.ts'), 'serve'], {
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir },
  })
  try {
    let output = ''
    const decoder = new TextDecoder()
    for await (const chunk of service.stdout) {
      output += decoder.decode(chunk, { stream: true })
      const [, url] = /address\s+(http\S+)/.exec(output) ?? []
      if (url !== undefined)
        return (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument
    }
    throw new Error(`the service ended: ${output}`)
  } finally {
    service.kill()
    await service.exited
    rmSync(dataDir, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const files = await formTypes(await fetchDocument())
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, folder, name), text)
}
