-- A file with vectors of the pictures of a phase, for metrics such as CLIPScore: the hash of the file, and its name.
ALTER TABLE phase ADD COLUMN vectors_hash TEXT;
ALTER TABLE phase ADD COLUMN vectors_file TEXT NOT NULL DEFAULT '';
