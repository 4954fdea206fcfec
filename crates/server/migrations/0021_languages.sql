-- Each language of a collection may have a number of captions for each picture, and a target, of its own. `goals` is a JSON
-- array; the language of a goal is empty if it counts the captions of all languages together, as all did until now.
ALTER TABLE collection ADD COLUMN goals TEXT NOT NULL DEFAULT '[]';
UPDATE collection SET goals = '[{"language":"","captions":' || CAST(wanted AS TEXT) || ',"target":' || CAST(target AS TEXT) || '}]';
ALTER TABLE collection DROP COLUMN wanted;
ALTER TABLE collection DROP COLUMN target;

-- The counters of a picture for each goal of its collection, from the time when it may be described.
CREATE TABLE image_slots (
    image TEXT NOT NULL REFERENCES image (id) ON DELETE CASCADE,
    -- That of the goal.
    language TEXT NOT NULL,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    -- Accepted captions that are wanted, a copy of the goal's number, so that one statement can take a slot.
    wanted BIGINT NOT NULL,
    -- Reservations, and captions that wait or are accepted.
    taken BIGINT NOT NULL,
    accepted BIGINT NOT NULL,
    -- Whether the picture is open or complete, and its random number: copies, for the indexes.
    is_shown BIGINT NOT NULL,
    shuffle BIGINT NOT NULL,
    PRIMARY KEY (image, language)
);
INSERT INTO image_slots (image, language, collection, wanted, taken, accepted, is_shown, shuffle)
    SELECT id, '', collection, wanted, slots_taken, accepted,
        CASE WHEN state IN ('open', 'complete') THEN 1 ELSE 0 END, shuffle
    FROM image WHERE state IN ('open', 'complete', 'quarantined');
CREATE INDEX image_slots_free ON image_slots (collection, language, accepted, shuffle, image)
    WHERE is_shown = 1 AND taken < wanted;
CREATE INDEX image_slots_newest ON image_slots (collection, language, image) WHERE is_shown = 1 AND taken < wanted;
-- Progress is counted from this index alone. Its own words about `is_shown` keep it from other statements.
CREATE INDEX image_slots_shown ON image_slots (collection, language, accepted, wanted) WHERE is_shown > 0;

DROP INDEX image_free;
DROP INDEX image_newest;
DROP INDEX image_public;
ALTER TABLE image DROP COLUMN wanted;
ALTER TABLE image DROP COLUMN slots_taken;
ALTER TABLE image DROP COLUMN accepted;
CREATE INDEX image_public ON image (collection, id, state) WHERE state IN ('open', 'complete');

-- The goal for which a slot is reserved.
ALTER TABLE assignment ADD COLUMN language TEXT NOT NULL DEFAULT '';
