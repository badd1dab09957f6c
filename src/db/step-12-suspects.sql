-- Some relays close the connection at an event they do not like: such a one must not hold up the others.
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
  -- The connection ended while it was under way: it goes alone, and after all others.
  suspect INTEGER NOT NULL DEFAULT 0 CHECK (suspect IN (0, 1)),
  PRIMARY KEY (outbox_id, relay)
) STRICT, WITHOUT ROWID;
INSERT INTO deliveries (outbox_id, relay, state, attempts, next_at, last_error)
  SELECT outbox_id, relay, state, attempts, next_at, last_error FROM kept;
DROP TABLE kept;
CREATE INDEX deliveries_due ON deliveries (relay, suspect, next_at, outbox_id)
  WHERE state = 'pending';
