-- The address of the picture of an image, with {id} in the place of the id; empty if pictures are not shown.
ALTER TABLE phase ADD COLUMN pictures TEXT NOT NULL DEFAULT '';
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
