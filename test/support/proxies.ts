/** nginx and Caddy with the blocks of docs/operations.md, as printed but for places, in front of a service. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shopCertificate } from './certificates.ts'
import { newPort } from './ports.ts'
import { connectTo } from './raw.ts'
import { newDirectory } from './server.ts'
import { until } from './until.ts'

/** The public name of the page. */
export const publicUrl = 'https://cupones.example'

export type RunningProxy = {
  /** Where it listens. */
  url: string
  /** A directory in place of `/var/log/nginx`. */
  logs: string
}

const children = new Set<ReturnType<typeof Bun.spawn>>()

/** End the proxies of a test: for `afterAll`. */
export async function stopProxies(): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all([...children].map(({ exited }) => exited))
  children.clear()
}

/** Start nginx with what belongs into its `http { … }` and its `server { … }`. */
export function startNginx(
  nginx: string,
  service: string,
  block: { http?: string; server: string },
): Promise<RunningProxy> {
  return start((port, folder) => {
    const printed = (text: string) =>
      text.replaceAll('http://127.0.0.1:3000', service).replaceAll('/var/log/nginx', folder)
    writeFileSync(join(folder, 'cert.pem'), shopCertificate.cert)
    writeFileSync(join(folder, 'key.pem'), shopCertificate.key)
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const config = join(folder, 'nginx.conf')
    writeFileSync(
      config,
      `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
${places.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
access_log off;
${printed(block.http ?? '')}
server {
listen 127.0.0.1:${port} ssl;
server_name cupones.example;
ssl_certificate cert.pem;
ssl_certificate_key key.pem;
${printed(block.server)}
}
}
`,
    )
    return [nginx, '-e', 'stderr', '-p', folder, '-c', config]
  })
}

/** Start Caddy, with an authority of its own for the name of the block. */
export function startCaddy(caddy: string, service: string, block: string): Promise<RunningProxy> {
  return start((port, folder) => {
    const config = join(folder, 'Caddyfile')
    writeFileSync(
      config,
      `{
admin off
auto_https disable_redirects
local_certs
skip_install_trust
https_port ${port}
default_bind 127.0.0.1
}
${block.replace('127.0.0.1:3000', new URL(service).host)}`,
    )
    return [caddy, 'run', '--config', config, '--adapter', 'caddyfile']
  })
}

async function start(prepare: (port: number, folder: string) => string[]): Promise<RunningProxy> {
  for (let attempt = 1; ; attempt++) {
    const [port, folder] = [newPort(), newDirectory()]
    const child = Bun.spawn(prepare(port, folder), {
      env: { PATH: process.env.PATH, HOME: folder },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    })
    children.add(child)
    const errors = new Response(child.stderr).text()
    const url = `https://127.0.0.1:${port}`
    await until('the proxy listens', async () => child.exitCode !== null || (await listens(url)))
    if (child.exitCode === null) return { url, logs: folder }
    children.delete(child)
    const said = await errors
    if (attempt === 5 || !said.includes('in use')) throw new Error(`the proxy ended: ${said}`)
  }
}

async function listens(url: string): Promise<boolean> {
  const socket = connectTo(url, { name: 'cupones.example' })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.on('secureConnect', () => resolve(true)).on('error', () => resolve(false))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}
