-- Numbers made of the measures of a phase, as JSON; and the rule that ranks over several measures, if any.
ALTER TABLE phase ADD COLUMN derive TEXT NOT NULL DEFAULT '[]';
ALTER TABLE phase ADD COLUMN rank_by TEXT NOT NULL DEFAULT '';
