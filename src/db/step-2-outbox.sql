-- Events on their way to relays. One row an event, whatever becomes of it.
CREATE TABLE outbox (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  -- The event as JSON, and its length in bytes; dropped when every delivery has ended.
  event TEXT,
  bytes INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  -- After 72 h, or when the event expires, or soon for ephemeral kinds.
  give_up_at INTEGER NOT NULL,
  done_at INTEGER,
  CHECK ((event IS NULL) = (done_at IS NOT NULL))
) STRICT;
CREATE INDEX outbox_open ON outbox (give_up_at) WHERE done_at IS NULL;
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;

-- One row, kept in step: what waits, so that the limit is checked without counting.
CREATE TABLE outbox_load (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  events INTEGER NOT NULL CHECK (events >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;
INSERT INTO outbox_load (id, events, bytes) VALUES (1, 0, 0);

CREATE TABLE deliveries (
  outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
  relay TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'delivered', 'refused', 'expired')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  -- What the relay or the way there said last.
  last_error TEXT,
  PRIMARY KEY (outbox_id, relay)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (relay, next_at, outbox_id) WHERE state = 'pending';
