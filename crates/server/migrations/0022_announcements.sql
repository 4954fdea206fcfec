-- What hosts tell those who take part in a benchmark.
CREATE TABLE announcement (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    -- The phase for whose participants it is; NULL for those of all phases.
    phase TEXT REFERENCES phase (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    is_mailed BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    edited_at BIGINT,
    retracted_at BIGINT
);
CREATE INDEX announcement_benchmark ON announcement (benchmark, created_at);

-- Who wants no announcements by email. The secret is in links that say so; it does nothing else, so it is stored as it
-- is, since each email has it.
CREATE TABLE mail_choice (
    account TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    secret TEXT NOT NULL UNIQUE,
    declined_at BIGINT
);

-- The announcement that a message sends, and the path of the link that ends such messages.
ALTER TABLE outbox ADD COLUMN about TEXT;
ALTER TABLE outbox ADD COLUMN unsubscribe TEXT;
CREATE INDEX outbox_about ON outbox (about) WHERE about IS NOT NULL;
