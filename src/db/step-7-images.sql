-- The addresses of images that revisions name: only these are fetched and handed on.
CREATE TABLE images (
  -- sha256 of the address.
  hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  url TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX revisions_by_image ON revisions (image) WHERE image IS NOT NULL;
