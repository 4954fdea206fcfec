//! The best entry of a board, for pages that show only this entry.

use capeval_site::prelude::*;

use super::order::{order, score_text};
use super::queries::{Sight, sight};
use super::ranks::ranking;
use super::standing::StandingCache;
use crate::records::{ReferenceSet, SeenBenchmark};
use crate::settings::Phase;

/// The entry in the first place.
pub struct Leader {
    pub team_name: String,
    pub method: String,
    /// The measure that ranks, or the first number of the rule that does.
    pub measure: String,
    pub score: String,
}

/// A label without what says it another way: “CIDEr-D (COCO's CIDEr)”.
pub fn short(label: &str) -> &str {
    label.split_once(" (COCO").map_or(label, |(short, _)| short)
}

/// The best entry of a phase by what ranks, if there is one and the visitor may see all scores.
pub async fn leader(
    app: &App,
    seen: &SeenBenchmark,
    phase: &Phase,
    sets: &[ReferenceSet],
    visitor: Option<&Visitor>,
) -> Result<Option<Leader>> {
    if sight(seen, phase, visitor) != Sight::All {
        return Ok(None);
    }
    let Some(set) = phase.main_of(sets) else { return Ok(None) };
    let ranking = ranking(phase, set);
    let Some(main) = ranking.first() else { return Ok(None) };
    let rows = order(app.part::<StandingCache>().standing(&app.store, phase, set).await?, &ranking);
    let best = rows.into_iter().find(|row| row.rank == Some(1));
    Ok(best.and_then(|row| {
        Some(Leader {
            score: score_text(row.entry.score(main)?, main, phase.decimals),
            measure: short(&main.label).to_owned(),
            team_name: row.entry.team_name.clone(),
            method: row.entry.method.clone(),
        })
    }))
}
