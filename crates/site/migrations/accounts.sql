-- Accounts: people, how they sign in, and what programs may do in their name.
--
-- Ids are UUIDv7 as text, times milliseconds since 1970 in UTC, flags 0 or 1, hashes SHA-256 in hexadecimal digits.

CREATE TABLE account (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('member', 'host', 'admin')),
    language TEXT,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT,
    -- The secret of the second factor, in base 32, and the last step of time whose code was used, so that none works
    -- twice.
    totp_secret TEXT,
    totp_step BIGINT NOT NULL DEFAULT 0,
    -- Since when the email address is known to be that of its owner.
    confirmed_at BIGINT,
    -- When the owner was last told that someone guesses the password.
    warned_at BIGINT
);

-- Hashes of the id of an account and an email address that it had, so that the address does not get another quota.
CREATE TABLE former_address (
    account TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (account, hash)
);

CREATE TABLE session (
    token_hash TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX session_account ON session (account);

-- Browsers from which someone has signed in, whom the guesses of others do not keep out.
CREATE TABLE known_device (
    hash TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    seen_at BIGINT NOT NULL
);
CREATE INDEX known_device_account ON known_device (account);

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
    used_by TEXT,
    -- The only address with which it makes an account; NULL for any.
    email TEXT
);

-- Links that change the password or the email address of an account, once and for a time.
CREATE TABLE account_link (
    hash TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    -- The new address; NULL if the link sets a new password.
    email TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_link_account ON account_link (account);

-- Accounts of other sites with which people sign in.
CREATE TABLE identity (
    id TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    -- What the issuer knows the person by.
    subject TEXT NOT NULL,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    UNIQUE (issuer, subject)
);
CREATE INDEX identity_account ON identity (account);

-- Sign-ins that have begun, for ten minutes: what a browser must come back with from a provider, and then who came back.
CREATE TABLE sign_in_attempt (
    -- The SHA-256 of a cookie.
    hash TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    -- The SHA-256 of what the provider sends back; empty once it has.
    state_hash TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    -- The page to go to.
    destination TEXT NOT NULL,
    -- JSON; NULL until the provider has said who it is.
    identity TEXT,
    expires_at BIGINT NOT NULL
);
