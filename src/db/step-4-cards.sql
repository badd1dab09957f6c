-- NTAG 424 DNA cards: a row for each time a tag was initialised. None of their keys is here: they
-- follow from CARD_MASTER_KEY, the UID and the version.
CREATE TABLE cards (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  -- The UID of the tag.
  cid BLOB NOT NULL CHECK (length(cid) = 7),
  key_version INTEGER NOT NULL CHECK (key_version BETWEEN 1 AND 255),
  -- The highest counter that a genuine tap brought: only higher ones pass.
  counter INTEGER NOT NULL CHECK (counter BETWEEN 0 AND 16777215),
  -- 0 after a restore, when the card may have counted on meanwhile: no tap passes then.
  counter_known INTEGER NOT NULL DEFAULT 1 CHECK (counter_known IN (0, 1)),
  design_uuid TEXT NOT NULL CHECK (length(design_uuid) = 36),
  design_name TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  -- What the holder wants, and what the operator does: it works when the one is 1 and the other 0.
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  blocked INTEGER NOT NULL DEFAULT 0 CHECK (blocked IN (0, 1)),
  holder BLOB CHECK (length(holder) = 32),
  -- Conditions and token of the holder's delegation (NIP-26), sealed under the store key.
  delegation BLOB,
  created_at INTEGER NOT NULL,
  activated_at INTEGER,
  deleted_at INTEGER,
  CHECK ((holder IS NULL) = (delegation IS NULL)),
  CHECK ((holder IS NULL) = (activated_at IS NULL)),
  UNIQUE (cid, key_version)
) STRICT;
CREATE UNIQUE INDEX cards_alive ON cards (cid) WHERE deleted_at IS NULL;
CREATE INDEX cards_by_holder ON cards (holder, id) WHERE holder IS NOT NULL AND deleted_at IS NULL;

-- One-time codes that activate a card.
CREATE TABLE card_codes (
  id INTEGER NOT NULL PRIMARY KEY,
  -- HMAC of the code under the store key: a code may be a word that could be guessed.
  mac BLOB NOT NULL UNIQUE CHECK (length(mac) = 32),
  card_id INTEGER NOT NULL REFERENCES cards (id),
  -- 1: chosen by a writer or the operator; 0: what the initialisation gave, and gives way to a chosen one.
  chosen INTEGER NOT NULL CHECK (chosen IN (0, 1)),
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX card_codes_open ON card_codes (card_id) WHERE used_at IS NULL;
CREATE INDEX card_codes_by_card ON card_codes (card_id);

-- What a card may spend of a token within so many seconds; with 0 seconds, in one payment.
CREATE TABLE card_limits (
  id INTEGER NOT NULL PRIMARY KEY,
  card_id INTEGER NOT NULL REFERENCES cards (id),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  token TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount >= 0),
  delta_seconds INTEGER NOT NULL CHECK (delta_seconds >= 0)
) STRICT;
CREATE INDEX card_limits_by_card ON card_limits (card_id);

-- Where a holder's cards pay, when there are any; else everywhere.
CREATE TABLE trusted_merchants (
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  merchant BLOB NOT NULL CHECK (length(merchant) = 32),
  PRIMARY KEY (holder, merchant)
) STRICT, WITHOUT ROWID;

-- The newest changes that a holder made (several within a second), so that none is made twice or too late.
CREATE TABLE card_changes (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX card_changes_by_holder ON card_changes (holder, created_at);

-- What a tap was answered with: a k1 that pays once, soon.
CREATE TABLE card_scans (
  id INTEGER NOT NULL PRIMARY KEY,
  -- The first 16 bytes of sha256(k1). The k1 itself is never stored.
  k1_hash BLOB NOT NULL UNIQUE CHECK (length(k1_hash) = 16),
  card_id INTEGER NOT NULL REFERENCES cards (id),
  -- Whose card it was then.
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  form TEXT NOT NULL CHECK (form IN ('standard', 'extended')),
  -- The most it pays of each token, as JSON: decimal strings by token.
  maxima TEXT NOT NULL CHECK (json_valid(maxima)),
  state TEXT NOT NULL DEFAULT 'free' CHECK (state IN ('free', 'in-flight', 'used')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX card_scans_by_card ON card_scans (card_id);
CREATE INDEX card_scans_free ON card_scans (expires_at) WHERE state = 'free';
