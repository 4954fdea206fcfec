-- Scores that the machines of hosts give.

-- A submission that the engine has scored, and that waits for the scores of a machine.
CREATE TABLE worker_task (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    -- The score set for which its scores are.
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    -- Whether it has scores in another score set.
    is_rescored BIGINT NOT NULL,
    -- The scores of the engine, as JSON, until those of the machine are there.
    measured TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'done', 'failed', 'cancelled')),
    -- The number of claims; only the last one may end the task.
    attempt BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT NOT NULL DEFAULT 0,
    claimed_by TEXT,
    -- The SHA-256 of what ended it, so that the same message has one effect.
    answer TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX worker_task_next ON worker_task (phase, state, id);
CREATE UNIQUE INDEX worker_task_open ON worker_task (submission, score_set) WHERE state IN ('waiting', 'claimed');

-- The values of each image that a machine gave, as a file.
CREATE TABLE given_values (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    blob TEXT NOT NULL,
    PRIMARY KEY (score_set, submission)
);
