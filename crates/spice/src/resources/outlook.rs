//! Bounds on the score of all that surrounds a span, whatever the words are, with which the parser skips states.
//!
//! For each state, and each number of words to its left and right, a table holds the best score of any tree of the
//! grammar in which the state stands at this place, without the state's own derivation. A word around it counts as the
//! potential of its tag, subtracted here, and added again to the scores of the words' tags. So the table, together with
//! the best that each word has under any tag, bounds the score of every whole parse from above. This holds for any
//! potentials; good ones make the bounds tight.

use capeval_arrays::{Buffer, Error, Reader, Writer};

use super::rules::{Binary, Unary};

/// The number of words of the longest sentence for which bounds are computed.
const LONGEST: usize = 32;

/// Scores are stored in steps of this size below the best state's.
const STEP: f32 = 0.5;

const NONE: f32 = f32::NEG_INFINITY;

/// The tables.
pub(crate) struct Outlook {
    /// The number of words of the longest sentence for which there are bounds.
    longest: usize,
    /// The potential that is added to the score of a word under a tag, by state.
    potentials: Buffer<f32>,
    /// The score of the best state, by place.
    tops: Buffer<f32>,
    /// By place, then by state, how many steps the score lies below the top, rounded down.
    steps: Buffer<u8>,
}

/// The outlook of the spans of one sentence.
pub(crate) struct SentenceOutlook<'a> {
    tables: &'a Outlook,
    /// The bounds of the words before each place between words, and of those after it, with the boundary.
    before: Vec<f32>,
    after: Vec<f32>,
}

#[derive(Clone, Copy)]
pub(crate) struct SpanOutlook<'a> {
    /// The bound of what surrounds the span for the best state.
    pub(crate) top: f32,
    steps: &'a [u8],
}

/// The number of places in sentences of up to so many words: of pairs of numbers of words to the left and right of a
/// span.
fn n_places(longest: usize) -> usize {
    longest * (longest + 1) / 2
}

/// The number of a place.
fn place(left: usize, right: usize) -> usize {
    n_places(left + right) + left
}

fn raise(known: &mut f32, score: f32) {
    if score > *known {
        *known = score;
    }
}

/// Adds chains of unary rules to the scores of what they start from, or the reverse. Chains are never joined.
fn climb(scores: &mut [f32], chains: &[Unary]) {
    let bare = scores.to_vec();
    for chain in chains {
        raise(&mut scores[usize::from(chain.parent)], bare[usize::from(chain.child)] + chain.score);
    }
}

fn descend(scores: &mut [f32], chains: &[Unary]) {
    let bare = scores.to_vec();
    for chain in chains {
        raise(&mut scores[usize::from(chain.child)], bare[usize::from(chain.parent)] + chain.score);
    }
}

impl Outlook {
    /// Computes the tables of a grammar. `potentials` holds a number for each state that is a tag.
    pub(super) fn new(
        states: usize,
        root: u16,
        binaries: &[Binary],
        chains: &[Unary],
        potentials: &[(u16, f32)],
    ) -> Self {
        // By number of words, the best score of each state over any words.
        let mut inside: Vec<Vec<f32>> = vec![Vec::new()];
        for length in 1..LONGEST {
            let mut scores = vec![NONE; states];
            if length == 1 {
                potentials.iter().for_each(|(tag, potential)| scores[usize::from(*tag)] = -potential);
            }
            for rule in binaries {
                let [parent, left, right] = [rule.parent, rule.left, rule.right].map(usize::from);
                for split in 1..length {
                    let sum = rule.score + inside[split][left] + inside[length - split][right];
                    raise(&mut scores[parent], sum);
                }
            }
            climb(&mut scores, chains);
            inside.push(scores);
        }
        let (mut boundary, mut whole) = (vec![NONE; states], vec![NONE; states]);
        potentials.iter().for_each(|(tag, _)| boundary[usize::from(*tag)] = 0.0);
        whole[usize::from(root)] = 0.0;
        climb(&mut boundary, chains);
        descend(&mut whole, chains);
        let mut outside: Vec<Vec<f32>> = Vec::with_capacity(n_places(LONGEST));
        for total in 0..LONGEST {
            for before in 0..=total {
                let after = total - before;
                let mut scores = vec![NONE; states];
                if total == 0 {
                    // All words are followed by the boundary, whose score is added for each sentence.
                    for rule in binaries {
                        let boundary = boundary[usize::from(rule.right)];
                        let sum = whole[usize::from(rule.parent)] + rule.score + boundary;
                        raise(&mut scores[usize::from(rule.left)], sum);
                    }
                }
                for rule in binaries {
                    let [parent, left, right] = [rule.parent, rule.left, rule.right].map(usize::from);
                    for words in 1..=after {
                        let above = outside[place(before, after - words)][parent];
                        raise(&mut scores[left], above + rule.score + inside[words][right]);
                    }
                    for words in 1..=before {
                        let above = outside[place(before - words, after)][parent];
                        raise(&mut scores[right], above + rule.score + inside[words][left]);
                    }
                }
                descend(&mut scores, chains);
                outside.push(scores);
            }
        }
        let tops: Vec<f32> =
            outside.iter().map(|scores| scores.iter().copied().fold(NONE, f32::max)).collect();
        let steps = outside.iter().zip(&tops).flat_map(|(scores, top)| {
            // A conversion rounds down, and goes no further than the largest number.
            scores.iter().map(move |score| ((top - score) / STEP) as u8)
        });
        let mut by_state = vec![0.0; states];
        potentials.iter().for_each(|(tag, potential)| by_state[usize::from(*tag)] = *potential);
        Self {
            longest: LONGEST,
            potentials: by_state.into(),
            steps: steps.collect::<Vec<_>>().into(),
            tops: tops.into(),
        }
    }

