-- Releases, and what became of them.

CREATE TABLE release (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('preparing', 'ready', 'failed', 'retired')),
    reason TEXT,
    -- What it was made with, as JSON, so that it can be made again.
    parameters TEXT NOT NULL,
    card TEXT,
    images BIGINT,
    captions BIGINT,
    created_by TEXT,
    created_at BIGINT NOT NULL,
    ready_at BIGINT,
    -- The data card of a release in Chinese; `card` is the English one.
    card_zh TEXT,
    UNIQUE (collection, number)
);

CREATE TABLE release_part (
    release TEXT NOT NULL REFERENCES release (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    name TEXT NOT NULL,
    blob TEXT NOT NULL,
    size BIGINT NOT NULL,
    PRIMARY KEY (release, position)
);

-- The numbers that pictures and captions have in released files: given once, and never to anything else.
CREATE TABLE coco_id (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'caption')),
    number BIGINT NOT NULL,
    subject TEXT NOT NULL UNIQUE,
    PRIMARY KEY (collection, kind, number)
);

CREATE TABLE release_item (
    release TEXT NOT NULL REFERENCES release (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'caption')),
    subject TEXT NOT NULL,
    number BIGINT NOT NULL,
    split TEXT NOT NULL,
    PRIMARY KEY (release, kind, subject)
);
CREATE INDEX release_item_subject ON release_item (subject);

-- What was released once and is withdrawn.
CREATE TABLE tombstone (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'caption')),
    number BIGINT NOT NULL,
    reason TEXT NOT NULL,
    withdrawn_at BIGINT NOT NULL,
    PRIMARY KEY (collection, kind, number)
);

CREATE TABLE download (
    id TEXT PRIMARY KEY,
    release TEXT NOT NULL REFERENCES release (id) ON DELETE CASCADE,
    part BIGINT NOT NULL,
    account TEXT REFERENCES account (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX download_release ON download (release);

-- Which phase has the hidden split of which release.
CREATE TABLE publication (
    phase TEXT PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    release TEXT NOT NULL REFERENCES release (id) ON DELETE CASCADE,
    split TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX publication_release ON publication (release);
