import { expect, test } from 'bun:test'
import { diskFailure } from '../../src/db/disk-error.ts'
import { StatementFailed } from '../../src/db/postgres/connection.ts'

test('a server that has no room, or whose disk fails, counts as such a disk', () => {
  const full = new StatementFailed('53100', 'could not extend file')
  expect(diskFailure(full)).toMatchObject({ code: '53100', full: true })
  expect(diskFailure(new StatementFailed('58030', 'could not read'))).toMatchObject({ full: false })
  expect(diskFailure(new StatementFailed('23505', 'duplicate key'))).toBeNull()
})
