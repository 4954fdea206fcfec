-- The data card of a release in Chinese; `card` is the English one.
ALTER TABLE release ADD COLUMN card_zh TEXT;

-- How metrics agree with the people who judged captions of a phase.
CREATE TABLE phase_agreement (
    phase TEXT PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    -- What the page shows, as JSON.
    result TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
