-- The tokens of the embedded ledger as they were first used: their terms stay while accounts rest on them.
CREATE TABLE ledger_tokens (
  name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 16),
  decimals INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 18),
  issuer BLOB NOT NULL CHECK (length(issuer) = 32)
) STRICT, WITHOUT ROWID;

-- What a key has of a token, in its smallest unit. Only its issuer may be below zero: that is issuing.
CREATE TABLE ledger_accounts (
  id INTEGER NOT NULL PRIMARY KEY,
  token TEXT NOT NULL REFERENCES ledger_tokens (name),
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  issuer INTEGER NOT NULL CHECK (issuer IN (0, 1)),
  balance INTEGER NOT NULL DEFAULT 0
    CHECK (balance BETWEEN -8000000000000000000 AND 8000000000000000000),
  -- `created_at` of the last balance event, and what caused the one that is owed.
  published_at INTEGER NOT NULL DEFAULT 0,
  stale_cause BLOB CHECK (length(stale_cause) = 32),
  CHECK (balance >= 0 OR issuer = 1),
  UNIQUE (token, pubkey)
) STRICT;
CREATE INDEX ledger_accounts_by_pubkey ON ledger_accounts (pubkey, token);
CREATE INDEX ledger_accounts_by_token ON ledger_accounts (token, id);
CREATE INDEX ledger_accounts_stale ON ledger_accounts (published_at) WHERE stale_cause IS NOT NULL;

-- A settled start event (kind 1112), for ever: once per event id.
CREATE TABLE ledger_movements (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  -- The ledger's internal-transaction-ok.
  answer_id BLOB NOT NULL CHECK (length(answer_id) = 32),
  sender BLOB NOT NULL CHECK (length(sender) = 32),
  receiver BLOB NOT NULL CHECK (length(receiver) = 32),
  memo TEXT,
  settled_at INTEGER NOT NULL,
  CHECK (sender <> receiver)
) STRICT;

-- Double entry: per movement and token the amounts sum to zero.
CREATE TABLE ledger_entries (
  movement_id INTEGER NOT NULL REFERENCES ledger_movements (id),
  account_id INTEGER NOT NULL REFERENCES ledger_accounts (id),
  amount INTEGER NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (movement_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entries_by_account ON ledger_entries (account_id, movement_id);

-- Start events that were refused, while they could still be sent again.
CREATE TABLE ledger_refusals (
  event_id BLOB NOT NULL PRIMARY KEY CHECK (length(event_id) = 32),
  answer_id BLOB NOT NULL CHECK (length(answer_id) = 32),
  messages TEXT NOT NULL CHECK (json_valid(messages)),
  forget_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_refusals_by_age ON ledger_refusals (forget_at);
