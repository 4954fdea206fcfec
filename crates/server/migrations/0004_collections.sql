-- A collection: pictures, captions of each by `wanted` people, ratings of captions, releases.
CREATE TABLE collection (
    id TEXT PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    -- What contributors should know, in Markdown.
    guide TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('public', 'registered', 'hidden')),
    state TEXT NOT NULL CHECK (state IN ('open', 'paused', 'closed')),
    -- The languages of captions and the licences of pictures, as JSON arrays.
    languages TEXT NOT NULL,
    licences TEXT NOT NULL,
    -- Accepted captions by different people for each picture.
    wanted BIGINT NOT NULL,
    -- Complete pictures that end the collection.
    target BIGINT NOT NULL,
    -- Approved pictures after which a person's pictures need no approval.
    approvals BIGINT NOT NULL,
    -- Whether people may describe their own pictures.
    own_pictures BIGINT NOT NULL,
    -- Who may download releases.
    releases TEXT NOT NULL CHECK (releases IN ('contributors', 'everybody')),
    created_at BIGINT NOT NULL
);

CREATE TABLE collection_staff (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    duty TEXT NOT NULL CHECK (duty IN ('host', 'moderator')),
    PRIMARY KEY (collection, account)
);

-- Who takes part: since when they have passed the quiz, and whether boards name them.
CREATE TABLE contributor (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    on_board BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (collection, account)
);

CREATE TABLE quiz (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    attempts BIGINT NOT NULL,
    passed_at BIGINT,
    PRIMARY KEY (collection, account)
);

-- What a person declared when they uploaded pictures.
CREATE TABLE consent (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    account TEXT REFERENCES account (id) ON DELETE SET NULL,
    licence TEXT NOT NULL,
    -- The declaration in the words that were shown.
    declaration TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX consent_account ON consent (account);

CREATE TABLE image (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    -- NULL once the uploader has had their data deleted.
    uploader TEXT REFERENCES account (id) ON DELETE SET NULL,
    consent TEXT REFERENCES consent (id),
    licence TEXT NOT NULL,
    game TEXT NOT NULL,
    platform TEXT NOT NULL,
    -- The hash of the file as it was uploaded, and that file until it is processed, among the blobs.
    source_hash TEXT NOT NULL,
    upload TEXT,
    -- The picture as it was written anew, and a small one, among the blobs.
    blob TEXT,
    thumb TEXT,
    kind TEXT,
    width BIGINT,
    height BIGINT,
    size BIGINT,
    -- The perceptual hash, as 16 hexadecimal digits, and the picture that is nearly the same.
    phash TEXT,
    near TEXT,
    -- Pictures of one group, uploader and game, stay together in splits.
    split_group TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN
        ('processing', 'pending', 'open', 'complete', 'rejected', 'quarantined', 'withdrawn')),
    reason TEXT,
    -- Accepted captions that are wanted, a copy of the collection's number, so that one statement can take a slot.
    wanted BIGINT NOT NULL,
    -- Reservations, and captions that wait or are accepted.
    slots_taken BIGINT NOT NULL,
    accepted BIGINT NOT NULL,
    -- A random number, for the order in which people meet pictures.
    shuffle BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    approved_at BIGINT,
    approved_by TEXT
);
CREATE UNIQUE INDEX image_source ON image (collection, source_hash) WHERE state NOT IN ('rejected', 'withdrawn');
CREATE INDEX image_state ON image (collection, state);
CREATE INDEX image_uploader ON image (uploader);
CREATE INDEX image_blob ON image (blob);
CREATE INDEX image_free ON image (collection, accepted, shuffle) WHERE state = 'open' AND slots_taken < wanted;
CREATE INDEX image_newest ON image (collection, id) WHERE state = 'open' AND slots_taken < wanted;

-- Parts of perceptual hashes: pictures whose hashes differ in few bits have one in common.
CREATE TABLE image_band (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    band TEXT NOT NULL,
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    PRIMARY KEY (collection, band, image)
);

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
CREATE INDEX caption_author ON caption (author, collection);
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
    PRIMARY KEY (collection, account, kind)
);
CREATE INDEX assignment_expires ON assignment (expires_at);
CREATE INDEX assignment_image ON assignment (image);

-- What a person has typed and not handed in.
CREATE TABLE draft (
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (image, account)
);
CREATE INDEX draft_account ON draft (account);

CREATE TABLE skip (
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (image, account)
);

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
CREATE INDEX gold_collection ON gold (collection);

CREATE TABLE gold_rating (
    gold TEXT NOT NULL REFERENCES gold (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    grade BIGINT NOT NULL CHECK (grade BETWEEN 1 AND 4),
    is_right BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (gold, account)
);

CREATE TABLE rater (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    ratings BIGINT NOT NULL,
    gold_rated BIGINT NOT NULL,
    gold_right BIGINT NOT NULL,
    weight BIGINT NOT NULL,
    PRIMARY KEY (collection, account)
);

-- What somebody objects to: a picture or a caption. The reporter is NULL for people without an account.
CREATE TABLE report (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'caption', 'takedown')),
    subject TEXT NOT NULL,
    reporter TEXT REFERENCES account (id) ON DELETE SET NULL,
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    -- How to reach somebody without an account.
    contact TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'upheld', 'refused')),
    decided_by TEXT,
    decided_at BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (subject, reporter)
);
CREATE INDEX report_open ON report (collection, state);
CREATE INDEX report_reporter ON report (reporter, state);

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
