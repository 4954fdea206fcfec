-- Whether only hosts see a benchmark, until it is published.
ALTER TABLE benchmark ADD COLUMN draft BIGINT NOT NULL DEFAULT 0;
-- The names under which the files of references, of their lists of images and of baselines came; empty if they are not
-- known.
ALTER TABLE reference_set ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE reference_set ADD COLUMN images_file TEXT NOT NULL DEFAULT '';
ALTER TABLE submission ADD COLUMN file TEXT NOT NULL DEFAULT '';
