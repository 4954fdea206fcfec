//! METEOR in its first version, of 2005.
//!
//! Rewards common words and their order. Words of the candidate are aligned one to one with equal words of a reference,
//! and the remaining ones with words of the same stem. With m aligned words, `P = m / |candidate|`,
//! `R = m / |reference|` and `F = 10PR / (R + 9P)`; if they form c chunks of adjacent words in the same order,
//! `score = F · (1 − 0.5 · (c / m)³)`. Of several references, the one with the best score counts. The corpus score is
//! that of the summed counts.
//!
//! Paper: Banerjee and Lavie, *METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human
//! Judgments* (2005). Their program is no longer available. NLTK's `meteor_score` uses the same formula, adds synonyms
//! from WordNet, and aligns differently: it equals [`Alignment::LastFirst`] with `syn=wordnet`, and, since its score is
//! of one sentence, `average=mean`.
//!
//! Quirks kept on purpose:
//! - a candidate equal to its reference scores a little less than 1, since it forms one chunk;
//! - case does not matter, as in NLTK; stems count in the second stage only, so that a word may be aligned with an
//!   equal word although one with the same stem would fit the order better;
//! - NLTK looks up synonyms of stems, not of words: `happi` has none.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use capeval_choice::{Argument, Refusal, Remedy};
use capeval_metric::setting::{TOK, Values};
use capeval_metric::{
    About, AnyMetric, Column, Input, Learns, Mean, Metric, MetricKind, Part, Reading, References, Segment,
    Setting, Signature, Statistics,
};
use capeval_text::wordnet::WordNet;
use capeval_text::{LINE_BREAK, Stemmer, Tokenizer};

use crate::rouge::Classes;

/// The beam size of the search for an alignment.
const BEAM: usize = 64;
/// The maximum number of words for a search; longer candidates are aligned word by word.
const LONG: usize = 100;
/// The maximum number of equal words of the reference that are tried for one word of the candidate.
const MOST_OPTIONS: usize = 16;

capeval_choice::named! {
    /// The choice among alignments with the same number of words.
    pub enum Alignment ("alignment") {
        /// Two pairs cross if their words are in different orders. Among alignments with equally few crossings, the one
        /// with the fewest chunks is used. The search is exact unless many words are repeated; a candidate of more than
        /// 100 words is aligned word by word, each with the word that adds the fewest crossings.
        FewestCrossings = "fewest-crossings", "that with the fewest crossings, as in the paper";
        /// Each word, from the candidate's last to its first, is aligned with the last equal word that is free.
        LastFirst = "last-first", "from the last word to the first, as in NLTK";
    }
}

/// The entry of METEOR of 2005 in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "meteor-2005",
    summary: "words and stems shared with the best reference, and their order",
    paper: "Banerjee and Lavie 2005, METEOR: An Automatic Metric for MT Evaluation",
    program: "none; the paper's formula, and NLTK 3.10",
    settings: &[
        TOK,
        Setting::new("stem", "porter", "stemmer of the second stage", Values::Stemmer),
        Setting::choice(
            "align",
            "fewest-crossings",
            "choice among alignments (last-first in NLTK)",
            Alignment::NAMES,
        ),
        Setting::choice("syn", "none", "synonyms of a third stage (wordnet in NLTK)", &["none", "wordnet"]),
        Setting::choice(
            "average",
            "counts",
            "corpus score: of summed counts, or the mean",
            &["counts", "mean"],
        ),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        let (tokenizer, stemmer) = (settings.tokenizer()?, settings.stemmer()?);
        let synonyms = match settings.text("syn") {
            "wordnet" => Some(settings.resource::<Synonyms>().ok_or_else(|| {
                let remedy =
                    Remedy::give(Argument::NltkData).to("say where NLTK's data with corpora/wordnet are");
                settings.error(Refusal::new("WordNet's synonyms are not there").with_remedy(remedy))
            })?),
            _ => None,
        };
        let (alignment, averages) = (settings.get("align")?, settings.text("average") == "mean");
        Ok(AnyMetric::new(Meteor2005 { tokenizer, stemmer, alignment, synonyms, averages }))
    },
};

