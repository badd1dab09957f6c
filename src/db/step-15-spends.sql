ALTER TABLE card_spends RENAME TO spends_before;
DROP INDEX card_spends_counting;
CREATE TABLE card_spends (
  payment_id INTEGER NOT NULL REFERENCES card_payments (id),
  -- Of the payment, as is the time: what limits are summed by. Who held the card then: the next holder begins anew.
  card_id INTEGER NOT NULL,
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  token TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  at INTEGER NOT NULL,
  counts INTEGER NOT NULL CHECK (counts IN (0, 1)),
  PRIMARY KEY (payment_id, token)
) STRICT, WITHOUT ROWID;
-- The tap of what counts is kept; of the rest it may be gone, and a zero key counts for nobody.
INSERT INTO card_spends
  SELECT b.payment_id, b.card_id, coalesce(s.holder, c.holder, zeroblob(32)), b.token, b.amount, b.at, b.counts
  FROM spends_before b
    JOIN card_payments p ON p.id = b.payment_id
    JOIN cards c ON c.id = b.card_id
    LEFT JOIN card_scans s ON s.k1_hash = p.k1_hash;
DROP TABLE spends_before;
CREATE INDEX card_spends_counting ON card_spends (card_id, holder, token, at, amount)
  WHERE counts = 1;
