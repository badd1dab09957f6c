-- One row with the number of requests, updated with each change, so that the limit needs no count.
CREATE TABLE request_load (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT;
INSERT INTO request_load (id, rows) SELECT 1, count(*) FROM requests;

DROP INDEX vouchers_chain_end;
CREATE UNIQUE INDEX vouchers_chain_end ON vouchers (coalesce(root_id, id)) WHERE phase <> 'refreshed';
