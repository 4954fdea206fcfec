-- The queue that jobs of a kind stand in, so that none waits for those of another.
ALTER TABLE job ADD COLUMN lane TEXT NOT NULL DEFAULT 'scoring';
UPDATE job SET lane = CASE
    WHEN kind IN ('send', 'team-request', 'announcement', 'sign-in-end', 'account-deletion', 'picture', 'discard')
    THEN 'errands'
    WHEN kind IN ('sample', 'images', 'dry-run', 'prepare', 'release') THEN 'checks'
    WHEN kind IN ('contrast-pair', 'compare-pair', 'compare', 'phase-agreement', 'agreement') THEN 'comparisons'
    WHEN kind IN ('backup', 'import-removal') THEN 'upkeep'
    ELSE 'scoring'
END;
CREATE INDEX job_lane ON job (lane, state, priority, id);
-- Waits are estimated from the newest of a kind.
CREATE INDEX job_kind ON job (kind, state, id);

-- The hash of the link in an email, whose secret is made when it is sent; NULL if it has none.
ALTER TABLE outbox ADD COLUMN link TEXT;
CREATE INDEX outbox_target ON outbox (target, id);
