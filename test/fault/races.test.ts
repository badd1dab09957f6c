import { afterAll, expect, test } from 'bun:test'
import { cleanUp } from '../support/server.ts'
import { races, runRaces } from './races.ts'

afterAll(cleanUp)

test(`races between processes end as promised: ${Object.keys(races).join('; ')}`, async () => {
  expect(await runRaces(2)).toEqual([])
})
