//! Combines the votes on the same pair, in order of first appearance.

use std::collections::HashMap;

use super::fault::Fault;
use super::{Choice, Choices};
use crate::{Position, SegmentId};

/// The pairs read so far.
#[derive(Default)]
pub(super) struct Gathering {
    /// The pairs, each with its number of rows and the position of the first row.
    pairs: Vec<(Choice, usize, Position)>,
    /// The index of each pair, by pair id, image, and captions in alphabetical order.
    known: HashMap<(String, SegmentId, [String; 2]), usize>,
}

impl Gathering {
    /// Adds a row of a pair with its references: votes of the same category on the same captions are one pair, such as
    /// those of a row for each rater. A row without votes is counted.
    pub fn add(&mut self, pair: &str, found: Choice, place: Position) -> Result<(), Fault> {
        if found.votes == [0.0, 0.0] {
            self.pairs.push((found, 1, place));
            return Ok(());
        }
        let category = found.category.as_deref().unwrap_or_default();
        let pair = format!("{pair}\0{category}");
        self.combine(pair, found, place, false)
    }

    /// Adds a row with one vote, or none, to its pair; the order of the captions does not matter.
    pub fn add_vote(&mut self, pair: String, found: Choice, place: Position) -> Result<(), Fault> {
        self.combine(pair, found, place, true)
    }

    fn combine(
        &mut self,
        pair: String,
        mut found: Choice,
        place: Position,
        is_vote: bool,
    ) -> Result<(), Fault> {
        let mut captions = found.captions.clone();
        captions.sort_unstable();
        let key = (pair, found.image.clone(), captions);
        let Some((item, n_rows, first)) = self.known.get(&key).and_then(|at| self.pairs.get_mut(*at)) else {
            self.known.insert(key, self.pairs.len());
            self.pairs.push((found, 1, place));
            return Ok(());
        };
        if let (Some(known), Some(other)) = (&item.category, &found.category)
            && known != other
        {
            let at = match (first.line, first.record) {
                (Some(line), _) => format!("line {line}"),
                (None, record) => format!("record {}", record.unwrap_or_default()),
            };
            let message =
                format!("the votes of a pair name two categories, '{other}' here and '{known}' in {at}");
            return Err(Fault::new(message).advise("name one, or distinguish the pairs by a column pair_id"));
        }
        if item.captions != found.captions {
            found.votes.reverse();
        }
        item.votes = [item.votes[0] + found.votes[0], item.votes[1] + found.votes[1]];
        // A vote is on a reference of its own; other rows repeat those of the pair.
        found.references.retain(|text| is_vote || !item.references.contains(text));
        item.references.append(&mut found.references);
        item.category = item.category.take().or(found.category);
        *n_rows += 1;
        Ok(())
    }

    /// The pairs with votes.
    pub fn choices(self, name: &str) -> Choices {
        let (voted, unvoted): (Vec<_>, Vec<_>) =
            self.pairs.into_iter().partition(|(choice, ..)| choice.votes[0] + choice.votes[1] > 0.0);
        Choices {
            source: name.to_owned(),
            items: voted.into_iter().map(|(choice, ..)| choice).collect(),
            unvoted: unvoted.iter().map(|(_, n_rows, _)| n_rows).sum(),
        }
    }
}
