-- The request that caused a job, for logs.
ALTER TABLE job ADD COLUMN cause TEXT;
