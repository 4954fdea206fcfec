-- Captions, and what people work on.

CREATE TABLE caption (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    -- NULL once the author has had their data deleted.
    author TEXT REFERENCES account (id) ON DELETE SET NULL,
    language TEXT NOT NULL,
    -- Simplified or traditional Chinese: hans, hant, mixed; empty if it cannot be said.
    script TEXT NOT NULL,
    text TEXT NOT NULL,
    -- Without case, space and punctuation, to find the same text again.
    text_norm TEXT NOT NULL,
    characters BIGINT NOT NULL,
    words BIGINT NOT NULL,
    -- The codes of rules that warned, as a JSON array.
    warnings TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('submitted', 'accepted', 'rejected', 'split', 'quarantined', 'withdrawn')),
    -- The state before it was quarantined.
    state_before TEXT,
    reason TEXT,
    -- Ratings that count, and how many are wanted now.
    ratings BIGINT NOT NULL,
    ratings_wanted BIGINT NOT NULL,
    shuffle BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    decided_at BIGINT,
    UNIQUE (image, author)
);
CREATE INDEX caption_state ON caption (collection, state);
CREATE INDEX caption_author ON caption (author, collection, id);
CREATE INDEX caption_waits ON caption (collection, id) WHERE state IN ('split', 'quarantined');
CREATE INDEX caption_norm ON caption (collection, text_norm);
CREATE INDEX caption_unrated ON caption (collection, ratings, shuffle) WHERE state = 'submitted';

-- A slot that a person holds for a while.
CREATE TABLE assignment (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('caption', 'rating')),
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    -- The caption to rate.
    caption TEXT REFERENCES caption (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- The goal for which a slot is reserved.
    language TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (collection, account, kind)
);
CREATE INDEX assignment_expires ON assignment (expires_at);
CREATE INDEX assignment_image ON assignment (image);

-- What a person has typed and not sent.
CREATE TABLE draft (
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (image, account)
);
CREATE INDEX draft_account ON draft (account, image);

CREATE TABLE skip (
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (image, account)
);
