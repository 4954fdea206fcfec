-- What contributors are asked about a picture; until now, they were asked about a game.
ALTER TABLE collection ADD COLUMN details TEXT NOT NULL DEFAULT '[]';

UPDATE collection SET details = '["Game title","Platform"]';
