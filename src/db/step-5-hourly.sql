-- Vouchers first minted and vouchers redeemed, by definition and hour: a chart counts no vouchers.
CREATE TABLE hourly (
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  -- Unix seconds / 3600. Days are made of whole hours, wherever the shop is.
  hour INTEGER NOT NULL,
  minted INTEGER NOT NULL CHECK (minted >= 0),
  claimed INTEGER NOT NULL CHECK (claimed >= 0),
  PRIMARY KEY (definition_id, hour)
) STRICT, WITHOUT ROWID;
INSERT INTO hourly (definition_id, hour, minted, claimed)
  SELECT definition_id, hour, sum(minted), sum(claimed) FROM (
    SELECT definition_id, minted_at / 3600 AS hour, 1 AS minted, 0 AS claimed
      FROM vouchers WHERE root_id IS NULL
    UNION ALL
    SELECT definition_id, ended_at / 3600, 0, 1 FROM vouchers WHERE phase = 'claimed')
  GROUP BY definition_id, hour;
