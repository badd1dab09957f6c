CREATE TABLE session_cutoffs (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32),
  ended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_cutoffs_by_time ON session_cutoffs (ended_at, pubkey);
