ALTER TABLE deliveries RENAME TO deliveries_before;
DROP INDEX deliveries_due;
CREATE TABLE deliveries (
  outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
  relay TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CHECK (state = 'pending' OR state = 'delivered' OR state = 'refused' OR state = 'expired'),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  -- The last error of the relay or of the connection to it.
  last_error TEXT,
  -- 0 events of the service; 1 events within the quota of their author; 2 events above it, and events that
  -- failed before; 3 poison events, at which the connection ended.
  priority INTEGER NOT NULL CHECK (priority = 0 OR priority = 1 OR priority = 2 OR priority = 3),
  PRIMARY KEY (outbox_id, relay)
) STRICT, WITHOUT ROWID;
INSERT INTO deliveries (outbox_id, relay, state, attempts, next_at, last_error, priority)
  SELECT outbox_id, relay, state, attempts, next_at, last_error,
    CASE WHEN suspect = 1 THEN 3 ELSE lane END FROM deliveries_before;
DROP TABLE deliveries_before;
CREATE INDEX deliveries_due ON deliveries (relay, priority, next_at, outbox_id)
  WHERE state = 'pending';
