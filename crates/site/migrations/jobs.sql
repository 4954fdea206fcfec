-- Jobs, and what is done once a day.

CREATE TABLE job (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    priority BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    run_after BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    error TEXT,
    -- The request that caused it, for logs.
    cause TEXT,
    -- The queue that jobs of this kind stand in, so that none waits for those of another.
    lane TEXT NOT NULL DEFAULT 'scoring'
);
CREATE INDEX job_open ON job (state, priority, id);
CREATE INDEX job_subject ON job (subject);
CREATE INDEX job_lane ON job (lane, state, priority, id);
-- Waits are estimated from the newest of a kind.
CREATE INDEX job_kind ON job (kind, state, id);

-- What is done once a day, by whichever process is first.
CREATE TABLE daily (
    task TEXT PRIMARY KEY,
    day TEXT NOT NULL
);
