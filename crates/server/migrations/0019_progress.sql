-- Whether a row is of a submission that stood on the board before another one of its team. The program writes all rows of
-- phases that are scored again when it starts.
ALTER TABLE standing ADD COLUMN is_past BIGINT NOT NULL DEFAULT 0;
UPDATE phase SET settled = 0;
