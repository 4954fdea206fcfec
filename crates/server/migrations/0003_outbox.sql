-- Where a host wants to be told of submissions. The secret signs messages, so it cannot be stored as a hash.
CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhook_benchmark ON webhook (benchmark);

-- The only address with which an invitation makes an account; NULL for any.
ALTER TABLE invitation ADD COLUMN email TEXT;