/// METEOR of 2005.
#[derive(Clone)]
pub struct Meteor2005 {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    /// The stemmer of the second stage; without one, there is no second stage.
    pub stemmer: Option<Stemmer>,
    /// The choice among alignments.
    pub alignment: Alignment,
    /// The synonyms of stems, for a third stage.
    pub synonyms: Option<Arc<Synonyms>>,
    /// True if the corpus score is the mean of the scores of segments.
    pub averages: bool,
}

/// Synonyms from WordNet, with a hash of the files that they come from.
pub struct Synonyms {
    /// WordNet.
    pub wordnet: WordNet,
    /// The hash.
    pub hash: u64,
}

impl Meteor2005 {
    /// With Porter's stemmer and the fewest crossings, as in the paper.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self {
            tokenizer,
            stemmer: Some(Stemmer::Porter),
            alignment: Alignment::FewestCrossings,
            synonyms: None,
            averages: false,
        }
    }
}

/// The counts of METEOR.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// The number of words in the candidate.
    pub candidate: f64,
    /// The number of words in the best reference.
    pub reference: f64,
    /// The number of aligned words.
    pub matches: f64,
    /// The number of chunks of aligned words.
    pub chunks: f64,
    /// The number of segments; 0 if scores are not averaged.
    pub segments: f64,
    /// The sum of their scores.
    pub sum: f64,
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
        let all = [self.candidate, self.reference, self.matches, self.chunks, self.segments, self.sum];
        row.copy_from_slice(&all[..row.len()]);
    }

    fn load(row: &[f64]) -> Self {
        let (segments, sum) = row.get(4..6).map_or((0.0, 0.0), |mean| (mean[0], mean[1]));
        Self { candidate: row[0], reference: row[1], matches: row[2], chunks: row[3], segments, sum }
    }
}

/// The classes of words that are equal in each stage.
pub struct Model {
    stages: Vec<Classes>,
    /// The classes of the synonyms of each class of the last stage.
    synonyms: HashMap<u32, Vec<u32>>,
}

impl Metric for Meteor2005 {
    type Model = Model;
    type Stats = Counts;
    type Scratch = Aligner;

    fn about(&self) -> About {
        let signature = {
            let Self { tokenizer, stemmer, alignment, synonyms, averages } = self;
            let mut signature = Signature::new("meteor-2005")
                .with("stem", stemmer.map_or("none", Stemmer::name))
                .with("align", alignment);
            if let Some(synonyms) = synonyms {
                signature.push("syn", format_args!("wordnet-{:016x}", synonyms.hash));
            }
            if *averages {
                signature.push("average", "mean");
            }
            signature.with("tok", tokenizer)
        };
        let input = Input::new(Reading::Tokens(self.tokenizer));
        let mut columns: Vec<Column> =
            ["candidate-length", "reference-length", "matches", "chunks"].map(Column::count).into();
        if self.averages {
            columns.extend(Mean::columns());
        }
        let parts = vec![Part::score("meteor-2005", "METEOR 2005", 0.0..=1.0)];
        About::new(signature, input, columns, parts).learns(Learns::Words).reading_texts(false)
    }

