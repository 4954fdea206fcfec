-- Who takes part in a benchmark: its terms, and those who accepted them or asked to be admitted.

-- The texts of terms. A version has several if its hosts corrected it without asking again.
CREATE TABLE terms (
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    -- The SHA-256 of the text.
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (benchmark, version, digest)
);

CREATE TABLE terms_acceptance (
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    digest TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (benchmark, account, version)
);
CREATE INDEX terms_acceptance_account ON terms_acceptance (account);

-- What a person says about themselves to take part in a benchmark, and what its hosts answered.
CREATE TABLE participant (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    affiliation TEXT NOT NULL,
    country TEXT NOT NULL,
    reason TEXT NOT NULL,
    -- The state of their request to be admitted; NULL if they made none.
    state TEXT CHECK (state IN ('open', 'accepted', 'refused')),
    answer TEXT NOT NULL DEFAULT '',
    -- How often they asked, which is limited.
    asked BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    answered_at BIGINT,
    UNIQUE (benchmark, account)
);
CREATE INDEX participant_account ON participant (account);
CREATE INDEX participant_newest ON participant (benchmark, id);
