CREATE TABLE tills (
  id INTEGER NOT NULL PRIMARY KEY,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  pubkey BLOB NOT NULL CHECK (length(pubkey) = 32),
  UNIQUE (owner, pubkey)
) STRICT;
CREATE TABLE till_hours (
  till_id INTEGER NOT NULL REFERENCES tills (id),
  hour INTEGER NOT NULL,
  claimed INTEGER NOT NULL CHECK (claimed >= 0),
  PRIMARY KEY (till_id, hour)
) STRICT, WITHOUT ROWID;
-- Nobody knows who redeemed the earlier ones.
INSERT INTO tills (owner, pubkey)
  SELECT DISTINCT d.owner, zeroblob(32) FROM hourly h JOIN definitions d ON d.id = h.definition_id
  WHERE h.claimed > 0;
INSERT INTO till_hours (till_id, hour, claimed)
  SELECT t.id, h.hour, sum(h.claimed) FROM hourly h JOIN definitions d ON d.id = h.definition_id
  JOIN tills t ON t.owner = d.owner WHERE h.claimed > 0 GROUP BY t.id, h.hour;
ALTER TABLE redemptions ADD COLUMN claimed_by BLOB CHECK (length(claimed_by) = 32);
ALTER TABLE redemptions ADD COLUMN
  till_id INTEGER REFERENCES tills (id) CHECK (till_id IS NULL OR claimed_by IS NOT NULL);
ALTER TABLE minters ADD COLUMN may_mint INTEGER NOT NULL DEFAULT 1 CHECK (may_mint IN (0, 1));
DROP INDEX minters_by_pubkey;
CREATE INDEX minters_by_pubkey ON minters (pubkey, may_mint, id);
