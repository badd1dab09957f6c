-- What a relay leaves without an answer must not hold up the rest.
CREATE TEMP TABLE kept AS SELECT * FROM deliveries;
DROP TABLE deliveries;
CREATE TABLE deliveries (
  outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
  relay TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'delivered', 'refused', 'expired')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  -- What the relay or the way there said last.
  last_error TEXT,
  -- The connection ended while it was under way: it goes alone, after all others or when it is its turn.
  suspect INTEGER NOT NULL DEFAULT 0 CHECK (suspect IN (0, 1)),
  -- In this order: 0 the service's own words; 1 others; 2 those of somebody who publishes a lot, and
  -- what failed before.
  lane INTEGER NOT NULL CHECK (lane IN (0, 1, 2)),
  PRIMARY KEY (outbox_id, relay)
) STRICT, WITHOUT ROWID;
INSERT INTO deliveries (outbox_id, relay, state, attempts, next_at, last_error, suspect, lane)
  SELECT outbox_id, relay, state, attempts, next_at, last_error, suspect, iif(attempts = 0, 1, 2)
  FROM kept;
DROP TABLE kept;
CREATE INDEX deliveries_due ON deliveries (relay, suspect, lane, next_at, outbox_id)
  WHERE state = 'pending';
