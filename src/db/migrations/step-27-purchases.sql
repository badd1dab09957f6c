ALTER TABLE redemptions ADD COLUMN purchase TEXT CHECK (json_valid(purchase));
