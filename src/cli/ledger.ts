import type { Config } from '../app/config.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import type { Sql } from '../db/sql.ts'
import { npubOf, parsePubkey } from '../nostr/keys.ts'
import type { Issue, Issued } from '../wallet/ledger/issue.ts'
import { type Account, createLedgerStore, type LedgerStore } from '../wallet/ledger/store.ts'
import { type Token, tokenText } from '../wallet/ledger/token.ts'
import { readDatabase, withDatabase } from './control.ts'

/** Print the balances of all accounts, or of one key. */
export async function balances(config: Config, key: string | undefined): Promise<number> {
  return withLedger(config, async (ledger, tokens) => {
    const only = key === undefined ? null : pubkeyIn(key)
    for (const token of tokens) {
      for await (const { pubkey, balance } of accountsOf(ledger, token, only)) {
        console.log(`${token.name}\t${tokenText(balance, token.decimals)}\t${npubOf(pubkey)}`)
      }
    }
    return 0
  })
}

/** Issue tokens through the running server, which signs and settles with the manager key. */
export async function issue(config: Config, asked: Issue): Promise<number> {
  const issued = await withDatabase(config, {
    async alone(): Promise<Issued> {
      throw new OperatorError(
        'no server is running: start it first, because it settles the transaction',
      )
    },
    running: (server) => server.ask<Issued>('POST', 'issue', asked),
  })
  const { token, amount, npub, balance, id } = issued
  console.log(`${amount} ${token} to ${npub}, who has ${balance} now (${id})`)
  return 0
}

/** Print the movements of a key as CSV (RFC 4180), oldest first. */
export async function statement(
  config: Config,
  key: string,
  only: string | undefined,
): Promise<number> {
  return withLedger(config, async (ledger, tokens) => {
    if (only !== undefined && !tokens.some(({ name }) => name === only)) {
      throw new OperatorError(`no token is called ${only}`)
    }
    const pubkey = pubkeyIn(key)
    console.log('time,token,amount,balance,counterparty,memo,event')
    for (const token of tokens.filter(({ name }) => only === undefined || name === only)) {
      for await (const account of accountsOf(ledger, token, pubkey)) {
        for (const line of await linesOf(ledger, account, token)) console.log(line)
      }
    }
    return 0
  })
}

/** Lines of one account. Movements are read newest first, because only the newest balance is stored. */
async function linesOf(ledger: LedgerStore, account: Account, token: Token): Promise<string[]> {
  const lines: string[] = []
  let { balance } = account
  let before = Number.MAX_SAFE_INTEGER
  while (lines.length < limits.statementRowsMax) {
    const page = await ledger.movements(account, before, limits.statementPageRows)
    for (const { at, amount, counterparty, memo, eventId } of page) {
      const cells = [
        new Date(at * 1000).toISOString(),
        token.name,
        tokenText(amount, token.decimals),
        tokenText(balance, token.decimals),
        npubOf(counterparty),
        csvCell(memo ?? ''),
        eventId,
      ]
      lines.push(cells.join(','))
      balance -= amount
    }
    const last = page.at(-1)
    if (!last) break
    before = last.id
  }
  return lines.reverse()
}

/**
 * An untrusted text as a CSV cell: quoted, and never a formula. Spreadsheets read a text that begins with one of
 * these characters as a formula, also after white space and in full-width form.
 */
export function csvCell(text: string): string {
  const guarded = /^[\s\p{Cc}]*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text
  return `"${guarded.replaceAll('"', '""')}"`
}

/** Accounts of a token, or those of one key, in pages, because there may be millions. */
async function* accountsOf(ledger: LedgerStore, { name }: Token, only: string | null) {
  if (only !== null) {
    const found = await ledger.accountsOf(only)
    yield* found.filter(({ token }) => token === name)
    return
  }
  let after = 0
  for (;;) {
    const page = await ledger.accountsOfToken(name, after, limits.statementPageRows)
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last.id
  }
}

function pubkeyIn(key: string): string {
  const pubkey = parsePubkey(key)
  if (pubkey === null) throw new OperatorError('that is no public key: npub or hex')
  return pubkey
}

/** Read the ledger in one snapshot. It works while a server runs, because readers do not block the writer. */
async function withLedger(
  config: Config,
  command: (ledger: LedgerStore, tokens: Token[]) => Promise<number>,
): Promise<number> {
  const read = async (sql: Sql) => {
    const ledger = createLedgerStore(sql)
    return command(ledger, await ledger.tokens())
  }
  if (config.databaseUrl === null) return readDatabase(config, read)
  const { inspectServer } = await import('../db/postgres/inspect.ts')
  return inspectServer(config.databaseUrl, read)
}
