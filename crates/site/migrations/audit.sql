-- What people did that others may have to look up.

CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- Where it belongs, such as a benchmark, whose log shows it.
    place TEXT,
    detail TEXT NOT NULL
);
CREATE INDEX audit_subject ON audit (subject);
-- The newest rows of lists are found without sorting all.
CREATE INDEX audit_newest ON audit (subject, id);
CREATE INDEX audit_place ON audit (place, id);
