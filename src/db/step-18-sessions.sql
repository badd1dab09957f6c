CREATE TABLE session_cutoffs (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32),
  ended_at INTEGER NOT NULL
) STRICT;
