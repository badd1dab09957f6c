-- Settings of a merchant's shop. Unset is NULL.
CREATE TABLE shops (
  owner BLOB NOT NULL PRIMARY KEY CHECK (length(owner) = 32),
  name TEXT CHECK (name <> ''),
  -- A word of src/shops/color.ts.
  color TEXT CHECK (color <> ''),
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
