-- What stands on the boards of a phase by a reference set: for each team the submission that stands for it, and all
-- baselines and people. Scores are JSON: by measure, the value and the ends of its interval. These rows change in the
-- transaction that changes what stands.
CREATE TABLE standing (
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    scores TEXT NOT NULL,
    PRIMARY KEY (reference_set, submission)
);
CREATE INDEX standing_submission ON standing (submission);
-- How often these rows of a phase were written. The program writes those of phases that were scored before when it
-- starts.
ALTER TABLE phase ADD COLUMN settled BIGINT NOT NULL DEFAULT 0;
CREATE INDEX submission_team ON submission (phase, COALESCE(team, ''));
CREATE INDEX submission_removed ON submission (phase) WHERE disqualified_at IS NOT NULL;
CREATE INDEX comparison_measure ON comparison (score_set, reference_set, metric);
