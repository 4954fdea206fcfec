-- Requests to join a team. They end when a member answers, when the person takes them back, or after two weeks. Those
-- that have ended stay for a while, since they limit how often a person may ask.
CREATE TABLE team_request (
    id TEXT PRIMARY KEY,
    team TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    message TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'refused', 'withdrawn', 'expired')),
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE UNIQUE INDEX team_request_open ON team_request (team, account) WHERE state = 'open';
CREATE INDEX team_request_account ON team_request (account, created_at);
