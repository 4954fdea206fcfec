-- What is counted of a benchmark by day and in no other table: visits of its page, and files that were refused, by the
-- kind of problem. No row says who.

CREATE TABLE tally (
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    -- The number of the day since 1970.
    day BIGINT NOT NULL,
    -- `visit`, or a kind of problem.
    what TEXT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (benchmark, day, what)
);
