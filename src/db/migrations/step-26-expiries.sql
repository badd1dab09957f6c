CREATE TABLE expiries (
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  expires_at INTEGER NOT NULL,
  open INTEGER NOT NULL CHECK (open >= 0),
  PRIMARY KEY (definition_id, expires_at)
) STRICT, WITHOUT ROWID;
INSERT INTO expiries (definition_id, expires_at, open)
  SELECT v.definition_id, r.expires_at, count(*) FROM vouchers v JOIN revisions r ON r.id = v.revision_id
  WHERE v.phase = 'minted' AND r.expires_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM kills k WHERE k.definition_id = v.definition_id AND k.upto_voucher_id >= v.id)
  GROUP BY v.definition_id, r.expires_at;
