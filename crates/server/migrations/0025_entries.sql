-- What teams say about their methods. Tags are a JSON list; details are a JSON object with a value for each column that
-- the phase defines and the team fills in.
ALTER TABLE submission ADD COLUMN authors TEXT NOT NULL DEFAULT '';
ALTER TABLE submission ADD COLUMN code TEXT NOT NULL DEFAULT '';
ALTER TABLE submission ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE submission ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
-- The columns, as JSON.
ALTER TABLE phase ADD COLUMN columns TEXT NOT NULL DEFAULT '[]';
