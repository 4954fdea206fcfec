-- Questions about benchmarks in public, and their answers, which are rows of the same shape.

CREATE TABLE question (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    -- The question that it answers; NULL for a question.
    answers TEXT REFERENCES question (id) ON DELETE CASCADE,
    -- NULL if the account was deleted, and with it the words.
    account TEXT REFERENCES account (id),
    -- Empty for an answer.
    title TEXT NOT NULL,
    -- Markdown.
    text TEXT NOT NULL,
    -- Whether a host wrote it.
    is_host BIGINT NOT NULL,
    pinned_at BIGINT,
    -- When a host hid it from all others.
    hidden_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX question_newest ON question (benchmark, id) WHERE answers IS NULL AND pinned_at IS NULL;
CREATE INDEX question_pinned ON question (benchmark, id) WHERE pinned_at IS NOT NULL;
CREATE INDEX question_answers ON question (answers, id);
CREATE INDEX question_account ON question (account, created_at);
