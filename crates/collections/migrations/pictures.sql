-- Pictures, and how many captions of each are wanted.

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
    -- A random number, for the order in which people meet pictures.
    shuffle BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    approved_at BIGINT,
    approved_by TEXT
);
CREATE UNIQUE INDEX image_source ON image (collection, source_hash) WHERE state NOT IN ('rejected', 'withdrawn');
CREATE INDEX image_state ON image (collection, state);
CREATE INDEX image_uploader ON image (uploader, collection, id);
CREATE INDEX image_waits ON image (collection, id) WHERE state IN ('pending', 'quarantined');
CREATE INDEX image_blob ON image (blob);
-- The pages of collections with very many pictures list from this index alone. Only statements with these words about
-- the state can use it, so that it does not keep the others from their own.
CREATE INDEX image_public ON image (collection, id, state) WHERE state IN ('open', 'complete');

-- Parts of perceptual hashes: pictures whose hashes differ in few bits have one in common.
CREATE TABLE image_band (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    band TEXT NOT NULL,
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    PRIMARY KEY (collection, band, image)
);

-- The counters of a picture for each goal of its collection, from the time when it may be described.
CREATE TABLE image_slots (
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    -- That of the goal.
    language TEXT NOT NULL,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    -- Accepted captions that are wanted, a copy of the goal's number, so that one statement can take a slot.
    wanted BIGINT NOT NULL,
    -- Reservations, and captions that wait or are accepted.
    taken BIGINT NOT NULL,
    accepted BIGINT NOT NULL,
    -- Whether the picture is open or complete, and its random number: copies, for the indexes.
    is_shown BIGINT NOT NULL,
    shuffle BIGINT NOT NULL,
    PRIMARY KEY (image, language)
);
CREATE INDEX image_slots_free ON image_slots (collection, language, accepted, shuffle, image)
    WHERE is_shown = 1 AND taken < wanted;
CREATE INDEX image_slots_newest ON image_slots (collection, language, image) WHERE is_shown = 1 AND taken < wanted;
-- Progress is counted from this index alone. Its own words about `is_shown` keep it from other statements.
CREATE INDEX image_slots_shown ON image_slots (collection, language, accepted, wanted) WHERE is_shown > 0;
