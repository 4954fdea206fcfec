-- How many submissions a score set still lacks before boards may show it.
ALTER TABLE score_set ADD COLUMN pending BIGINT NOT NULL DEFAULT 0;
-- Why boards never show it.
ALTER TABLE score_set ADD COLUMN reason TEXT;

-- How the engine scored a submission in a score set: signatures, as JSON.
CREATE TABLE scored_by (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    signatures TEXT NOT NULL,
    PRIMARY KEY (score_set, submission)
);

