-- What names of teams are compared by: no two teams have a key in common. The program writes the keys of teams that were
-- there before when it starts.
CREATE TABLE team_key (
    key TEXT PRIMARY KEY,
    team TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE
);
CREATE INDEX team_key_team ON team_key (team);
