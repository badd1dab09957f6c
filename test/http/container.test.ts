import { expect, test } from 'bun:test'
import { type Ask, canContain, gateway, neighbour, visitContainer } from '../support/container.ts'

const permitted = await canContain()
const path = '/api/coupons'
const lan = '192.168.1.10:3000'
const token = 'a-token-of-thirty-two-characters'

test.skipIf(!permitted)(
  'the host of a container may sign for localhost, and other devices need PUBLIC_URL',
  async () => {
    const asks: [ask: Ask, status: number][] = [
      [{ path, from: gateway, host: 'localhost:3000', signs: true }, 200],
      [{ path, from: gateway, host: '127.0.0.1:8080', signs: true }, 200],
      [{ path, from: gateway, host: '172.30.0.2:3000', signs: true }, 200],
      [{ path, from: neighbour, host: 'localhost:3000', signs: true }, 401],
      [{ path, from: neighbour, host: lan, signs: true }, 401],
      [{ path, from: gateway, host: lan, signs: true }, 401],
      [{ path: '/metrics', from: gateway, host: 'localhost:3000' }, 403],
      [{ path: '/caja', from: neighbour, host: lan }, 200],
      [{ path: '/livez', from: neighbour, host: lan }, 200],
    ]
    const { statuses, errors, output } = await visitContainer(
      {},
      asks.map(([ask]) => ask),
    )
    expect(statuses).toEqual(asks.map(([, status]) => status))
    expect(errors[4]).toContain(`Configurá PUBLIC_URL=http://${lan} `)
    expect(output).toMatch(/names {7}\S.*172\.30\.0\.2/)
    expect(output).toMatch(/in a container .*: PUBLIC_URL=http:\/\/ADDRESS-OF-ITS-HOST:\d+/)
    expect(output).toContain(
      `"hint":"if this service is to be found there: PUBLIC_URL=http://${lan}"`,
    )
  },
)

test.skipIf(!permitted)('with PUBLIC_URL they sign in, and a token opens the metrics', async () => {
  const headers: Ask['headers'] = [['Authorization', `Bearer ${token}`]]
  const asks: [ask: Ask, status: number][] = [
    [{ path, from: neighbour, host: lan, signs: true }, 200],
    [{ path, from: gateway, host: 'localhost:3000', signs: true }, 401],
    [{ path: '/metrics', from: neighbour, host: lan }, 403],
    [{ path: '/metrics', from: neighbour, host: lan, headers }, 200],
  ]
  const env = { PUBLIC_URL: `http://${lan}`, METRICS_TOKEN: token }
  const { statuses, output } = await visitContainer(
    env,
    asks.map(([ask]) => ask),
  )
  expect(statuses).toEqual(asks.map(([, status]) => status))
  expect(output).not.toContain('ADDRESS-OF-ITS-HOST')
})
