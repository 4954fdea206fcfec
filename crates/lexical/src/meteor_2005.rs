//! METEOR in its first form, of 2005.
//!
//! Rewards words in common, and their order. Words of the candidate are aligned one to one with equal words of a
//! reference, then what is left with words of the same stem. With m words aligned, `P = m / |candidate|`,
//! `R = m / |reference|` and `F = 10PR / (R + 9P)`; when they form c chunks of adjacent words in the same order,
//! `score = F · (1 − 0.5 · (c / m)³)`. Of several references, the one with the best score counts. The corpus score is
//! that of the summed counts.
//!
//! Paper: Banerjee and Lavie, *METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human
//! Judgments* (2005). Their program is no longer to be had. NLTK's `meteor_score` has the same formula with synonyms
//! from WordNet besides, and aligns in another way; without synonyms it equals [`Alignment::LastFirst`].
//!
//! Quirks kept on purpose:
//! - a candidate equal to its reference scores a little less than 1, since it forms one chunk;
//! - words are equal whatever their case, as in NLTK; the stem of a word counts in the second stage only, so that a
//!   word may be aligned with its like although a word of the same stem would suit the order better.

use std::borrow::Cow;
use std::collections::HashMap;

use capeval_metric::{
    Column, Direction, Input, Metric, Part, Reading, References, Segment, Signature, Statistics,
};
use capeval_text::{Stemmer, Tokenizer};

use crate::rouge::Classes;

/// States that the search for an alignment keeps at a time; an eighth of them beside a long candidate.
const BEAM: usize = 256;
/// Words from which on a candidate is long.
const LONG: usize = 100;
/// Equal words of the reference that are tried for one word of the candidate.
const MOST_OPTIONS: usize = 16;

/// Which alignment is taken where several have the same number of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// That with the fewest crossings, as in the paper: two pairs cross when their words stand in different orders.
    /// Of those, the one with the fewest chunks. Found by a search that is exact but for texts with very many
    /// repeated words.
    FewestCrossings,
    /// From the candidate's last word to its first, each with the last equal word that is left, as in NLTK.
    LastFirst,
}

impl Alignment {
    fn name(self) -> &'static str {
        match self {
            Self::FewestCrossings => "fewest-crossings",
            Self::LastFirst => "last-first",
        }
    }
}

/// METEOR of 2005.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meteor2005 {
    /// How the text is cut.
    pub tokenizer: Tokenizer,
    /// The stemmer of the second stage; without one, there is no second stage.
    pub stemmer: Option<Stemmer>,
    /// Which alignment is taken.
    pub alignment: Alignment,
}

impl Meteor2005 {
    /// With Porter's stemmer and the fewest crossings, as in the paper.
    #[must_use]
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, stemmer: Some(Stemmer::Porter), alignment: Alignment::FewestCrossings }
    }
}

/// The counts of METEOR.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Words in the candidate.
    pub candidate: f64,
    /// Words in the reference that counts.
    pub reference: f64,
    /// Words aligned.
    pub matches: f64,
    /// Chunks of aligned words.
    pub chunks: f64,
}

impl Counts {
    fn score(&self) -> f64 {
        if self.matches == 0.0 {
            return 0.0;
        }
        let (p, r) = (self.matches / self.candidate, self.matches / self.reference);
        let fragmentation = self.chunks / self.matches;
        10.0 * p * r / (r + 9.0 * p) * (1.0 - 0.5 * fragmentation.powi(3))
    }
}

impl Statistics for Counts {
    fn store(&self, row: &mut [f64]) {
        row.copy_from_slice(&[self.candidate, self.reference, self.matches, self.chunks]);
    }

    fn load(row: &[f64]) -> Self {
        Self { candidate: row[0], reference: row[1], matches: row[2], chunks: row[3] }
    }
}

/// Words that are equal in each stage.
pub struct Model {
    stages: Vec<Classes>,
}

