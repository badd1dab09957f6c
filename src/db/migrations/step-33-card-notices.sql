CREATE TABLE card_notices (
  holder BLOB NOT NULL PRIMARY KEY CHECK (length(holder) = 32),
  changes INTEGER NOT NULL CHECK (changes > 0),
  told INTEGER NOT NULL DEFAULT 0 CHECK (told BETWEEN 0 AND changes),
  told_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX card_notices_owed ON card_notices (told_at) WHERE told < changes;
-- Wallets learn of the cards that were activated before.
INSERT INTO card_notices (holder, changes)
SELECT DISTINCT holder, 1 FROM cards WHERE holder IS NOT NULL AND deleted_at IS NULL;
