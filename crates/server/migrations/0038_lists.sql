-- The newest rows of lists are found without sorting all.
CREATE INDEX submission_newest ON submission (phase, id);
CREATE INDEX submission_of_team ON submission (team, id);
CREATE INDEX submission_counted ON submission (phase, kind, state, created_at);
CREATE INDEX audit_newest ON audit (subject, id);