impl Metric for Meteor2005 {
    type Model = Model;
    type Stats = Counts;
    type Scratch = Aligner;

    fn signature(&self) -> Signature {
        let Self { tokenizer, stemmer, alignment } = self;
        Signature::new("meteor-2005")
            .with("stem", stemmer.map_or("none", Stemmer::name))
            .with("align", alignment.name())
            .with("tok", tokenizer)
    }

    fn input(&self) -> Input {
        Input { reading: Reading::Tokens(self.tokenizer), ngrams: 0 }
    }

    fn parts(&self) -> Vec<Part> {
        vec![Part {
            key: "meteor-2005".into(),
            label: "METEOR 2005".into(),
            direction: Direction::HigherIsBetter,
            min: 0.0,
            max: 1.0,
        }]
    }

    fn columns(&self) -> Vec<Column> {
        ["candidate-length", "reference-length", "matches", "chunks"].map(Column::count).into()
    }

    fn fit(&self, references: &References<'_>) -> Model {
        fn lower(word: &str) -> Cow<'_, str> {
            if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
                word.into()
            } else {
                word.to_lowercase().into()
            }
        }
        let mut stages = vec![Classes::build(references.vocabulary, |word| Some(lower(word)))];
        if let Some(stemmer) = self.stemmer {
            stages
                .push(Classes::build(references.vocabulary, |word| Some(stemmer.stem(&lower(word)).into())));
        }
        Model { stages }
    }

    fn measure(&self, model: &Model, segment: &Segment<'_>, aligner: &mut Aligner) -> Counts {
        let mut best: Option<Counts> = None;
        for reference in segment.reference_words() {
            aligner.clear(segment.words.len(), reference.len());
            for stage in &model.stages {
                let candidate: Vec<u32> = segment.words.iter().map(|word| stage.of(*word)).collect();
                let reference: Vec<u32> = reference.iter().map(|word| stage.of(*word)).collect();
                match self.alignment {
                    Alignment::LastFirst => aligner.last_first(&candidate, &reference),
                    Alignment::FewestCrossings => aligner.fewest_crossings(&candidate, &reference),
                }
            }
            let counts = Counts {
                candidate: segment.words.len() as f64,
                reference: reference.len() as f64,
                matches: aligner.n_matches() as f64,
                chunks: aligner.n_chunks() as f64,
            };
            if best.is_none_or(|best| counts.score() > best.score()) {
                best = Some(counts);
            }
        }
        best.unwrap_or(Counts { candidate: segment.words.len() as f64, ..Counts::default() })
    }

    fn score(&self, counts: &Counts, values: &mut [f64]) {
        values[0] = counts.score();
    }
}

