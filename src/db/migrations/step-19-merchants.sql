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
