ALTER TABLE revisions ADD COLUMN rules TEXT CHECK (json_valid(rules) AND rules LIKE '{%');