/// Aligns words one to one.
#[derive(Default)]
pub struct Aligner {
    /// For each word of the candidate, the reference's word it is aligned with.
    aligned: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Aligner {
    fn clear(&mut self, candidate: usize, reference: usize) {
        self.aligned.clear();
        self.aligned.resize(candidate, None);
        self.taken.clear();
        self.taken.resize(reference, false);
    }

    fn n_matches(&self) -> usize {
        self.aligned.iter().flatten().count()
    }

    fn n_chunks(&self) -> usize {
        let goes_on = |pair: &[Option<usize>]| matches!(pair, [Some(a), Some(b)] if a + 1 == *b);
        self.n_matches() - self.aligned.windows(2).filter(|pair| goes_on(pair)).count()
    }

    /// The positions of each word among those of the reference that are left, ascending.
    fn places(&self, reference: &[u32]) -> HashMap<u32, Vec<usize>> {
        let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
        for (j, word) in reference.iter().enumerate().filter(|(j, _)| !self.taken[*j]) {
            places.entry(*word).or_default().push(j);
        }
        places
    }

    fn last_first(&mut self, candidate: &[u32], reference: &[u32]) {
        let mut places = self.places(reference);
        for (i, word) in candidate.iter().enumerate().rev() {
            if self.aligned[i].is_none()
                && let Some(j) = places.get_mut(word).and_then(Vec::pop)
            {
                self.aligned[i] = Some(j);
                self.taken[j] = true;
            }
        }
    }

    fn fewest_crossings(&mut self, candidate: &[u32], reference: &[u32]) {
        let places = self.places(reference);
        // For each word of the candidate that is left: how many of its like are, and the one before it.
        let mut uses: HashMap<u32, Vec<usize>> = HashMap::new();
        for (i, word) in candidate.iter().enumerate().filter(|(i, _)| self.aligned[*i].is_none()) {
            uses.entry(*word).or_default().push(i);
        }
        let beam = if candidate.len() <= LONG { BEAM } else { BEAM / 8 };
        let mut states = vec![State::new(reference.len())];
        let mut next: Vec<State> = Vec::new();
        for (i, word) in candidate.iter().enumerate() {
            let fixed = self.aligned[i];
            let (uses, places) = match (fixed, uses.get(word), places.get(word)) {
                (None, Some(uses), Some(places)) => (&uses[..], &places[..]),
                _ => (&[][..], &[][..]),
            };
            next.clear();
            for mut state in states.drain(..) {
                if uses.is_empty() {
                    state.push(fixed);
                    next.push(state);
                } else {
                    state.branch(i, uses, places, &mut next);
                }
            }
            if next.len() > 1 {
                next.sort_by(|a, b| a.future().cmp(&b.future()).then_with(|| a.cost().cmp(&b.cost())));
                next.dedup_by(|later, first| later.future() == first.future());
                if next.len() > beam {
                    next.sort_by(|a, b| a.cost().cmp(&b.cost()));
                    next.truncate(beam);
                }
            }
            std::mem::swap(&mut states, &mut next);
        }
        let best = states.into_iter().min_by(|a, b| a.cost().cmp(&b.cost()));
        if let Some(State { aligned, .. }) = best {
            aligned.iter().flatten().for_each(|j| self.taken[*j] = true);
            self.aligned = aligned;
        }
    }
}

/// An alignment of the first words of a candidate.
#[derive(Clone, Debug)]
struct State {
    aligned: Vec<Option<usize>>,
    /// The reference's words that are taken, a bit each.
    taken: Vec<u64>,
    n_crossings: usize,
    n_chunks: usize,
}

impl State {
    fn new(n_reference: usize) -> Self {
        Self { aligned: Vec::new(), taken: vec![0; n_reference.div_ceil(64)], n_crossings: 0, n_chunks: 0 }
    }

    /// What decides between alignments: crossings, chunks, then early words of the reference.
    fn cost(&self) -> (usize, usize, &[Option<usize>]) {
        (self.n_crossings, self.n_chunks, &self.aligned)
    }

    /// All that later words can know of an alignment.
    fn future(&self) -> (&[u64], Option<usize>) {
        (&self.taken, self.aligned.last().copied().flatten())
    }

    /// Aligns the next word with word `j` of the reference, or with none.
    fn push(&mut self, j: Option<usize>) {
        if let Some(j) = j {
            let (block, bit) = (j / 64, j % 64);
            let above = self.taken[block] & !(u64::MAX >> (63 - bit));
            let blocks_above = self.taken[block + 1..].iter().map(|bits| bits.count_ones());
            self.n_crossings += (above.count_ones() + blocks_above.sum::<u32>()) as usize;
            let goes_on = j > 0 && self.aligned.last() == Some(&Some(j - 1));
            self.n_chunks += usize::from(!goes_on);
            self.taken[block] |= 1 << bit;
        }
        self.aligned.push(j);
    }

