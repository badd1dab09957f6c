ALTER TABLE revisions ADD COLUMN picture BLOB CHECK (length(picture) = 32);
CREATE INDEX revisions_by_picture ON revisions (picture) WHERE picture IS NOT NULL;
ALTER TABLE shops ADD COLUMN picture BLOB CHECK (length(picture) = 32);
CREATE TABLE pictures (
  id INTEGER NOT NULL PRIMARY KEY,
  owner BLOB NOT NULL CHECK (length(owner) = 32),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  type TEXT NOT NULL CHECK (type = 'image/jpeg' OR type = 'image/png' OR type = 'image/webp'),
  bytes INTEGER NOT NULL CHECK (bytes = length(content)),
  unused_at INTEGER,
  content BLOB NOT NULL,
  UNIQUE (owner, hash)
) STRICT;
CREATE INDEX pictures_by_hash ON pictures (hash);
CREATE INDEX pictures_unused ON pictures (unused_at) WHERE unused_at IS NOT NULL;
