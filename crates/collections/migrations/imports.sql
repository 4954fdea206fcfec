-- Pictures and captions from elsewhere.

-- Pictures and captions that a host has taken over from elsewhere.
CREATE TABLE import (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    -- The host who answers for it; NULL if none is named, or once they have deleted their account.
    account TEXT REFERENCES account (id) ON DELETE SET NULL,
    -- Where it comes from, as pages and releases say.
    name TEXT NOT NULL,
    licence TEXT NOT NULL,
    attribution TEXT NOT NULL,
    -- One that was interrupted is running until it is run again.
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'removing', 'removed')),
    -- How much was left out, by reason, as a JSON object.
    left_out TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX import_collection ON import (collection, id);

-- What an import has added, with the id of the image and the name of its file there.
CREATE TABLE import_item (
    subject TEXT PRIMARY KEY,
    import TEXT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'caption')),
    source_id TEXT NOT NULL,
    file_name TEXT NOT NULL
);
CREATE INDEX import_item_import ON import_item (import, kind);
