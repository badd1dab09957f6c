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
