/** A folder on a file system without links, such as that of a memory stick. */
import { afterAll, expect, mock, test } from 'bun:test'
import * as fs from 'node:fs'
import { cleanUp, newDirectory } from '../support/server.ts'

afterAll(cleanUp)

let tried = 0
const whole = { ...fs }
const linkSync = () => {
  tried++
  // On exFAT: other systems say EPERM, ENOTSUP or EACCES.
  throw Object.assign(new Error('no links'), { code: 'EISDIR' })
}
mock.module('node:fs', () => ({ ...whole, linkSync }))
const { openFolder } = await import('../../src/client/folder.ts')

test('it keeps the first text of a name, and no unfinished file', () => {
  const path = newDirectory()
  const folder = openFolder(path)
  const added = ['first', 'second'].map((text) => folder.add('once:sale', text))
  expect([added, tried]).toEqual([[true, false], 2])
  expect([folder.get('once:sale'), whole.readdirSync(path).length]).toEqual(['first', 1])
})
