PRAGMA user_version = 33;

-- A CHECK names three or more constants with OR: for IN with so many, SQLite builds an ephemeral table at each INSERT. Files
-- made before keep IN.

-- Facts about this database: 'manager' (its public key, hex), 'store-key' and 'card-key' (fingerprints, the
-- latter from the first card on), 'restored' (it was restored from a backup), 'exposed' (a request came
-- through a proxy, so that other machines reach the service), 'moved' (Unix seconds: the service goes on at
-- another computer or in another database, and must not run from here), 'moved-to' (the kind of that database),
-- 'arriving' and 'arrived' (the number that 'moved' has on the other side: a copy that is not open yet, and an open one).
CREATE TABLE facts (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: 1 if the last process closed the file properly, and the time of the newest write.
CREATE TABLE state (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  clean INTEGER NOT NULL CHECK (clean IN (0, 1)),
  newest_write INTEGER NOT NULL
) STRICT;
INSERT INTO state (id, clean, newest_write) VALUES (1, 1, 0);

-- Definitions, which merchants author. The words and the benefit stand in the current revision.
CREATE TABLE definitions (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  revision_id INTEGER NOT NULL,
  max_uses INTEGER CHECK (max_uses BETWEEN 1 AND 1000000),
  -- issued = open + expired + claimed + voided, where a refresh does not count. `expiries` has the expired
  -- ones. `minted` on the wire is issued - voided.
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

-- The promise of a voucher. Immutable from the first voucher that points to it.
CREATE TABLE revisions (
  id INTEGER NOT NULL PRIMARY KEY,
  definition_id INTEGER NOT NULL REFERENCES definitions (id) DEFERRABLE INITIALLY DEFERRED,
  -- `issued` of the definition when this revision was made. While equal, no voucher points here.
  issued_before INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  image TEXT,
  benefit TEXT NOT NULL CHECK (json_valid(benefit)),
  expires_at INTEGER,
  -- When and with which purchase a voucher is redeemed (JSON). Null without rules.
  rules TEXT CHECK (json_valid(rules) AND rules LIKE '{%'),
  -- The uploaded picture, by its sha256. `image` is its https address then, or null without one.
  picture BLOB CHECK (length(picture) = 32),
  -- Foreign keys use this index, too. Without it a deletion would scan all vouchers.
  UNIQUE (definition_id, id)
) STRICT;

-- Addresses of images in revisions. The service fetches no others.
CREATE TABLE images (
  -- sha256 of the address.
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  url TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX revisions_by_image ON revisions (image) WHERE image IS NOT NULL;
CREATE INDEX revisions_by_picture ON revisions (picture, definition_id) WHERE picture IS NOT NULL;

-- Uploaded pictures without their metadata, one copy for each owner. They stand here and not in files, so that a
-- backup and every node have them.
CREATE TABLE pictures (
  id INTEGER NOT NULL PRIMARY KEY,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  -- sha256 of the content.
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  type TEXT NOT NULL CHECK (type = 'image/jpeg' OR type = 'image/png' OR type = 'image/webp'),
  bytes INTEGER NOT NULL CHECK (bytes = length(content)),
  -- Unix seconds since when no revision and no shop of the owner names it. Null while one does.
  unused_at INTEGER,
  -- The last column, because a read of the others then skips it.
  content BLOB NOT NULL,
  UNIQUE (owner, hash)
) STRICT;
CREATE INDEX pictures_by_hash ON pictures (hash);
CREATE INDEX pictures_unused ON pictures (unused_at) WHERE unused_at IS NOT NULL;

CREATE TABLE vouchers (
  id INTEGER NOT NULL PRIMARY KEY,
  -- The first 16 bytes of sha256(nonce). The nonce is never stored.
  handle BLOB NOT NULL UNIQUE CHECK (length(handle) = 16),
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  revision_id INTEGER NOT NULL,
  -- The first voucher of its chain. Null in that voucher.
  root_id INTEGER,
  minted_by BLOB NOT NULL CHECK (length(minted_by) = 32),
  minted_at INTEGER NOT NULL,
  phase TEXT NOT NULL DEFAULT 'minted'
    CHECK (phase = 'minted' OR phase = 'claimed' OR phase = 'refreshed' OR phase = 'voided'),
  -- Unix seconds at which it stopped being `minted`.
  ended_at INTEGER,
  CHECK ((phase = 'minted') = (ended_at IS NULL)),
  CHECK (root_id < id),
  UNIQUE (definition_id, id),
  FOREIGN KEY (definition_id, revision_id) REFERENCES revisions (definition_id, id),
  FOREIGN KEY (definition_id, root_id) REFERENCES vouchers (definition_id, id)
) STRICT;
-- A chain of refreshes has one end. Only this voucher can be, or was, spent or voided.
CREATE UNIQUE INDEX vouchers_chain_end ON vouchers (coalesce(root_id, id)) WHERE phase <> 'refreshed';

-- Refreshes that burned a voucher, with the answer to repeat for ever. The id is the successor's.
CREATE TABLE refreshes (
  id INTEGER NOT NULL PRIMARY KEY REFERENCES vouchers (id),
  voucher_id INTEGER NOT NULL UNIQUE REFERENCES vouchers (id),
  -- HMAC of the Idempotency-Key under the store key, bound to the nonce.
  key_mac BLOB NOT NULL CHECK (length(key_mac) = 32),
  -- The answer. Reading it takes the store key, the old nonce and the Idempotency-Key.
  sealed BLOB NOT NULL
) STRICT;

-- Keys of the owner and of its minters that redeemed vouchers. 32 zero bytes stand for all other redemptions.
CREATE TABLE tills (
  id INTEGER NOT NULL PRIMARY KEY,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  UNIQUE (owner, pubkey)
) STRICT;

-- Redeemed vouchers by till and hour (Unix seconds / 3600), as `hourly` has them by definition.
CREATE TABLE till_hours (
  till_id INTEGER NOT NULL REFERENCES tills (id),
  hour INTEGER NOT NULL,
  claimed INTEGER NOT NULL CHECK (claimed >= 0),
  PRIMARY KEY (till_id, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE redemptions (
  id INTEGER NOT NULL PRIMARY KEY,
  voucher_id INTEGER NOT NULL UNIQUE REFERENCES vouchers (id),
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  -- The zap request (NIP-57) as it was sent (JSON), its event id (hex), and an amount in millisatoshi.
  zap_request TEXT,
  zap_request_id TEXT,
  amount_msat INTEGER CHECK (amount_msat >= 0),
  -- The key that authenticated the claim, and its till if it was the owner's or a minter's at that time.
  claimed_by BLOB CHECK (length(claimed_by) = 32),
  till_id INTEGER REFERENCES tills (id) CHECK (till_id IS NULL OR claimed_by IS NOT NULL),
  -- The purchase that the till named: its amount and currency (JSON).
  purchase TEXT CHECK (json_valid(purchase))
) STRICT;
CREATE INDEX redemptions_by_owner ON redemptions (owner, id);

-- Posters: public addresses where anybody takes a voucher of a definition. One with takes is never deleted.
CREATE TABLE posters (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  definition_id INTEGER NOT NULL REFERENCES definitions (id) ON DELETE CASCADE,
  -- The owner of the definition, stored again, because posters are listed by owner.
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  label TEXT,
  -- Vouchers for one key, in one day of the time zone, and in all.
  per_person INTEGER NOT NULL CHECK (per_person BETWEEN 1 AND 100),
  per_day INTEGER CHECK (per_day BETWEEN 1 AND 1000000),
  total INTEGER CHECK (total BETWEEN 1 AND 1000000),
  -- An IANA name. It decides when a day begins.
  time_zone TEXT NOT NULL,
  starts_at INTEGER,
  ends_at INTEGER,
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  taken INTEGER NOT NULL DEFAULT 0 CHECK (taken >= 0),
  -- The day of the newest take (days since 1970 in the time zone), and the takes of that day.
  taken_day INTEGER NOT NULL DEFAULT 0,
  taken_that_day INTEGER NOT NULL DEFAULT 0 CHECK (taken_that_day >= 0),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- From then on only a lost answer is given again.
  deleted_at INTEGER,
  CHECK (taken_that_day <= taken),
  CHECK (starts_at < ends_at)
) STRICT;
CREATE INDEX posters_by_owner ON posters (owner, id) WHERE deleted_at IS NULL;
CREATE INDEX posters_by_definition ON posters (definition_id);

-- Vouchers that were taken from posters, each with its answer to repeat for ever. The id is the voucher's.
CREATE TABLE poster_takes (
  id INTEGER NOT NULL PRIMARY KEY REFERENCES vouchers (id),
  poster_id INTEGER NOT NULL REFERENCES posters (id),
  taker BLOB NOT NULL CHECK (length(taker) = 32),
  -- Days since 1970 in the time zone of the poster.
  day INTEGER NOT NULL,
  -- HMAC of poster, taker and Idempotency-Key under the store key.
  slot BLOB NOT NULL UNIQUE CHECK (length(slot) = 32),
  -- The answer. Reading it takes the store key, the key of the taker and the Idempotency-Key.
  sealed BLOB NOT NULL
) STRICT;
CREATE INDEX poster_takes_by_taker ON poster_takes (poster_id, taker);

-- The kill switch: vouchers up to this id count as voided from then on. A row is deleted when they are marked.
CREATE TABLE kills (
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  upto_voucher_id INTEGER NOT NULL,
  killed_at INTEGER NOT NULL,
  swept_voucher_id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (definition_id, upto_voucher_id)
) STRICT, WITHOUT ROWID;

-- One row with the totals for /metrics, updated with each change, so that nothing is counted.
CREATE TABLE totals (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  issued INTEGER NOT NULL,
  claimed INTEGER NOT NULL,
  voided INTEGER NOT NULL,
  refreshed INTEGER NOT NULL
) STRICT;
INSERT INTO totals (id, issued, claimed, voided, refreshed) VALUES (1, 0, 0, 0, 0);

-- Minted and redeemed vouchers by definition and hour, so that charts count no vouchers.
CREATE TABLE hourly (
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  -- Unix seconds / 3600. A day has whole hours in the time zone of every shop.
  hour INTEGER NOT NULL,
  minted INTEGER NOT NULL CHECK (minted >= 0),
  claimed INTEGER NOT NULL CHECK (claimed >= 0),
  PRIMARY KEY (definition_id, hour)
) STRICT, WITHOUT ROWID;

-- Open vouchers that expire, by definition and expiry, so that a count of expired ones reads no vouchers.
CREATE TABLE expiries (
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  expires_at INTEGER NOT NULL,
  open INTEGER NOT NULL CHECK (open >= 0),
  PRIMARY KEY (definition_id, expires_at)
) STRICT, WITHOUT ROWID;

-- Vouchers that were issued together under a name.
CREATE TABLE batches (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  name TEXT NOT NULL,
  issued INTEGER NOT NULL DEFAULT 0 CHECK (issued BETWEEN 0 AND 1000),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX batches_by_definition ON batches (definition_id, id);

-- Batch and label of a chain of refreshes, by its first voucher. A label names a recipient, for the owner alone.
CREATE TABLE voucher_labels (
  id INTEGER NOT NULL PRIMARY KEY REFERENCES vouchers (id),
  batch_id INTEGER REFERENCES batches (id),
  label TEXT,
  CHECK (batch_id IS NOT NULL OR label IS NOT NULL)
) STRICT;
CREATE INDEX voucher_labels_by_batch ON voucher_labels (batch_id) WHERE batch_id IS NOT NULL;

CREATE TABLE minters (
  id INTEGER NOT NULL PRIMARY KEY,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  label TEXT,
  created_at INTEGER NOT NULL,
  -- 0: redeems only.
  may_mint INTEGER NOT NULL DEFAULT 1 CHECK (may_mint IN (0, 1)),
  UNIQUE (owner, pubkey),
  CHECK (owner <> pubkey)
) STRICT;
CREATE INDEX minters_by_pubkey ON minters (pubkey, may_mint, id);

-- Merchants that were let in. Keys of the setting MERCHANTS are not here.
CREATE TABLE merchants (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32),
  label TEXT,
  -- 1: came by the setup code or was added by the operator. An owner adds and removes others.
  owner INTEGER NOT NULL CHECK (owner IN (0, 1)),
  created_at INTEGER NOT NULL CHECK (created_at > 0),
  -- Unix seconds at which a guest (a run of the demo) has to leave. Null for the others.
  expires_at INTEGER,
  CHECK (expires_at IS NULL OR owner = 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX merchants_staying ON merchants (created_at) WHERE expires_at IS NULL;
CREATE INDEX merchants_leaving ON merchants (expires_at) WHERE expires_at IS NOT NULL;

-- One row while a setup code is valid. The code follows from the salt and the store key, so it cannot be read here.
CREATE TABLE setup_code (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  salt BLOB NOT NULL CHECK (length(salt) = 16),
  -- Wrong tries. The code is replaced when there were too many.
  tries INTEGER NOT NULL CHECK (tries >= 0)
) STRICT;

-- Growth of each merchant by day (days since 1970). Used only where any key may be a merchant.
CREATE TABLE merchant_days (
  day INTEGER NOT NULL,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  vouchers INTEGER NOT NULL CHECK (vouchers >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  -- Refreshes of its vouchers.
  refreshes INTEGER NOT NULL CHECK (refreshes >= 0),
  PRIMARY KEY (day, owner)
) STRICT, WITHOUT ROWID;

-- Settings of a merchant's shop. Unset is NULL.
CREATE TABLE shops (
  owner BLOB NOT NULL PRIMARY KEY CHECK (length(owner) = 32),
  name TEXT CHECK (name <> ''),
  -- A word of src/shops/color.ts.
  color TEXT CHECK (color <> ''),
  updated_at INTEGER NOT NULL,
  -- 1: only tills of the owner and of its minters redeem.
  only_authorized_tills INTEGER NOT NULL DEFAULT 0 CHECK (only_authorized_tills IN (0, 1)),
  -- The logo: an uploaded picture, by its sha256.
  picture BLOB CHECK (length(picture) = 32)
) STRICT, WITHOUT ROWID;

-- The newest announcement (kind 30078) of each merchant.
CREATE TABLE announcements (
  owner BLOB NOT NULL PRIMARY KEY CHECK (length(owner) = 32),
  event_id BLOB NOT NULL CHECK (length(event_id) = 32),
  created_at INTEGER NOT NULL,
  event TEXT NOT NULL CHECK (json_valid(event))
) STRICT;

-- The replay guard: ids of used NIP-98 events, kept until their time window is over.
CREATE TABLE proofs (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  accepted_until INTEGER NOT NULL
) STRICT;

-- Cut-offs: sessions of a key that began up to `ended_at` are over. 32 zero bytes stand for all keys.
CREATE TABLE session_cutoffs (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32),
  ended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_cutoffs_by_time ON session_cutoffs (ended_at, pubkey);

-- Answers for the optional Idempotency-Key, sealed under the store key and that key.
CREATE TABLE answers (
  id INTEGER NOT NULL PRIMARY KEY,
  -- HMAC of caller or nonce, route and Idempotency-Key, under the store key.
  slot BLOB NOT NULL UNIQUE CHECK (length(slot) = 32),
  -- HMAC of the bytes of the request.
  request BLOB NOT NULL CHECK (length(request) = 32),
  status INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Events for relays, one row each. A row stays for a while after its deliveries have ended.
CREATE TABLE outbox (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  -- The event as JSON, null when every delivery has ended; its length in bytes stays.
  event TEXT,
  bytes INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  -- 72 h later, or when the event expires, or soon for ephemeral kinds. Unix seconds.
  give_up_at INTEGER NOT NULL,
  done_at INTEGER,
  CHECK ((event IS NULL) = (done_at IS NOT NULL))
) STRICT;
CREATE INDEX outbox_open ON outbox (give_up_at) WHERE done_at IS NULL;
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;

-- One row with the number and bytes of waiting events, updated with each change, so that the limit needs no count.
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
CREATE INDEX deliveries_due ON deliveries (relay, priority, next_at, outbox_id)
  WHERE state = 'pending';

-- Nonces for the registration of identities. Each is used once.
CREATE TABLE identity_nonces (
  id INTEGER NOT NULL PRIMARY KEY,
  -- sha256 of the nonce. The nonce is never stored.
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  issuer BLOB NOT NULL CHECK (length(issuer) = 32),
  created_at INTEGER NOT NULL,
  burned_at INTEGER
) STRICT;
CREATE INDEX identity_nonces_open ON identity_nonces (issuer) WHERE burned_at IS NULL;
CREATE INDEX identity_nonces_by_age ON identity_nonces (created_at) WHERE burned_at IS NULL;

-- Identities: names of this service, each of a key.
CREATE TABLE accounts (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^a-z0-9._-]*'),
  pubkey BLOB NOT NULL UNIQUE CHECK (length(pubkey) = 32),
  -- The LUD-16 answer of the holder's wallet, as registered. Null if it takes no payments.
  lud16 TEXT CHECK (json_type(lud16) = 'object'),
  allow_vouchers INTEGER NOT NULL DEFAULT 1 CHECK (allow_vouchers IN (0, 1)),
  -- The nonce burned by the registration. Null if the operator added the identity.
  nonce_id INTEGER UNIQUE REFERENCES identity_nonces (id),
  created_by BLOB NOT NULL CHECK (length(created_by) = 32),
  created_at INTEGER NOT NULL
) STRICT;

-- Granted request events, kept until their time window is over.
CREATE TABLE requests (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  -- The answer to a repetition, in the form that the route needs. Null: a repetition is refused.
  answer BLOB,
  accepted_until INTEGER NOT NULL
) STRICT;

-- One row with the number of requests, updated with each change, so that the limit needs no count.
CREATE TABLE request_load (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT;
INSERT INTO request_load (id, rows) VALUES (1, 0);

-- NTAG 424 DNA cards, a row for each initialisation of a tag. Their keys are not stored. They follow from
-- CARD_MASTER_KEY, the UID and the version.
CREATE TABLE cards (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  -- The UID of the tag.
  cid BLOB NOT NULL CHECK (length(cid) = 7),
  key_version INTEGER NOT NULL CHECK (key_version BETWEEN 1 AND 255),
  -- The highest counter of a genuine tap. Only a higher one passes.
  counter INTEGER NOT NULL CHECK (counter BETWEEN 0 AND 16777215),
  -- 0 after a restore: the card may have counted on since the backup, so no tap passes.
  counter_known INTEGER NOT NULL DEFAULT 1 CHECK (counter_known IN (0, 1)),
  design_uuid TEXT NOT NULL CHECK (length(design_uuid) = 36),
  design_name TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  -- The switch of the holder and that of the operator. The card works while enabled is 1 and blocked is 0.
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  blocked INTEGER NOT NULL DEFAULT 0 CHECK (blocked IN (0, 1)),
  holder BLOB CHECK (length(holder) = 32),
  -- Conditions and token of the delegation (NIP-26) of the holder, sealed under the store key.
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
  -- HMAC of the code under the store key, since a plain hash of a simple code could be guessed.
  mac BLOB NOT NULL UNIQUE CHECK (length(mac) = 32),
  card_id INTEGER NOT NULL REFERENCES cards (id),
  -- 1: chosen by a writer or the operator. 0: made at the initialisation, and replaced by a chosen one.
  chosen INTEGER NOT NULL CHECK (chosen IN (0, 1)),
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX card_codes_open ON card_codes (card_id) WHERE used_at IS NULL;
CREATE INDEX card_codes_by_card ON card_codes (card_id);

-- The most that a card spends of a token within so many seconds; with 0 seconds, in one payment.
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

-- Merchants that the cards of a holder pay. Without a row they pay every merchant.
CREATE TABLE trusted_merchants (
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  merchant BLOB NOT NULL CHECK (length(merchant) = 32),
  PRIMARY KEY (holder, merchant)
) STRICT, WITHOUT ROWID;

-- The newest changes of a holder (several within a second), so that none is applied twice or after a newer one.
CREATE TABLE card_changes (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX card_changes_by_holder ON card_changes (holder, created_at);

-- Holders whose wallets are told of their cards by events. While told is less than changes, an event is owed. told_at:
-- created_at of the last one.
CREATE TABLE card_notices (
  holder BLOB NOT NULL PRIMARY KEY CHECK (length(holder) = 32),
  changes INTEGER NOT NULL CHECK (changes > 0),
  told INTEGER NOT NULL DEFAULT 0 CHECK (told BETWEEN 0 AND changes),
  told_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX card_notices_owed ON card_notices (told_at) WHERE told < changes;

-- Answers to taps: a k1 that pays once, soon.
CREATE TABLE card_scans (
  id INTEGER NOT NULL PRIMARY KEY,
  -- The first 16 bytes of sha256(k1). The k1 is never stored.
  k1_hash BLOB NOT NULL UNIQUE CHECK (length(k1_hash) = 16),
  card_id INTEGER NOT NULL REFERENCES cards (id),
  -- The holder of the card at the tap.
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  form TEXT NOT NULL CHECK (form IN ('standard', 'extended')),
  -- The maximum of each token, as JSON: decimal strings by token.
  maxima TEXT NOT NULL CHECK (json_valid(maxima)),
  state TEXT NOT NULL DEFAULT 'free' CHECK (state = 'free' OR state = 'in-flight' OR state = 'used'),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX card_scans_by_card ON card_scans (card_id);
CREATE INDEX card_scans_free ON card_scans (expires_at) WHERE state = 'free';

-- Tokens of the embedded ledger. The terms of a token with accounts never change.
CREATE TABLE ledger_tokens (
  name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 16),
  decimals INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 18),
  issuer BLOB NOT NULL CHECK (length(issuer) = 32)
) STRICT, WITHOUT ROWID;

-- The balance of a key in a token, in its smallest unit. Only its issuer may be below zero: that is issuing.
CREATE TABLE ledger_accounts (
  id INTEGER NOT NULL PRIMARY KEY,
  token TEXT NOT NULL REFERENCES ledger_tokens (name),
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  issuer INTEGER NOT NULL CHECK (issuer IN (0, 1)),
  balance INTEGER NOT NULL DEFAULT 0
    CHECK (balance BETWEEN -8000000000000000000 AND 8000000000000000000),
  -- `created_at` of the last balance event, and the id of the event that caused a balance event still to be sent.
  published_at INTEGER NOT NULL DEFAULT 0,
  stale_cause BLOB CHECK (length(stale_cause) = 32),
  CHECK (balance >= 0 OR issuer = 1),
  UNIQUE (token, pubkey)
) STRICT;
CREATE INDEX ledger_accounts_by_pubkey ON ledger_accounts (pubkey, token);
CREATE INDEX ledger_accounts_by_token ON ledger_accounts (token, id);
CREATE INDEX ledger_accounts_stale ON ledger_accounts (published_at) WHERE stale_cause IS NOT NULL;

-- Settled start events (kind 1112), once per event id. They are never deleted.
CREATE TABLE ledger_movements (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  -- Id of the answer internal-transaction-ok.
  answer_id BLOB NOT NULL CHECK (length(answer_id) = 32),
  sender BLOB NOT NULL CHECK (length(sender) = 32),
  receiver BLOB NOT NULL CHECK (length(receiver) = 32),
  memo TEXT,
  settled_at INTEGER NOT NULL,
  CHECK (sender <> receiver)
) STRICT;

-- Double entries. The amounts of a movement sum to zero for each token.
CREATE TABLE ledger_entries (
  movement_id INTEGER NOT NULL REFERENCES ledger_movements (id),
  account_id INTEGER NOT NULL REFERENCES ledger_accounts (id),
  amount INTEGER NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (movement_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entries_by_account ON ledger_entries (account_id, movement_id);

-- Refused start events, kept until their time window is over.
CREATE TABLE ledger_refusals (
  event_id BLOB NOT NULL PRIMARY KEY CHECK (length(event_id) = 32),
  answer_id BLOB NOT NULL CHECK (length(answer_id) = 32),
  messages TEXT NOT NULL CHECK (json_valid(messages)),
  forget_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_refusals_by_age ON ledger_refusals (forget_at);

-- Received vouchers. They are never deleted, so that a voucher sent again gets the same answer.
CREATE TABLE transfers (
  id INTEGER NOT NULL PRIMARY KEY,
  -- The key of the service that signed the voucher.
  service BLOB NOT NULL CHECK (length(service) = 32),
  -- Handles of the received nonce and of its replacement.
  handle BLOB NOT NULL CHECK (length(handle) = 16),
  replacement BLOB NOT NULL CHECK (length(replacement) = 16),
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  received_at INTEGER NOT NULL,
  UNIQUE (handle, service),
  UNIQUE (replacement, service),
  CHECK (handle <> replacement)
) STRICT;

-- Vouchers of these that their holders have not thrown away. Only the holder can read the nonce.
CREATE TABLE inbox (
  id INTEGER NOT NULL PRIMARY KEY REFERENCES transfers (id),
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  -- The merchant, and the terms of the voucher.
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  coupon_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  image TEXT,
  benefit TEXT NOT NULL CHECK (json_valid(benefit)),
  expires_at INTEGER,
  comment TEXT,
  -- Nonce and voucher as JSON, encrypted to the holder (NIP-44 v2) by this key. Its secret is not kept.
  ephemeral BLOB NOT NULL CHECK (length(ephemeral) = 32),
  payload TEXT NOT NULL,
  -- As JSON; those of another service as it states them. NULL for a voucher without rules.
  rules TEXT CHECK (json_valid(rules))
) STRICT;
CREATE INDEX inbox_by_holder ON inbox (holder, id);

-- Swaps of vouchers of other services. A row is deleted when the outcome is known.
CREATE TABLE transfer_intents (
  -- An id is never used twice, so that an attempt on a deleted row does not meet another intent.
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  service BLOB NOT NULL CHECK (length(service) = 32),
  handle BLOB NOT NULL CHECK (length(handle) = 16),
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  -- Nonce, voucher, comment and the Idempotency-Key of the swap, sealed under the store key.
  sealed BLOB NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (handle, service)
) STRICT;
CREATE INDEX transfer_intents_due ON transfer_intents (next_at);
CREATE INDEX transfer_intents_by_service ON transfer_intents (service, next_at);
CREATE INDEX transfer_intents_by_holder ON transfer_intents (holder, owner);

-- Payments that were asked of a k1, with their outcome. A settled payment stays for ever.
CREATE TABLE card_payments (
  id INTEGER NOT NULL PRIMARY KEY,
  -- Hash of the k1, as in card_scans. The row there is deleted after the k1 has expired unused.
  k1_hash BLOB NOT NULL CHECK (length(k1_hash) = 16),
  -- The id of the event, or the sha256 of the invoice. The same request again gets the same outcome.
  request BLOB NOT NULL CHECK (length(request) = 32),
  card_id INTEGER NOT NULL REFERENCES cards (id),
  recipient BLOB NOT NULL CHECK (length(recipient) = 32),
  -- As JSON: decimal strings by token.
  amounts TEXT NOT NULL CHECK (json_valid(amounts)),
  -- Payment hash of the invoice (BOLT 11), which is paid once.
  payment_hash BLOB CHECK (length(payment_hash) = 32),
  -- The start event, and the key of its ledger. Null if the payment was refused before.
  start_id BLOB UNIQUE CHECK (length(start_id) = 32),
  ledger BLOB CHECK (length(ledger) = 32),
  -- `released`: the start event expired without an answer, so the reservation ended.
  state TEXT NOT NULL
    CHECK (state = 'pending' OR state = 'settled' OR state = 'refused' OR state = 'released'),
  -- Reason of a refusal: a code, and the message of the ledger if it sent one.
  code TEXT,
  message TEXT,
  -- 1: the answer of the ledger came after the reservation had ended, or after another answer.
  late INTEGER NOT NULL DEFAULT 0 CHECK (late IN (0, 1)),
  created_at INTEGER NOT NULL,
  -- Expiration of the start event (NIP-40).
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

-- The share of a card's limits that a payment takes: reserved or spent while it counts.
CREATE TABLE card_spends (
  payment_id INTEGER NOT NULL REFERENCES card_payments (id),
  -- Card, holder and time of the payment: limits sum by them. The next holder of a card begins at zero.
  card_id INTEGER NOT NULL,
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  token TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  at INTEGER NOT NULL,
  counts INTEGER NOT NULL CHECK (counts IN (0, 1)),
  PRIMARY KEY (payment_id, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_spends_counting ON card_spends (card_id, holder, token, at, amount)
  WHERE counts = 1;

-- Keys of the settings that write events here: issuers of tokens, a ledger or a gateway elsewhere.
CREATE TABLE named_keys (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32)
) STRICT, WITHOUT ROWID;
