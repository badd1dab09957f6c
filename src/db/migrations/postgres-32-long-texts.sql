-- Tags of any length have a place in an index by their digest. Released programs have one node alone.
DROP INDEX IF EXISTS events_by_address;
CREATE UNIQUE INDEX events_by_address ON events
  (pubkey, kind, sha256(CAST(replace(d, '\', '\\') AS BYTEA))) WHERE d IS NOT NULL;
ALTER TABLE deletions DROP CONSTRAINT IF EXISTS deletions_pkey;
CREATE UNIQUE INDEX IF NOT EXISTS deletions_key ON deletions
  (pubkey, sha256(CAST(replace(target, '\', '\\') AS BYTEA)));
