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
