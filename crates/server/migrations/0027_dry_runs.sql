-- The last dry run of each phase, which counts nowhere. The report and the scores are JSON; the file is needed until it is
-- scored.
CREATE TABLE dry_run (
    phase TEXT PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'scored', 'failed')),
    file TEXT NOT NULL,
    blob TEXT,
    report TEXT NOT NULL,
    scores TEXT NOT NULL,
    reason TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
