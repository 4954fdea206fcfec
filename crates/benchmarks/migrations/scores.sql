-- Scores, and what boards show of them.

-- One scoring of all submissions by one version of the references. It is begun by one version of the engine; which one
-- scored a submission is in its signatures, in scored_by.
CREATE TABLE score_set (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    engine TEXT NOT NULL,
    metrics TEXT NOT NULL,
    references_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- How many submissions a score set still lacks before boards may show it.
    pending BIGINT NOT NULL DEFAULT 0,
    -- Why boards never show it.
    reason TEXT
);

CREATE TABLE score (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION,
    PRIMARY KEY (score_set, submission, reference_set, metric)
);
CREATE INDEX score_submission ON score (submission);

-- How the engine scored a submission in a score set: signatures by reference set, as JSON.
CREATE TABLE scored_by (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    signatures TEXT NOT NULL,
    PRIMARY KEY (score_set, submission)
);

-- What stands on the boards of a phase by a reference set: for each team the submission that stands for it, and all
-- baselines and people. Scores are JSON: by measure, the value and the ends of its interval. These rows change in the
-- transaction that changes what stands.
CREATE TABLE standing (
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    scores TEXT NOT NULL,
    -- Whether the submission stood on the board before another one of its team.
    is_past BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (reference_set, submission)
);
CREATE INDEX standing_submission ON standing (submission);

-- The p-value of a test of two submissions that stand beside each other on a board, NULL where there is none; boards
-- correct over their rows. The smaller id comes first.
CREATE TABLE comparison (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    one TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    other TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    p DOUBLE PRECISION,
    PRIMARY KEY (score_set, one, other, reference_set, metric)
);
CREATE INDEX comparison_measure ON comparison (score_set, reference_set, metric);

-- How two submissions differ image by image, by a reference set and a measure, as JSON, for those who may see both image by
-- image. The smaller id comes first.
CREATE TABLE contrast (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    one TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    other TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    result TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (score_set, one, other, reference_set, metric)
);
CREATE INDEX contrast_one ON contrast (one);
CREATE INDEX contrast_other ON contrast (other);
