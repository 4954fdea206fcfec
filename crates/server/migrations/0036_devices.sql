-- Browsers from which someone has signed in, whom the guesses of others do not keep out.
CREATE TABLE known_device (
    hash TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    seen_at BIGINT NOT NULL
);
CREATE INDEX known_device_account ON known_device (account);

-- When the owner was last told that someone guesses the password.
ALTER TABLE account ADD COLUMN warned_at BIGINT;
