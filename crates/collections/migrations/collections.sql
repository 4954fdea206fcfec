-- Collections, and those who take part.

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
    -- Approved pictures after which a person's pictures need no approval.
    approvals BIGINT NOT NULL,
    -- Whether people may describe their own pictures.
    own_pictures BIGINT NOT NULL,
    -- Who may download releases.
    releases TEXT NOT NULL CHECK (releases IN ('contributors', 'everybody')),
    created_at BIGINT NOT NULL,
    -- What contributors are asked about a picture, as a JSON array.
    details TEXT NOT NULL DEFAULT '[]',
    -- The wanted captions of each picture and the target, by language, as a JSON array; the language is empty if captions
    -- of all languages count together.
    goals TEXT NOT NULL DEFAULT '[]',
    -- The fewest words, or Chinese characters, of a caption, by language, as a JSON object; for other languages, those of
    -- the rules.
    shortest TEXT NOT NULL DEFAULT '{}'
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