    fn fit(&self, references: &References<'_>) -> Model {
        fn lower(word: &str) -> Cow<'_, str> {
            if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
                word.into()
            } else {
                word.to_lowercase().into()
            }
        }
        fn stem(stemmer: Option<Stemmer>, word: &str) -> Cow<'_, str> {
            stemmer.map_or_else(|| lower(word), |stemmer| stemmer.stem(&lower(word)).into())
        }
        let mut stages = vec![Classes::build(references.vocabulary, |word| Some(lower(word)))];
        if self.stemmer.is_some() {
            stages.push(Classes::build(references.vocabulary, |word| Some(stem(self.stemmer, word))));
        }
        let mut synonyms = HashMap::new();
        if let (Some(known), Some(last)) = (&self.synonyms, stages.last()) {
            let words = || references.vocabulary.iter().filter(|(_, word)| *word != LINE_BREAK);
            let classes: HashMap<Cow<'_, str>, u32> =
                words().map(|(symbol, word)| (stem(self.stemmer, word), last.of(symbol))).collect();
            let of = |word: &str| {
                known.wordnet.synonyms(word).filter_map(|one| classes.get(one).copied()).collect()
            };
            synonyms = classes.iter().map(|(word, class)| (*class, of(word))).collect();
        }
        Model { stages, synonyms }
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
            if let Some(last) = model.stages.last().filter(|_| self.synonyms.is_some()) {
                let candidate: Vec<u32> = segment.words.iter().map(|word| last.of(*word)).collect();
                let reference: Vec<u32> = reference.iter().map(|word| last.of(*word)).collect();
                aligner.synonyms(&candidate, &reference, &model.synonyms);
            }
            let counts = Counts {
                candidate: segment.words.len() as f64,
                reference: reference.len() as f64,
                matches: aligner.n_matches() as f64,
                chunks: aligner.n_chunks() as f64,
                ..Counts::default()
            };
            if best.is_none_or(|best| counts.score() > best.score()) {
                best = Some(counts);
            }
        }
        let best = best.unwrap_or(Counts { candidate: segment.words.len() as f64, ..Counts::default() });
        Counts { segments: 1.0, sum: best.score(), ..best }
    }

    fn score(&self, counts: &Counts, values: &mut [f64]) {
        values[0] = match self.averages {
            true => Mean { count: counts.segments, sum: counts.sum }.value(),
            false => counts.score(),
        };
    }
}

/// Aligns words one to one.
#[derive(Default)]
pub struct Aligner {
    /// For each word of the candidate, the word of the reference that it is aligned with.
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

    fn last_first(&mut self, candidate: &[u32], reference: &[u32]) {
        let places = Positions::new(reference, |j| !self.taken[j]);
        let uses = Positions::new(candidate, |i| self.aligned[i].is_none());
        for (word, _) in &uses.words {
            for (i, j) in uses.of(*word).iter().rev().zip(places.of(*word).iter().rev()) {
                self.aligned[*i] = Some(*j);
                self.taken[*j] = true;
            }
        }
    }

    /// Aligns each word left, from the last to the first, with the last word left of its synonyms.
    fn synonyms(&mut self, candidate: &[u32], reference: &[u32], of: &HashMap<u32, Vec<u32>>) {
        for (i, word) in candidate.iter().enumerate().rev() {
            let synonyms = of.get(word).filter(|_| self.aligned[i].is_none()).map_or(&[][..], Vec::as_slice);
            let is_one = |j: &usize| !self.taken[*j] && synonyms.contains(&reference[*j]);
            if let Some(j) = (0..reference.len()).rev().find(is_one) {
                self.aligned[i] = Some(j);
                self.taken[j] = true;
            }
        }
    }

