-- Submissions, and what they are scored with.

CREATE TABLE submission (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- NULL for baselines and the human row.
    team TEXT REFERENCES team (id),
    account TEXT REFERENCES account (id),
    kind TEXT NOT NULL CHECK (kind IN ('entry', 'baseline', 'human')),
    method TEXT NOT NULL,
    description TEXT NOT NULL,
    link TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'scored', 'failed', 'cancelled')),
    reason TEXT,
    -- The captions in canonical form, so that the same captions are the same blob.
    blob TEXT,
    size BIGINT NOT NULL,
    charged_day TEXT,
    refunded BIGINT NOT NULL,
    idempotency_key TEXT,
    disqualified_at BIGINT,
    disqualified_for TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    -- What the team says about its method. Tags are a JSON list; details are a JSON object with a value for each column
    -- that the phase defines and the team fills in.
    authors TEXT NOT NULL DEFAULT '',
    code TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT '[]',
    details TEXT NOT NULL DEFAULT '{}',
    -- The name under which the file came; empty if it is not known.
    file TEXT NOT NULL DEFAULT '',
    -- The file as it was uploaded.
    upload TEXT,
    -- When its team chose it for the private half.
    chosen_at BIGINT
);
CREATE INDEX submission_phase ON submission (phase, state);
CREATE INDEX submission_account ON submission (account);
-- The same file again is the same submission, unless the earlier one has no result.
CREATE UNIQUE INDEX submission_blob ON submission (phase, team, blob)
    WHERE state IN ('queued', 'running', 'scored');
CREATE UNIQUE INDEX submission_idempotency ON submission (phase, team, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- One human row per phase.
CREATE UNIQUE INDEX submission_human ON submission (phase) WHERE kind = 'human';
CREATE INDEX submission_team ON submission (phase, COALESCE(team, ''));
CREATE INDEX submission_removed ON submission (phase) WHERE disqualified_at IS NOT NULL;
-- The newest rows of lists are found without sorting all.
CREATE INDEX submission_newest ON submission (phase, id);
CREATE INDEX submission_of_team ON submission (team, id);
CREATE INDEX submission_counted ON submission (phase, kind, state, created_at);

-- Results of a submission image by image, by each reference set, as they were built when someone asked: a page, with its
-- policy, and the scores as lines. They hold for the score set and for what the phase showed at the time.
CREATE TABLE image_result (
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    score_set TEXT NOT NULL,
    page TEXT NOT NULL,
    page_size BIGINT NOT NULL,
    policy TEXT NOT NULL,
    lines TEXT NOT NULL,
    lines_size BIGINT NOT NULL,
    built_at BIGINT NOT NULL,
    PRIMARY KEY (submission, reference_set)
);
