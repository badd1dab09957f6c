-- Growth of each merchant by day (days since 1970). Used only where any key may be a merchant.
CREATE TABLE merchant_days (
  day INTEGER NOT NULL,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  vouchers INTEGER NOT NULL CHECK (vouchers >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  -- Refreshes of its vouchers.
  refreshes INTEGER NOT NULL CHECK (refreshes >= 0),
  PRIMARY KEY (day, owner)
) STRICT, WITHOUT ROWID;