    fn fewest_crossings(&mut self, candidate: &[u32], reference: &[u32]) {
        let places = Positions::new(reference, |j| !self.taken[j]);
        let uses = Positions::new(candidate, |i| self.aligned[i].is_none());
        if candidate.len() > LONG {
            return self.least_crossing(candidate, reference.len(), &uses, &places);
        }
        let mut states = vec![State::new(reference.len())];
        let mut next: Vec<State> = Vec::new();
        for (i, word) in candidate.iter().enumerate() {
            let fixed = self.aligned[i];
            let (uses, places) =
                if fixed.is_none() { (uses.of(*word), places.of(*word)) } else { (&[][..], &[][..]) };
            next.clear();
            for mut state in states.drain(..) {
                if places.is_empty() {
                    state.push(fixed);
                    next.push(state);
                } else {
                    state.branch(i, uses, places, &mut next);
                }
            }
            if next.len() > 1 {
                next.sort_by(|a, b| a.future().cmp(&b.future()).then_with(|| a.cost().cmp(&b.cost())));
                next.dedup_by(|later, first| later.future() == first.future());
                if next.len() > BEAM {
                    next.sort_by(|a, b| a.cost().cmp(&b.cost()));
                    next.truncate(BEAM);
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

impl Aligner {
    /// Aligns each word, from first to last, with the word that adds the fewest crossings.
    fn least_crossing(
        &mut self,
        candidate: &[u32],
        n_reference: usize,
        uses: &Positions,
        places: &Positions,
    ) {
        let mut state = State::new(n_reference);
        // By word of `uses`: its occurrences so far, how many of them are aligned, and the position after the last one.
        let mut behind = vec![(0, 0, 0); uses.words.len()];
        for (i, word) in candidate.iter().enumerate() {
            if let Some(j) = self.aligned[i] {
                state.push(Some(j));
                continue;
            }
            let places = places.of(*word);
            let (Some(at), false) = (uses.index(*word), places.is_empty()) else {
                state.push(None);
                continue;
            };
            let (n_behind, n_aligned, last) = behind[at];
            let choice = Choice::new(uses.of(*word).len(), n_behind, n_aligned, places, last);
            let cost = |j: &usize| (state.crossings_of(*j), !state.goes_on(*j), *j);
            let best = choice.options.iter().copied().min_by_key(cost);
            let best = best.filter(|j| !choice.may_stay_alone || state.crossings_of(*j) == 0);
            behind[at] = match best {
                Some(j) => (n_behind + 1, n_aligned + 1, places.partition_point(|place| *place <= j)),
                None => (n_behind + 1, n_aligned, last),
            };
            state.push(best);
        }
        state.aligned.iter().flatten().for_each(|j| self.taken[*j] = true);
        self.aligned = state.aligned;
    }
}

/// The options for one word of a candidate.
///
/// Equal words are aligned in order, since two that cross can be swapped; and as many of them as possible.
struct Choice<'p> {
    options: &'p [usize],
    may_stay_alone: bool,
}

impl<'p> Choice<'p> {
    /// `n_behind` of `n_uses` equal words have been visited, and `n_aligned` of these aligned with positions before
    /// `next`.
    fn new(n_uses: usize, n_behind: usize, n_aligned: usize, places: &'p [usize], next: usize) -> Self {
        let wanted = n_uses.min(places.len()) - n_aligned;
        let options = if wanted == 0 { &[] } else { &places[next..=places.len() - wanted] };
        Self {
            options: &options[..options.len().min(MOST_OPTIONS)],
            may_stay_alone: n_uses - n_behind > wanted,
        }
    }
}

/// The positions of each word in a text.
struct Positions {
    /// The distinct words, ascending, with the end of the positions of each.
    words: Vec<(u32, usize)>,
    positions: Vec<usize>,
}

impl Positions {
    /// The positions for which `counts` is true, ascending.
    fn new(text: &[u32], counts: impl Fn(usize) -> bool) -> Self {
        let mut positions: Vec<usize> = (0..text.len()).filter(|k| counts(*k)).collect();
        positions.sort_unstable_by_key(|k| (text[*k], *k));
        let mut words: Vec<(u32, usize)> = Vec::with_capacity(positions.len());
        for (end, k) in positions.iter().enumerate() {
            match words.last_mut() {
                Some((word, stop)) if *word == text[*k] => *stop = end + 1,
                _ => words.push((text[*k], end + 1)),
            }
        }
        Self { words, positions }
    }

    fn start(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.words[at - 1].1 }
    }

    /// The number of `word` among the distinct words.
    fn index(&self, word: u32) -> Option<usize> {
        self.words.binary_search_by_key(&word, |(known, _)| *known).ok()
    }

    /// The positions of `word`.
    fn of(&self, word: u32) -> &[usize] {
        self.index(word).map_or(&[], |at| &self.positions[self.start(at)..self.words[at].1])
    }
}

/// An alignment of the first words of a candidate.
#[derive(Clone, Debug)]
struct State {
    aligned: Vec<Option<usize>>,
    /// The words of the reference that are aligned, one bit each.
    taken: Vec<u64>,
    n_crossings: usize,
    n_chunks: usize,
}

impl State {
    fn new(n_reference: usize) -> Self {
        Self { aligned: Vec::new(), taken: vec![0; n_reference.div_ceil(64)], n_crossings: 0, n_chunks: 0 }
    }

    /// The order of alignments: fewer crossings, then fewer chunks, then earlier words of the reference.
    fn cost(&self) -> (usize, usize, &[Option<usize>]) {
        (self.n_crossings, self.n_chunks, &self.aligned)
    }

    /// The part of the state that later words depend on.
    fn future(&self) -> (&[u64], Option<usize>) {
        (&self.taken, self.aligned.last().copied().flatten())
    }

    /// The number of pairs that the next word crosses if it is aligned with word `j`.
    fn crossings_of(&self, j: usize) -> usize {
        let (block, bit) = (j / 64, j % 64);
        let above = self.taken[block] & !(u64::MAX >> (63 - bit));
        let blocks_above = self.taken[block + 1..].iter().map(|bits| bits.count_ones());
        (above.count_ones() + blocks_above.sum::<u32>()) as usize
    }

    /// Returns true if word `j` directly follows the word that the last word was aligned with.
    fn goes_on(&self, j: usize) -> bool {
        j > 0 && self.aligned.last() == Some(&Some(j - 1))
    }

    /// Aligns the next word with word `j` of the reference, or with none.
    fn push(&mut self, j: Option<usize>) {
        if let Some(j) = j {
            self.n_crossings += self.crossings_of(j);
            self.n_chunks += usize::from(!self.goes_on(j));
            self.taken[j / 64] |= 1 << (j % 64);
        }
        self.aligned.push(j);
    }

    /// Adds to `next` all ways to align word `i`, one of `uses`, with one of `places`.
    fn branch(mut self, i: usize, uses: &[usize], places: &[usize], next: &mut Vec<Self>) {
        let n_behind = uses.partition_point(|used| *used < i);
        let mut n_aligned = 0;
        let mut last = None;
        for j in uses[..n_behind].iter().filter_map(|used| self.aligned[*used]) {
            n_aligned += 1;
            last = Some(j);
        }
        let next_place = last.map_or(0, |last| places.partition_point(|place| *place <= last));
        let Choice { options, may_stay_alone } =
            Choice::new(uses.len(), n_behind, n_aligned, places, next_place);
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
    fn long_candidates_align_as_many_words_as_short_ones() {
        let candidate: Vec<u32> = (0..500).map(|k| k * k % 23).collect();
        let reference: Vec<u32> = (0..400).map(|k| k * k * k % 29).collect();
        let n_matches = |align: fn(&mut Aligner, &[u32], &[u32])| {
            let mut aligner = Aligner::default();
            aligner.clear(candidate.len(), reference.len());
            align(&mut aligner, &candidate, &reference);
            aligner.n_matches()
        };
        assert_eq!(n_matches(Aligner::fewest_crossings), n_matches(Aligner::last_first));
    }

    #[test]
    fn of_two_equal_words_the_one_that_crosses_nothing_is_taken() {
        assert_eq!(align("ab", "bab"), (0, 1));
        assert_eq!(align("aab", "ba"), (1, 2));
    }

    #[test]
    fn a_perfect_candidate_scores_a_little_less_than_1() {
        let counts =
            Counts { candidate: 4.0, reference: 4.0, matches: 4.0, chunks: 1.0, ..Counts::default() };
        assert_eq!(counts.score(), 1.0 - 0.5 / 64.0);
        assert_eq!(Counts::default().score(), 0.0);
    }
}
