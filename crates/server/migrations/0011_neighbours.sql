-- Neighbours on a board were tested with too few exchanges, and corrected over all measures. Now a row has the p-value
-- of a test, NULL where there is none; boards correct over their rows. The smaller id comes first.
DELETE FROM comparison;
ALTER TABLE comparison DROP COLUMN differs;
ALTER TABLE comparison RENAME COLUMN above TO one;
ALTER TABLE comparison RENAME COLUMN below TO other;
INSERT INTO job (id, kind, subject, state, priority, attempt, run_after, lease_until, created_at)
SELECT 'compare-' || id, 'compare', id, 'queued', 10, 0, 0, 0, 0 FROM phase WHERE score_set IS NOT NULL;
