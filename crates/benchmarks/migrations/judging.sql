-- Judgements of captions by people.

-- People judge sampled captions of the entries of a phase, and of references, without knowing whose they are.
CREATE TABLE evaluation (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- The address of a picture, with {id} in the place of the id of the image.
    pictures TEXT NOT NULL,
    images BIGINT NOT NULL,
    -- How many people should judge each caption.
    wanted BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('preparing', 'open', 'closed', 'failed')),
    reason TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX evaluation_phase ON evaluation (phase);

CREATE TABLE evaluation_rater (
    evaluation TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    PRIMARY KEY (evaluation, account)
);

CREATE TABLE evaluation_item (
    id TEXT PRIMARY KEY,
    evaluation TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE,
    -- NULL for a reference.
    submission TEXT REFERENCES submission (id) ON DELETE CASCADE,
    image TEXT NOT NULL,
    caption TEXT NOT NULL,
    -- A random order.
    position TEXT NOT NULL,
    judged BIGINT NOT NULL
);
CREATE INDEX evaluation_item_next ON evaluation_item (evaluation, judged, position);

CREATE TABLE judgement (
    item TEXT NOT NULL REFERENCES evaluation_item (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    grade BIGINT NOT NULL CHECK (grade BETWEEN 1 AND 4),
    is_machine BIGINT NOT NULL,
    detail BIGINT NOT NULL CHECK (detail BETWEEN 1 AND 5),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (item, account)
);

-- How metrics agree with the people who judged captions of a phase.
CREATE TABLE phase_agreement (
    phase TEXT PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    -- What the page shows, as JSON.
    result TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
