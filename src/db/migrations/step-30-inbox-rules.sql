ALTER TABLE inbox ADD COLUMN rules TEXT CHECK (json_valid(rules));
