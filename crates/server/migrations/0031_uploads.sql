-- The file of a submission as it was uploaded, whose name is in `file`; older submissions have only the captions that were
-- read from it.
ALTER TABLE submission ADD COLUMN upload TEXT;
