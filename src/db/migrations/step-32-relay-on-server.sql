-- Only tables of the relay on PostgreSQL change (postgres-32-long-texts.sql).
SELECT 1;
