CREATE TABLE batches (
  id INTEGER NOT NULL PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
  definition_id INTEGER NOT NULL REFERENCES definitions (id),
  name TEXT NOT NULL,
  issued INTEGER NOT NULL DEFAULT 0 CHECK (issued BETWEEN 0 AND 1000),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX batches_by_definition ON batches (definition_id, id);
CREATE TABLE voucher_labels (
  id INTEGER NOT NULL PRIMARY KEY REFERENCES vouchers (id),
  batch_id INTEGER REFERENCES batches (id),
  label TEXT,
  CHECK (batch_id IS NOT NULL OR label IS NOT NULL)
) STRICT;
CREATE INDEX voucher_labels_by_batch ON voucher_labels (batch_id) WHERE batch_id IS NOT NULL;
