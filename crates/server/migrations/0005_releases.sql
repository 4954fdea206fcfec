-- Which phase has the hidden split of which release.
CREATE TABLE publication (
    phase TEXT PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    release TEXT NOT NULL REFERENCES release (id) ON DELETE CASCADE,
    split TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX publication_release ON publication (release);

-- How metrics agree with the ratings of a collection, for each language.
CREATE TABLE agreement (
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    language TEXT NOT NULL,
    -- What the page shows, as JSON.
    result TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (collection, language)
);
