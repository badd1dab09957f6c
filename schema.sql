PRAGMA user_version = 3;

-- Facts about the file itself: 'manager' (the pinned public key, hex), 'store-key' (its fingerprint).
CREATE TABLE facts (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: whether the last process closed the file, and how late it was at the newest write.
CREATE TABLE state (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  clean INTEGER NOT NULL CHECK (clean IN (0, 1)),
  newest_write INTEGER NOT NULL
) STRICT;
INSERT INTO state (id, clean, newest_write) VALUES (1, 1, 0);

-- What a merchant authors. The words and the benefit stand in the current revision.
CREATE TABLE definitions (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  revision_id INTEGER NOT NULL,
  max_uses INTEGER CHECK (max_uses BETWEEN 1 AND 1000000),
  -- issued = open + claimed + voided, following refreshes; `minted` on the wire is issued - voided.
  issued INTEGER NOT NULL DEFAULT 0 CHECK (issued >= 0),
  claimed INTEGER NOT NULL DEFAULT 0 CHECK (claimed >= 0),
  voided INTEGER NOT NULL DEFAULT 0 CHECK (voided >= 0),
  archived_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK (claimed + voided <= issued),
  FOREIGN KEY (id, revision_id) REFERENCES revisions (definition_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX definitions_by_owner ON definitions (owner, id);
CREATE INDEX definitions_open ON definitions (owner, id) WHERE archived_at IS NULL;

-- What a voucher promises. Immutable from the first voucher that points to it.
CREATE TABLE revisions (
  id INTEGER NOT NULL PRIMARY KEY,
  definition_id INTEGER NOT NULL REFERENCES definitions (id) DEFERRABLE INITIALLY DEFERRED,
  -- `issued` of the definition when this revision came: while equal, no voucher points here.
  issued_before INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  image TEXT,
  benefit TEXT NOT NULL CHECK (json_valid(benefit)),
  expires_at INTEGER,
  -- Also what foreign keys find a revision by: without it they would walk through all vouchers.
  UNIQUE (definition_id, id)
) STRICT;

CREATE TABLE vouchers (
  id INTEGER NOT NULL PRIMARY KEY,
  -- The first 16 bytes of sha256(nonce). The nonce itself is never stored.
  handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  revision_id INTEGER NOT NULL,
  -- The voucher first minted, null when this is it.
  root_id INTEGER,
  minted_by BLOB NOT NULL CHECK (length(minted_by) = 32),
  minted_at INTEGER NOT NULL,
  phase TEXT NOT NULL DEFAULT 'minted' CHECK (phase IN ('minted', 'claimed', 'refreshed', 'voided')),
  -- When it left `minted`.
  ended_at INTEGER,
  CHECK ((phase = 'minted') = (ended_at IS NULL)),
  CHECK (root_id < id),
  UNIQUE (definition_id, id),
  FOREIGN KEY (definition_id, revision_id) REFERENCES revisions (definition_id, id),
  FOREIGN KEY (definition_id, root_id) REFERENCES vouchers (definition_id, id)
) STRICT;
-- A chain of refreshes has one end: the only voucher of it that can be, or was, spent or voided.
CREATE UNIQUE INDEX vouchers_chain_end ON vouchers (ifnull(root_id, id)) WHERE phase <> 'refreshed';

-- What burned a voucher, and the answer to repeat for ever. The id is the successor's.
CREATE TABLE refreshes (
  id INTEGER NOT NULL PRIMARY KEY REFERENCES vouchers (id),
  voucher_id INTEGER NOT NULL UNIQUE REFERENCES vouchers (id),
  -- HMAC of the Idempotency-Key under the store key, bound to the nonce.
  key_mac BLOB NOT NULL CHECK (length(key_mac) = 32),
  -- The answer, readable only with the store key, the old nonce and the Idempotency-Key.
  sealed BLOB NOT NULL
) STRICT;

CREATE TABLE redemptions (
  id INTEGER NOT NULL PRIMARY KEY,
  voucher_id INTEGER NOT NULL UNIQUE REFERENCES vouchers (id),
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  -- The zap request (NIP-57) as it was sent, in JSON, its event id in hex, and millisatoshi.
  zap_request TEXT,
  zap_request_id TEXT,
  amount_msat INTEGER CHECK (amount_msat >= 0)
) STRICT;
CREATE INDEX redemptions_by_owner ON redemptions (owner, id);

-- The kill switch: vouchers up to this id count as voided from then on. Rows go when all are marked.
CREATE TABLE kills (
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  upto_voucher_id INTEGER NOT NULL,
  killed_at INTEGER NOT NULL,
  swept_voucher_id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (definition_id, upto_voucher_id)
) STRICT, WITHOUT ROWID;

-- One row, kept in step with the rest: what /metrics shows without counting.
CREATE TABLE totals (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  issued INTEGER NOT NULL,
  claimed INTEGER NOT NULL,
  voided INTEGER NOT NULL,
  refreshed INTEGER NOT NULL
) STRICT;
INSERT INTO totals (id, issued, claimed, voided, refreshed) VALUES (1, 0, 0, 0, 0);

CREATE TABLE minters (
  id INTEGER NOT NULL PRIMARY KEY,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  label TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (owner, pubkey),
  CHECK (owner <> pubkey)
) STRICT;
CREATE INDEX minters_by_pubkey ON minters (pubkey, id);

-- A merchant's announcement (kind 30078): one each, the newest.
CREATE TABLE announcements (
  owner BLOB NOT NULL PRIMARY KEY CHECK (length(owner) = 32),
  event_id BLOB NOT NULL CHECK (length(event_id) = 32),
  created_at INTEGER NOT NULL,
  event TEXT NOT NULL CHECK (json_valid(event))
) STRICT;

-- The replay guard: ids of NIP-98 events already used, kept while they could still be accepted.
CREATE TABLE proofs (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  accepted_until INTEGER NOT NULL
) STRICT;

-- Answers kept for the optional Idempotency-Key, sealed under the store key and that key.
CREATE TABLE answers (
  id INTEGER NOT NULL PRIMARY KEY,
  -- HMAC of caller or nonce, route and Idempotency-Key under the store key.
  slot BLOB NOT NULL UNIQUE CHECK (length(slot) = 32),
  -- HMAC of the request's bytes.
  request BLOB NOT NULL CHECK (length(request) = 32),
  status INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

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

-- Nonces that let somebody register an identity, once each.
CREATE TABLE identity_nonces (
  id INTEGER NOT NULL PRIMARY KEY,
  -- sha256 of the nonce, which itself is never stored.
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  issuer BLOB NOT NULL CHECK (length(issuer) = 32),
  created_at INTEGER NOT NULL,
  burned_at INTEGER
) STRICT;
CREATE INDEX identity_nonces_open ON identity_nonces (issuer) WHERE burned_at IS NULL;

-- Identities: a name of this service that belongs to a key.
CREATE TABLE accounts (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^a-z0-9._-]*'),
  pubkey BLOB NOT NULL UNIQUE CHECK (length(pubkey) = 32),
  -- What the holder's own wallet answers to LUD-16, as it was registered; null: it takes no payments.
  lud16 TEXT CHECK (json_type(lud16) = 'object'),
  allow_vouchers INTEGER NOT NULL DEFAULT 1 CHECK (allow_vouchers IN (0, 1)),
  -- The nonce that registering it burned; null when the operator added it.
  nonce_id INTEGER UNIQUE REFERENCES identity_nonces (id),
  created_by BLOB NOT NULL CHECK (length(created_by) = 32),
  created_at INTEGER NOT NULL
) STRICT;

-- Request events that were granted, kept while they could still be sent again.
CREATE TABLE requests (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  -- What to answer when it comes again, in the form that its route needs; null: it is refused then.
  answer BLOB,
  accepted_until INTEGER NOT NULL
) STRICT;
