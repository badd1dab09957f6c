-- What was asked of a k1, and what came of it. A settled payment stays for ever.
CREATE TABLE card_payments (
  id INTEGER NOT NULL PRIMARY KEY,
  -- The k1 by its hash, as in card_scans; the row there may be gone once the k1 has expired unused.
  k1_hash BLOB NOT NULL CHECK (length(k1_hash) = 16),
  -- Who asks the same again gets the same outcome: the id of the event, or the sha256 of the invoice.
  request BLOB NOT NULL CHECK (length(request) = 32),
  card_id INTEGER NOT NULL REFERENCES cards (id),
  recipient BLOB NOT NULL CHECK (length(recipient) = 32),
  -- JSON: decimal strings by token.
  amounts TEXT NOT NULL CHECK (json_valid(amounts)),
  -- Of the invoice (BOLT 11), which is paid once.
  payment_hash BLOB CHECK (length(payment_hash) = 32),
  -- The start event, and the key of the ledger that it names; null where it did not come to that.
  start_id BLOB UNIQUE CHECK (length(start_id) = 32),
  ledger BLOB CHECK (length(ledger) = 32),
  -- `released`: the start event has expired without an answer, so the reservation was let go.
  state TEXT NOT NULL CHECK (state IN ('pending', 'settled', 'refused', 'released')),
  -- Why not: a code, and the words of the ledger where it gave any.
  code TEXT,
  message TEXT,
  -- The ledger's answer came after the reservation was let go, or was another one before.
  late INTEGER NOT NULL DEFAULT 0 CHECK (late IN (0, 1)),
  created_at INTEGER NOT NULL,
  -- Of the start event (NIP-40).
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((state = 'pending') = (ended_at IS NULL)),
  CHECK ((state = 'refused') = (code IS NOT NULL)),
  CHECK (start_id IS NOT NULL OR state = 'refused'),
  CHECK ((start_id IS NULL) = (ledger IS NULL)),
  UNIQUE (k1_hash, request)
) STRICT;
CREATE INDEX card_payments_pending ON card_payments (expires_at) WHERE state = 'pending';
CREATE UNIQUE INDEX card_payments_in_flight ON card_payments (k1_hash) WHERE state = 'pending';
CREATE INDEX card_payments_by_invoice ON card_payments (payment_hash)
  WHERE payment_hash IS NOT NULL AND state IN ('pending', 'settled');
CREATE INDEX card_payments_by_card ON card_payments (card_id);

-- What a payment takes from the limits of its card: reserved or spent while it counts.
CREATE TABLE card_spends (
  payment_id INTEGER NOT NULL REFERENCES card_payments (id),
  -- Of the payment, as is the time: what limits are summed by.
  card_id INTEGER NOT NULL,
  token TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  at INTEGER NOT NULL,
  counts INTEGER NOT NULL CHECK (counts IN (0, 1)),
  PRIMARY KEY (payment_id, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_spends_counting ON card_spends (card_id, token, at, amount) WHERE counts = 1;
