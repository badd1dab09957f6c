PRAGMA user_version = 20;

-- Facts about the file itself: 'manager' (the pinned public key, hex), 'store-key' and
-- 'card-key' (fingerprints; the latter from the first card on), 'restored' (a backup took its place),
-- 'exposed' (a request came by a proxy: others than this machine reach the service).
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

-- Definitions, which merchants author. The words and the benefit stand in the current revision.
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

-- The promise of a voucher. Immutable from the first voucher that points to it.
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

-- The addresses of images that revisions name: only these are fetched and handed on.
CREATE TABLE images (
  -- sha256 of the address.
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  url TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX revisions_by_image ON revisions (image) WHERE image IS NOT NULL;

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
CREATE UNIQUE INDEX vouchers_chain_end ON vouchers (coalesce(root_id, id)) WHERE phase <> 'refreshed';

-- Refreshes that burned a voucher, with the answer to repeat for ever. The id is the successor's.
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

-- Vouchers first minted and vouchers redeemed, by definition and hour: a chart counts no vouchers.
CREATE TABLE hourly (
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  -- Unix seconds / 3600. Days are made of whole hours, wherever the shop is.
  hour INTEGER NOT NULL,
  minted INTEGER NOT NULL CHECK (minted >= 0),
  claimed INTEGER NOT NULL CHECK (claimed >= 0),
  PRIMARY KEY (definition_id, hour)
) STRICT, WITHOUT ROWID;

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

-- Keys that were let in to manage coupons; those that the setting MERCHANTS names are not here.
CREATE TABLE merchants (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32),
  label TEXT,
  -- Came by the setup code or was named by the operator: it adds and removes others.
  owner INTEGER NOT NULL CHECK (owner IN (0, 1)),
  created_at INTEGER NOT NULL CHECK (created_at > 0),
  -- When a guest (a run of the demo) has to leave; null: it stays.
  expires_at INTEGER,
  CHECK (expires_at IS NULL OR owner = 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX merchants_staying ON merchants (created_at) WHERE expires_at IS NULL;
CREATE INDEX merchants_leaving ON merchants (expires_at) WHERE expires_at IS NOT NULL;

-- One row while a setup code is good. The code follows from the salt and the store key: nothing here tells it.
CREATE TABLE setup_code (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  salt BLOB NOT NULL CHECK (length(salt) = 16),
  -- Wrong tries; at the most of them it is replaced.
  tries INTEGER NOT NULL CHECK (tries >= 0)
) STRICT;

-- Growth of each merchant by day (days since 1970), where any key may be one.
CREATE TABLE merchant_days (
  day INTEGER NOT NULL,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  vouchers INTEGER NOT NULL CHECK (vouchers >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  -- How often its vouchers changed hands.
  refreshes INTEGER NOT NULL CHECK (refreshes >= 0),
  PRIMARY KEY (day, owner)
) STRICT, WITHOUT ROWID;

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

-- Sessions that began up to `ended_at` are over: those of a key, or with 32 zero bytes those of all.
CREATE TABLE session_cutoffs (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32),
  ended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_cutoffs_by_time ON session_cutoffs (ended_at, pubkey);

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
  -- 0 the service's own events; 1 events within their author's quota; 2 events above it, and those that
  -- failed before; 3 poison events, at which the connection ended.
  priority INTEGER NOT NULL CHECK (priority IN (0, 1, 2, 3)),
  PRIMARY KEY (outbox_id, relay)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (relay, priority, next_at, outbox_id)
  WHERE state = 'pending';

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
CREATE INDEX identity_nonces_by_age ON identity_nonces (created_at) WHERE burned_at IS NULL;

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

-- One row, kept in step: how many requests are remembered, so that the limit is checked without counting.
CREATE TABLE request_load (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT;
INSERT INTO request_load (id, rows) VALUES (1, 0);

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

-- Answers to taps: a k1 that pays once, soon.
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

-- The tokens of the embedded ledger as they were first used: their terms stay while accounts rest on them.
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
  -- `created_at` of the last balance event, and what caused the one that is owed.
  published_at INTEGER NOT NULL DEFAULT 0,
  stale_cause BLOB CHECK (length(stale_cause) = 32),
  CHECK (balance >= 0 OR issuer = 1),
  UNIQUE (token, pubkey)
) STRICT;
CREATE INDEX ledger_accounts_by_pubkey ON ledger_accounts (pubkey, token);
CREATE INDEX ledger_accounts_by_token ON ledger_accounts (token, id);
CREATE INDEX ledger_accounts_stale ON ledger_accounts (published_at) WHERE stale_cause IS NOT NULL;

-- A settled start event (kind 1112), for ever: once per event id.
CREATE TABLE ledger_movements (
  id INTEGER NOT NULL PRIMARY KEY,
  event_id BLOB NOT NULL UNIQUE CHECK (length(event_id) = 32),
  -- The ledger's internal-transaction-ok.
  answer_id BLOB NOT NULL CHECK (length(answer_id) = 32),
  sender BLOB NOT NULL CHECK (length(sender) = 32),
  receiver BLOB NOT NULL CHECK (length(receiver) = 32),
  memo TEXT,
  settled_at INTEGER NOT NULL,
  CHECK (sender <> receiver)
) STRICT;

-- Double entry: per movement and token the amounts sum to zero.
CREATE TABLE ledger_entries (
  movement_id INTEGER NOT NULL REFERENCES ledger_movements (id),
  account_id INTEGER NOT NULL REFERENCES ledger_accounts (id),
  amount INTEGER NOT NULL CHECK (amount <> 0),
  PRIMARY KEY (movement_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entries_by_account ON ledger_entries (account_id, movement_id);

-- Start events that were refused, while they could still be sent again.
CREATE TABLE ledger_refusals (
  event_id BLOB NOT NULL PRIMARY KEY CHECK (length(event_id) = 32),
  answer_id BLOB NOT NULL CHECK (length(answer_id) = 32),
  messages TEXT NOT NULL CHECK (json_valid(messages)),
  forget_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_refusals_by_age ON ledger_refusals (forget_at);

-- Vouchers that came to a holder by transfer, for ever: whoever sends one again hears the same.
CREATE TABLE transfers (
  id INTEGER NOT NULL PRIMARY KEY,
  -- The key that signed it: whose voucher it is.
  service BLOB NOT NULL CHECK (length(service) = 32),
  -- Handle of the nonce that came, and of the one that replaced it.
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
  -- What the voucher promises, and the merchant who does.
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  coupon_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  image TEXT,
  benefit TEXT NOT NULL CHECK (json_valid(benefit)),
  expires_at INTEGER,
  comment TEXT,
  -- NIP-44 v2 from this key, whose secret is forgotten, to the holder: nonce and voucher as JSON.
  ephemeral BLOB NOT NULL CHECK (length(ephemeral) = 32),
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX inbox_by_holder ON inbox (holder, id);

-- Vouchers of other services whose swap is under way; a row goes when its outcome is known.
CREATE TABLE transfer_intents (
  -- Never given twice: an attempt on a row that is gone must not meet another.
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  service BLOB NOT NULL CHECK (length(service) = 32),
  handle BLOB NOT NULL CHECK (length(handle) = 16),
  holder BLOB NOT NULL CHECK (length(holder) = 32),
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  -- Nonce, voucher, comment and the Idempotency-Key of the swap, under the store key.
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

-- The share of a card's limits that a payment takes: reserved or spent while it counts.
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
CREATE INDEX card_spends_counting ON card_spends (card_id, holder, token, at, amount)
  WHERE counts = 1;

-- Keys that the settings name and that write events here: issuers of tokens, a ledger or a gateway elsewhere.
CREATE TABLE named_keys (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32)
) STRICT, WITHOUT ROWID;
