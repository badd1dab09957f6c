PRAGMA user_version = 1;

CREATE TABLE state (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  clean INTEGER NOT NULL CHECK (clean IN (0, 1)),
  newest_write INTEGER NOT NULL
) STRICT;
INSERT INTO state (id, clean, newest_write) VALUES (1, 1, 0);

CREATE TABLE events (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 65535 AND kind <> 20402),
  created_at INTEGER NOT NULL,
  -- Replaceable: empty. Addressable: the d tag. Any other kind: null.
  d TEXT,
  -- NIP-40, Unix seconds.
  expires_at INTEGER,
  -- The event as JSON, its seven fields.
  event TEXT NOT NULL
) STRICT;
-- Newest first and, at the same second, lower id first: the order of NIP-01.
CREATE INDEX events_by_time ON events (created_at DESC, event_id);
CREATE INDEX events_by_kind ON events (kind, created_at DESC, event_id);
CREATE INDEX events_by_author ON events (pubkey, created_at DESC, event_id);
CREATE INDEX events_by_author_kind ON events (pubkey, kind, created_at DESC, event_id);
CREATE UNIQUE INDEX events_by_address ON events (pubkey, kind, d) WHERE d IS NOT NULL;
CREATE INDEX events_by_expiry ON events (expires_at) WHERE expires_at IS NOT NULL;

-- Single-letter tags. `d+`: a further d tag of an addressable event, as kind:pubkey:d.
CREATE TABLE tags (
  letter TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  id INTEGER NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  PRIMARY KEY (letter, value, created_at DESC, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_event ON tags (id);

-- Deletions of an author (NIP-09): these events stay out, also when they come later.
CREATE TABLE deletions (
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  -- An event id in hex, or `kind:d` of an address.
  target TEXT NOT NULL,
  -- For an address: versions up to then.
  upto INTEGER NOT NULL,
  PRIMARY KEY (pubkey, target)
) STRICT, WITHOUT ROWID;
