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

-- The SHA-256 of the id of an account and an email address that it had, so that the address does not get another quota.
CREATE TABLE former_address (
    account TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (account, hash)
);

INSERT INTO former_address (account, hash)
    SELECT id, address_hash FROM account WHERE address_hash IS NOT NULL;

ALTER TABLE account DROP COLUMN address_hash;
