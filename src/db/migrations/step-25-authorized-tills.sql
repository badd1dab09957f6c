ALTER TABLE shops ADD COLUMN
  only_authorized_tills INTEGER NOT NULL DEFAULT 0 CHECK (only_authorized_tills IN (0, 1));
