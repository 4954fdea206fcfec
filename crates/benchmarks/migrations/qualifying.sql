-- Phases that open by the ranks of an earlier one: the teams that may submit, as the board was when the list was fixed.

CREATE TABLE qualifier (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    rank BIGINT NOT NULL,
    -- What stood for the team on the earlier board.
    submission TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
    -- Its copy in this phase; NULL if the phase takes none over.
    copy TEXT REFERENCES submission (id) ON DELETE SET NULL,
    PRIMARY KEY (phase, team)
);
CREATE INDEX qualifier_team ON qualifier (team);
