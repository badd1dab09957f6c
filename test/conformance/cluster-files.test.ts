/** The files beside docs/cluster.md that nothing here can run whole: the compose file, and the balancer. */
import { afterAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { settings } from '../../src/app/settings.ts'
import { shopCertificate } from '../support/certificates.ts'
import { blockWith, readText, root } from '../support/printed.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const haproxy = Bun.which('haproxy', { PATH: `${process.env.PATH}:/usr/sbin` })
if (haproxy === null) console.log('left out: the balancers before HAProxy (it is not installed)')

afterAll(cleanUp)

type Service = {
  image?: string
  build?: { dockerfile_inline?: string }
  depends_on?: string[]
  entrypoint?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  configs?: { source: string }[]
}

type Compose = { services: Record<string, Service>; configs: Record<string, { content: string }> }
const compose = Bun.YAML.parse(readText('docs/cluster/compose.yaml')) as Compose
const names = Object.keys(compose.services)

test('the compose file has all that its services name', () => {
  const servers = ['db1', 'db2', 'db3']
  const nodes = ['node1', 'node2', 'node3']
  expect(names).toEqual(['etcd', ...servers, 'prepare', ...nodes, 'balancer'])
  for (const [name, service] of Object.entries(compose.services)) {
    const { depends_on: needs = [], configs = [], volumes = [] } = service
    const files = volumes
      .map((one) => one.split(':')[0] ?? '')
      .filter((one) => one.startsWith('./'))
    expect({
      name,
      image: service.image,
      unknown: needs.filter((one) => !names.includes(one)),
    }).toEqual({ name, image: expect.stringMatching(/^\S+$/), unknown: [] })
    for (const { source } of configs) expect(Object.keys(compose.configs)).toContain(source)
    for (const file of files) expect(statSync(join(root, 'docs/cluster', file)).isFile()).toBe(true)
  }
  const known = Object.values(settings).map(({ variable }) => variable as string)
  for (const name of nodes) {
    const environment = compose.services[name]?.environment ?? {}
    expect(environment.NODE_NAME).toBe(name)
    expect(environment.DATABASE_URL).toContain(`@${servers.join(',')}/cuponera`)
    expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([])
    expect(
      compose.configs.balancer?.content.match(new RegExp(`server ${name} ${name}:3000`, 'g')),
    ).toHaveLength(2)
  }
})

test('its servers run Patroni with the file, the variables and the version of the page', () => {
  const [command] = /(?<=^ExecStart=).*$/m.exec(readText('docs/cluster/patroni.service')) ?? []
  const [program = '', file = ''] = command?.replace('/usr/bin/', '').split(' ') ?? []
  const { postgresql } = Bun.YAML.parse(readText('docs/cluster/patroni.yml')) as {
    postgresql: { data_dir: string; bin_dir: string }
  }
  const made = dirname(postgresql.data_dir)
  const version = basename(made)
  expect(postgresql.bin_dir).toBe(`/usr/lib/postgresql/${version}/bin`)
  const block = blockWith('docs/cluster.md', 'PATRONI_NAME').trim()
  const printed = new Set(block.split('\n').map((line) => line.trim().replace(/=.*/, '')))
  for (const name of ['db1', 'db2', 'db3']) {
    const { entrypoint, volumes, environment = {}, build } = compose.services[name] ?? {}
    expect(entrypoint).toEqual([program, file])
    expect(volumes).toEqual([`./patroni.yml:${file}:ro`])
    expect(new Set(Object.keys(environment))).toEqual(printed)
    expect(environment.PATRONI_NAME).toBe(name)
    expect(environment.PATRONI_POSTGRESQL_CONNECT_ADDRESS).toBe(`${name}:5432`)
    expect(build?.dockerfile_inline).toStartWith(`FROM postgres:${version}-`)
    expect(build?.dockerfile_inline).toContain(
      `install -d -o postgres -g postgres -m 0700 ${made}\n`,
    )
  }
})

/** Messages of HAProxy on a file with a certificate and resolvers of this machine. Empty: it takes the file. */
function refusalOf(config: string): string {
  const folder = newDirectory()
  writeFileSync(join(folder, 'cert.pem'), `${shopCertificate.cert}\n${shopCertificate.key}`)
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, config.replace('/etc/haproxy/cupones.example.pem', join(folder, 'cert.pem')))
  const { status, stderr } = spawnSync(haproxy ?? '', ['-c', '-f', file], { encoding: 'utf8' })
  return status === 0 ? '' : stderr
}

test('HAProxy takes both balancers, and refuses a spoilt one', () => {
  if (haproxy === null) return
  const alone = readText('docs/cluster/haproxy.cfg')
  for (const config of [alone, compose.configs.balancer?.content ?? '']) {
    expect(refusalOf(config)).toBe('')
    expect(refusalOf(config.replace('option httpchk', 'option httpcheck'))).toContain('httpcheck')
  }
})
