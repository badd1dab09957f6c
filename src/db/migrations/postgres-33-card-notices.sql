CREATE TABLE IF NOT EXISTS card_notices (
  holder BYTEA NOT NULL PRIMARY KEY CHECK (length(holder) = 32),
  changes BIGINT NOT NULL CHECK (changes > 0),
  told BIGINT NOT NULL DEFAULT 0 CHECK (told BETWEEN 0 AND changes),
  told_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS card_notices_owed ON card_notices (told_at) WHERE told < changes;
-- Wallets learn of the cards that were activated before.
INSERT INTO card_notices (holder, changes)
  SELECT DISTINCT holder, 1 FROM cards WHERE holder IS NOT NULL AND deleted_at IS NULL
  ON CONFLICT (holder) DO NOTHING;
