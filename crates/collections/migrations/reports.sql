-- What people object to.

-- An objection to a picture or a caption. The reporter is NULL for people without an account.
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
CREATE INDEX report_open ON report (collection, kind, subject) WHERE state = 'open';
CREATE INDEX report_request ON report (collection, id) WHERE state = 'open' AND kind = 'takedown';
CREATE INDEX report_reporter ON report (reporter, state);
