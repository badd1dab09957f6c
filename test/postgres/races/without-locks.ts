/** Loaded into a node with `--preload`, it leaves out every lock of roots: the control of races. */
import { Connection } from '../../../src/db/postgres/connection.ts'
import { nothing, onlyLocks } from './lock-statements.ts'

const send = Connection.prototype.sendWithin
Connection.prototype.sendWithin = function (this: Connection, text, params) {
  return onlyLocks(text) ? Promise.resolve(nothing) : send.call(this, text, params)
}
