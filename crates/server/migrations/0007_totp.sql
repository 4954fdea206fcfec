-- The secret of the second factor, in base 32, and the last step of time whose code was used, so that none works twice.
ALTER TABLE account ADD COLUMN totp_secret TEXT;
ALTER TABLE account ADD COLUMN totp_step BIGINT NOT NULL DEFAULT 0;
