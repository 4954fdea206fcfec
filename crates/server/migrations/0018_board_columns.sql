-- The keys of the measures that a board shows unless a visitor chooses others, as JSON; none for all.
ALTER TABLE phase ADD COLUMN board_columns TEXT NOT NULL DEFAULT '[]';
