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

-- What holders have not thrown away of it. Only the holder can read the nonce.
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
CREATE INDEX transfer_intents_by_holder ON transfer_intents (holder, owner);
