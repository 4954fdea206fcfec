-- Messages to the outside.

-- Messages to the outside, mail and webhooks, written in the transaction that causes them.
CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('mail', 'webhook')),
    target TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    run_after BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    sent_at BIGINT,
    error TEXT,
    -- The announcement that it sends, and the path of the link that ends such messages.
    about TEXT,
    unsubscribe TEXT,
    -- The hash of the link in an email, whose secret is made when it is sent; NULL if it has none.
    link TEXT
);
CREATE INDEX outbox_open ON outbox (sent_at, run_after);
CREATE INDEX outbox_about ON outbox (about) WHERE about IS NOT NULL;
CREATE INDEX outbox_target ON outbox (target, id);

-- Who wants no announcements by email. The secret is in links that say so; it does nothing else, so it is stored as it
-- is, since each email has it.
CREATE TABLE mail_choice (
    account TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    secret TEXT NOT NULL UNIQUE,
    declined_at BIGINT
);
