-- Teams, and those that take part in a phase.

CREATE TABLE team (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL REFERENCES account (id),
    created_at BIGINT NOT NULL
);

-- What names of teams are compared by: no two teams have a key in common.
CREATE TABLE team_key (
    key TEXT PRIMARY KEY,
    team TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE
);
CREATE INDEX team_key_team ON team_key (team);

CREATE TABLE team_member (
    team TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    joined_at BIGINT NOT NULL,
    PRIMARY KEY (team, account)
);
CREATE INDEX team_member_account ON team_member (account);

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

CREATE TABLE entry (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    pinned TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (phase, team)
);

-- One team per person and phase.
CREATE TABLE entry_member (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    PRIMARY KEY (phase, account)
);

-- How many submissions a team made on a day; the day '*' counts all of them.
CREATE TABLE quota (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    day TEXT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (phase, team, day)
);

-- Submissions that a host grants beyond the limits; the day '*' raises the total.
CREATE TABLE quota_grant (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    team TEXT NOT NULL REFERENCES team (id),
    day TEXT NOT NULL,
    extra BIGINT NOT NULL,
    reason TEXT NOT NULL,
    granted_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX quota_grant_team ON quota_grant (phase, team);
