import { limits } from '../../../base/limits.ts'
import { OperatorError } from '../../../base/operator-error.ts'
import { type CheckReport, noPause, requireSound } from '../../check-report.ts'
import { goBack } from '../../going-back.ts'
import { type Schema, versionOf } from '../../migrations.ts'
import { checkSnapshot } from '../check.ts'
import { readClock } from '../durability.ts'
import { commitDurably } from '../durable-commit.ts'
import { createSchema, readVersion } from '../schema.ts'
import { createSql } from '../statements.ts'
import { factsOfServer } from './facts.ts'
import { withoutServices } from './session.ts'

/**
 * Upgrade and check a database that was brought back, and settle what going back in time would open again. No service
 * uses it meanwhile. `now` is Unix seconds. Throws OperatorError, and then nothing is settled.
 */
export function settleBroughtBack(url: string, schema: Schema, now: number): Promise<CheckReport> {
  return withoutServices(url, async (connection) => {
    if ((await readVersion(connection)) === null) {
      throw new OperatorError(
        'the database of DATABASE_URL is none of Cuponera: bring it back first',
      )
    }
    // Sessions end by this clock, which their nodes must have been near.
    if (Math.abs((await readClock(connection)) - now) > limits.clockBackSeconds) {
      throw new OperatorError('the clocks of this computer and of the server are apart: set them')
    }
    const { moved, arriving } = await factsOfServer(connection)
    if (moved !== undefined || arriving !== undefined) {
      throw new OperatorError('the database of DATABASE_URL is closed by "cuponera move"')
    }
    await createSchema(connection, schema)
    if ((await readVersion(connection)) !== versionOf(schema)) {
      throw new OperatorError(
        'a newer program has upgraded the database of DATABASE_URL: use that one',
      )
    }
    await connection.send('BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE', [])
    const check = await checkSnapshot(connection, noPause)
    requireSound('the database of DATABASE_URL', check)
    const send = connection.send.bind(connection)
    await goBack(createSql({ send, post: send }), now)
    await commitDurably(connection)
    return check
  })
}
