-- What the reader noticed about the file of references, as a JSON array of sentences.
ALTER TABLE reference_set ADD COLUMN notices TEXT;
