-- The fewest words, or Chinese characters, of a caption, by language, as a JSON object; for other languages, those of the
-- rules.
ALTER TABLE collection ADD COLUMN shortest TEXT NOT NULL DEFAULT '{}';