    pub(super) fn write<'a>(&'a self, out: &mut Writer<'a>) {
        out.array(&self.potentials);
        out.array(&self.tops);
        out.array(&self.steps);
    }

    /// Takes the next arrays of a file, whose grammar has this many states.
    pub(super) fn open(reader: &mut Reader, states: usize) -> Result<Self, Error> {
        let (potentials, tops, steps) = (reader.array()?, reader.array::<f32>()?, reader.array()?);
        let outlook = Self { longest: (2 * tops.len()).isqrt(), potentials, tops, steps };
        let places = n_places(outlook.longest);
        let is_sound = outlook.potentials.len() == states
            && outlook.tops.len() == places
            && outlook.steps.len() == places * states;
        if is_sound { Ok(outlook) } else { Err(reader.unsound()) }
    }

    /// The outlook of a sentence from the tags of its words, of which the last is the boundary; `None` if it is too
    /// long.
    pub(crate) fn sentence(&self, words: &[Vec<(u16, f32)>]) -> Option<SentenceOutlook<'_>> {
        let (boundary, words) = words.split_last().filter(|(_, words)| words.len() <= self.longest)?;
        let best = |tags: &Vec<(u16, f32)>| {
            let scores = tags.iter().map(|(tag, score)| {
                score + self.potentials.get(usize::from(*tag)).copied().unwrap_or(f32::INFINITY)
            });
            scores.fold(NONE, f32::max)
        };
        let mut before = vec![0.0];
        let mut after = vec![boundary.iter().map(|(_, score)| *score).fold(NONE, f32::max)];
        for (first, last) in words.iter().zip(words.iter().rev()) {
            before.push(before[before.len() - 1] + best(first));
            after.push(after[after.len() - 1] + best(last));
        }
        after.reverse();
        Some(SentenceOutlook { tables: self, before, after })
    }
}

impl SentenceOutlook<'_> {
    /// The outlook of a span; `None` if it holds the boundary.
    pub(crate) fn span(&self, start: usize, end: usize) -> Option<SpanOutlook<'_>> {
        let place = place(start, (self.after.len() - 1).checked_sub(end)?);
        let Outlook { tops, steps, potentials, .. } = self.tables;
        let top = tops.get(place)? + (self.before.get(start)? + self.after.get(end)?);
        Some(SpanOutlook { top, steps: steps.chunks_exact(potentials.len()).nth(place)? })
    }
}

impl<'a> SpanOutlook<'a> {
    /// The outlook without any difference between states.
    pub(crate) fn level(steps: &'a [u8]) -> Self {
        Self { top: 0.0, steps }
    }

    /// The score of a state over the span, reduced by how much worse its surroundings are than the best.
    pub(crate) fn reduced(&self, state: u16, score: f32) -> f32 {
        score - STEP * f32::from(self.steps[usize::from(state)])
    }
}
