-- For deleted accounts that took part in a phase, the SHA-256 of the id and the email address, so that the address does
-- not get another quota.
ALTER TABLE account ADD COLUMN address_hash TEXT;
