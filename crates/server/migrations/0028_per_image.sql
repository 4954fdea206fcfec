-- What teams see of their own submissions image by image.
ALTER TABLE phase ADD COLUMN per_image TEXT NOT NULL DEFAULT 'none' CHECK (per_image IN ('none', 'scores', 'explained'));
