-- Keys that the settings name and that write events here: issuers of tokens, a ledger or a gateway elsewhere.
CREATE TABLE named_keys (
  pubkey BLOB NOT NULL PRIMARY KEY CHECK (length(pubkey) = 32)
) STRICT, WITHOUT ROWID;
