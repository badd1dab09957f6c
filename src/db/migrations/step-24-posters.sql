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
