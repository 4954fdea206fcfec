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

-- Since when it is known that the email address of an account is that of its owner; NULL if it is not known.
ALTER TABLE account ADD COLUMN confirmed_at BIGINT;
UPDATE account SET confirmed_at = created_at WHERE EXISTS
    (SELECT 1 FROM invitation WHERE invitation.used_by = account.id AND invitation.email = account.email);
