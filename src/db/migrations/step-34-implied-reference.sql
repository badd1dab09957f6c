-- Only a reference on PostgreSQL changes (postgres-34-implied-reference.sql).
SELECT 1;
