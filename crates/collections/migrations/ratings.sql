-- Ratings of captions, and captions whose grade is known.

CREATE TABLE rating (
    caption TEXT NOT NULL REFERENCES caption (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    grade BIGINT NOT NULL CHECK (grade BETWEEN 1 AND 4),
    -- The kinds of errors, as a JSON array.
    tags TEXT NOT NULL,
    -- The weight of the rater when it was given: 0 does not count.
    weight BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (caption, account)
);
CREATE INDEX rating_account ON rating (account);

CREATE TABLE rater (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    ratings BIGINT NOT NULL,
    gold_rated BIGINT NOT NULL,
    gold_right BIGINT NOT NULL,
    weight BIGINT NOT NULL,
    PRIMARY KEY (collection, account)
);

-- Captions whose grade is known, to see how well people rate.
CREATE TABLE gold (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    language TEXT NOT NULL,
    text TEXT NOT NULL,
    grade BIGINT NOT NULL CHECK (grade BETWEEN 1 AND 4),
    created_by TEXT,
    created_at BIGINT NOT NULL,
    retired_at BIGINT
);
CREATE INDEX gold_collection ON gold (collection, id);

CREATE TABLE gold_rating (
    gold TEXT NOT NULL REFERENCES gold (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    grade BIGINT NOT NULL CHECK (grade BETWEEN 1 AND 4),
    is_right BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (gold, account)
);

-- How metrics agree with the ratings of a collection, for each language.
CREATE TABLE agreement (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    language TEXT NOT NULL,
    -- What the page shows, as JSON.
    result TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (collection, language)
);
