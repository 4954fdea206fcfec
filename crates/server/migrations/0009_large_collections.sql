-- The pages of collections with very many pictures count and list from this index alone. Only statements with these words
-- about the state can use it, so that it does not keep the others from their own.
CREATE INDEX image_public ON image (collection, id, state, accepted) WHERE state IN ('open', 'complete');
