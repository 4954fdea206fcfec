-- Ids are UUIDv7 as text, times milliseconds since 1970 in UTC, flags 0 or 1, hashes SHA-256 in hexadecimal digits.

CREATE TABLE account (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('member', 'host', 'admin')),
    language TEXT,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT
);

CREATE TABLE session (
    token_hash TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX session_account ON session (account);

CREATE TABLE api_token (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX api_token_account ON api_token (account);

-- A link that makes an account with a role, or lets an account join a team.
CREATE TABLE invitation (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    team TEXT,
    created_by TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by TEXT
);

CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_subject ON audit (subject);

CREATE TABLE job (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    priority BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    run_after BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    error TEXT
);
CREATE INDEX job_open ON job (state, priority, id);
CREATE INDEX job_subject ON job (subject);

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
    error TEXT
);
CREATE INDEX outbox_open ON outbox (sent_at, run_after);

CREATE TABLE benchmark (
    id TEXT PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    rules TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('public', 'registered', 'hidden')),
    created_at BIGINT NOT NULL
);

CREATE TABLE benchmark_host (
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    PRIMARY KEY (benchmark, account)
);

CREATE TABLE phase (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    slug TEXT NOT NULL,
    title TEXT NOT NULL,
    position BIGINT NOT NULL,
    opens_at BIGINT,
    closes_at BIGINT,
    frozen_at BIGINT,
    per_day BIGINT NOT NULL,
    in_total BIGINT NOT NULL,
    board TEXT NOT NULL CHECK (board IN ('public', 'registered', 'own', 'hidden')),
    reveal_at BIGINT,
    decimals BIGINT NOT NULL,
    metrics TEXT NOT NULL,
    main_set TEXT NOT NULL,
    main_metric TEXT NOT NULL,
    human BIGINT NOT NULL,
    -- The score set that boards show; NULL until the first reference set is ready.
    score_set TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (benchmark, slug)
);

CREATE TABLE reference_set (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    position BIGINT NOT NULL,
    language TEXT NOT NULL,
    tokenizer TEXT,
    -- The file of references as it was given, and the prepared file, both among the hidden blobs.
    source_hash TEXT NOT NULL,
    prepared_hash TEXT,
    ids_hash TEXT,
    -- The ids of the images to keep, as a JSON array; NULL for all.
    images TEXT,
    state TEXT NOT NULL CHECK (state IN ('preparing', 'ready', 'failed')),
    reason TEXT,
    n_images BIGINT,
    n_references BIGINT,
    fewest BIGINT,
    -- The measures, as JSON.
    measures TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (phase, name)
);

CREATE TABLE team (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL REFERENCES account (id),
    created_at BIGINT NOT NULL
);

CREATE TABLE team_member (
    team TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    joined_at BIGINT NOT NULL,
    PRIMARY KEY (team, account)
);
CREATE INDEX team_member_account ON team_member (account);

CREATE TABLE entry (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    pinned TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (phase, team)
);

-- One team per person and phase.
CREATE TABLE entry_member (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    PRIMARY KEY (phase, account)
);

-- How many submissions a team made on a day; the day '*' counts all of them.
CREATE TABLE quota (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    day TEXT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (phase, team, day)
);

-- Submissions that a host grants beyond the limits; the day '*' raises the total.
CREATE TABLE quota_grant (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    day TEXT NOT NULL,
    extra BIGINT NOT NULL,
    reason TEXT NOT NULL,
    granted_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX quota_grant_team ON quota_grant (phase, team);

CREATE TABLE submission (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- NULL for baselines and the human row.
    team TEXT REFERENCES team (id),
    account TEXT REFERENCES account (id),
    kind TEXT NOT NULL CHECK (kind IN ('entry', 'baseline', 'human')),
    method TEXT NOT NULL,
    description TEXT NOT NULL,
    link TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'scored', 'failed', 'cancelled')),
    reason TEXT,
    -- The captions in canonical form, so that the same captions are the same blob.
    blob TEXT,
    size BIGINT NOT NULL,
    charged_day TEXT,
    refunded BIGINT NOT NULL,
    idempotency_key TEXT,
    disqualified_at BIGINT,
    disqualified_for TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT
);
CREATE INDEX submission_phase ON submission (phase, state);
CREATE INDEX submission_account ON submission (account);
-- The same file again is the same submission, unless the earlier one has no result.
CREATE UNIQUE INDEX submission_blob ON submission (phase, team, blob)
    WHERE state IN ('queued', 'running', 'scored');
CREATE UNIQUE INDEX submission_idempotency ON submission (phase, team, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- One human row per phase.
CREATE UNIQUE INDEX submission_human ON submission (phase) WHERE kind = 'human';

-- One scoring of all submissions by one version of the references. It is begun by one version of the engine; which one
-- scored a submission is in its signatures, in scored_by.
CREATE TABLE score_set (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    engine TEXT NOT NULL,
    metrics TEXT NOT NULL,
    references_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE score (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION,
    PRIMARY KEY (score_set, submission, reference_set, metric)
);
CREATE INDEX score_submission ON score (submission);

-- Whether a submission differs significantly from the one above it on the board.
CREATE TABLE comparison (
    score_set TEXT NOT NULL REFERENCES score_set (id) ON DELETE CASCADE,
    above TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    below TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    reference_set TEXT NOT NULL REFERENCES reference_set (id) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    p DOUBLE PRECISION,
    differs BIGINT NOT NULL,
    PRIMARY KEY (score_set, above, below, reference_set, metric)
);
