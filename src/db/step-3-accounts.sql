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