    /// Adds to `next` the ways to align word `i`, one of `uses`, with one of `places`.
    ///
    /// Equal words are aligned in order, since two that cross can be swapped; and as many of them as there can be.
    fn branch(mut self, i: usize, uses: &[usize], places: &[usize], next: &mut Vec<Self>) {
        let before = uses.partition_point(|used| *used < i);
        let mut n_aligned = 0;
        let mut last = None;
        for j in uses[..before].iter().filter_map(|used| self.aligned[*used]) {
            n_aligned += 1;
            last = Some(j);
        }
        let wanted = uses.len().min(places.len()) - n_aligned;
        let n_after = uses.len() - before - 1;
        let first_place = last.map_or(0, |last| places.partition_point(|place| *place <= last));
        let options = if wanted == 0 {
            &[]
        } else {
            let options = &places[first_place..=places.len() - wanted];
            &options[..options.len().min(MOST_OPTIONS)]
        };
        let may_stay_alone = n_after >= wanted;
        match (options, may_stay_alone) {
            ([], _) => {
                self.push(None);
                next.push(self);
            }
            ([only], false) => {
                self.push(Some(*only));
                next.push(self);
            }
            _ => {
                for j in options.iter().map(|j| Some(*j)).chain(may_stay_alone.then_some(None)) {
                    let mut state = self.clone();
                    state.push(j);
                    next.push(state);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn align(candidate: &str, reference: &str) -> (usize, usize) {
        let numbers = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        let (candidate, reference) = (numbers(candidate), numbers(reference));
        let mut aligner = Aligner::default();
        aligner.clear(candidate.len(), reference.len());
        aligner.fewest_crossings(&candidate, &reference);
        (n_crossings(&aligner.aligned), aligner.n_chunks())
    }

    fn n_crossings(aligned: &[Option<usize>]) -> usize {
        let pairs: Vec<usize> = aligned.iter().flatten().copied().collect();
        (0..pairs.len()).map(|b| pairs[..b].iter().filter(|j| **j > pairs[b]).count()).sum()
    }

    /// Every alignment of as many words as possible, one by one.
    fn by_trial(candidate: &[u8], reference: &[u8]) -> (usize, usize) {
        fn go(
            candidate: &[u8],
            reference: &[u8],
            aligned: &mut Vec<Option<usize>>,
            best: &mut Option<(usize, usize, usize)>,
        ) {
            if aligned.len() == candidate.len() {
                let mut aligner = Aligner::default();
                aligner.aligned.clone_from(aligned);
                let unmatched = candidate.len() - aligner.n_matches();
                let cost = (unmatched, n_crossings(aligned), aligner.n_chunks());
                if best.is_none_or(|best| cost < best) {
                    *best = Some(cost);
                }
                return;
            }
            for j in 0..reference.len() {
                if reference[j] == candidate[aligned.len()] && !aligned.contains(&Some(j)) {
                    aligned.push(Some(j));
                    go(candidate, reference, aligned, best);
                    aligned.pop();
                }
            }
            aligned.push(None);
            go(candidate, reference, aligned, best);
            aligned.pop();
        }
        let mut best = None;
        go(candidate, reference, &mut Vec::new(), &mut best);
        best.map_or((0, 0), |(_, crossings, chunks)| (crossings, chunks))
    }

    proptest! {
        #[test]
        fn no_alignment_has_fewer_crossings_or_chunks(candidate in "[a-c]{0,7}", reference in "[a-d]{0,7}") {
            prop_assert_eq!(align(&candidate, &reference), by_trial(candidate.as_bytes(), reference.as_bytes()));
        }
    }

    #[test]
    fn of_two_equal_words_the_one_that_crosses_nothing_is_taken() {
        assert_eq!(align("ab", "bab"), (0, 1));
        assert_eq!(align("aab", "ba"), (1, 2));
    }

    #[test]
    fn a_perfect_candidate_scores_a_little_less_than_1() {
        let counts = Counts { candidate: 4.0, reference: 4.0, matches: 4.0, chunks: 1.0 };
        assert_eq!(counts.score(), 1.0 - 0.5 / 64.0);
        assert_eq!(Counts::default().score(), 0.0);
    }
}
