//! The aligner: all matches of two sentences, and the beam search for the best set of them.

use std::ops::Range;

use crate::bound::{self, Prospects};
use crate::explain::AlignedPhrase;
use crate::options::{MAX_MATCHERS, Matcher};
use crate::sentence::Sentence;
use crate::vocabulary::{Feature, Filter, NONE, Probe, Vocabulary};

/// A run of hypothesis words that matches a run of reference words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) reference: u32,
    pub(crate) reference_len: u32,
    pub(crate) hypothesis: u32,
    pub(crate) hypothesis_len: u32,
    /// Position of the matcher in the order in which they run.
    pub(crate) module: u8,
}

impl Match {
    fn single(reference: usize, hypothesis: u32, module: usize) -> Self {
        Self {
            reference: reference as u32,
            reference_len: 1,
            hypothesis,
            hypothesis_len: 1,
            module: module as u8,
        }
    }

    fn hypothesis_end(&self) -> u32 {
        self.hypothesis + self.hypothesis_len
    }

    fn reference_end(&self) -> u32 {
        self.reference + self.reference_len
    }

    /// What METEOR adds to the distance of a path.
    fn distance(&self) -> u32 {
        self.reference.abs_diff(self.hypothesis)
    }
}

/// A paraphrase match; among those of one reference word, the order is the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Paraphrase {
    reference: u32,
    /// First those whose source is in the reference, then those whose source is in the hypothesis.
    source_in_hypothesis: bool,
    order: [u32; 3],
    reference_len: u32,
    hypothesis: u32,
    hypothesis_len: u32,
}

impl Paraphrase {
    fn as_match(&self, module: usize) -> Match {
        let Self { reference, reference_len, hypothesis, hypothesis_len, .. } = *self;
        Match { reference, reference_len, hypothesis, hypothesis_len, module: module as u8 }
    }
}

/// A relation between a phrase of a reference and a phrase of the hypothesis.
#[derive(Clone, Copy, Debug)]
struct Relation {
    /// Index into the distinct phrases of the hypothesis.
    hypothesis_phrase: u32,
    source_in_hypothesis: bool,
    /// Place of the target among the targets of the source.
    place: u32,
}

/// A distinct phrase of the hypothesis.
#[derive(Clone, Copy, Debug)]
struct HypothesisPhrase {
    phrase: u32,
    len: u32,
    /// Its first place, and its last so far.
    first: u32,
    last: u32,
}

/// A path of the beam search.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The first 64 hypothesis words that are used; longer hypotheses have their sets in [`Beam::sets`].
    used: u64,
    /// Weighted words matched on both sides. METEOR keeps whole numbers and drops the rest of each addition.
    matched: u32,
    chunks: u32,
    distance: u32,
    /// Where the last match ends in the hypothesis; `NONE` if the word before is not matched.
    last_end: u32,
    /// The reference word after the last match or skip.
    next: u32,
    /// The last choice recorded, or `NONE`.
    choice: u32,
    /// The candidate just chosen, not yet recorded, or `NONE`.
    pending: u32,
    /// In wide searches, the place of the set of words used before that candidate.
    set: u32,
}

impl Path {
    const START: Self = Self {
        used: 0,
        matched: 0,
        chunks: 0,
        distance: 0,
        last_end: NONE,
        next: 0,
        choice: NONE,
        pending: NONE,
        set: 0,
    };

    fn take(&mut self, candidate: &Candidate) {
        let found = &candidate.found;
        self.matched += candidate.gain;
        if self.last_end != NONE && found.hypothesis != self.last_end {
            self.chunks += 1;
        }
        self.next = found.reference_end();
        self.last_end = found.hypothesis_end();
    }

    fn skip(&mut self) {
        if self.last_end != NONE {
            self.chunks += 1;
            self.last_end = NONE;
        }
        self.next += 1;
    }
}

/// A match that a path may choose.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    found: Match,
    /// The words of `found` in the hypothesis, if that has no more than 64.
    mask: u64,
    /// What METEOR adds to the two counts of a path.
    ///
    /// In the search every matcher but the exact one weighs a half, whatever the weights of the score. The
    /// counts are integers, so that each addition is rounded down by itself: a single word adds nothing.
    gain: u32,
    distance: u32,
}

impl Candidate {
    fn new(found: Match, matchers: &[Matcher]) -> Self {
        let gain = match matchers.get(usize::from(found.module)) {
            Some(Matcher::Exact) => found.hypothesis_len + found.reference_len,
            _ => found.hypothesis_len / 2 + found.reference_len / 2,
        };
        let words = 1u64.checked_shl(found.hypothesis_len).unwrap_or(0).wrapping_sub(1);
        let mask = words.checked_shl(found.hypothesis).unwrap_or(0);
        Self { found, mask, gain, distance: found.distance() }
    }
}

/// A match that a path has chosen, after those of its parent.
#[derive(Clone, Copy, Debug)]
struct Choice {
    parent: u32,
    chosen: Match,
}

/// Marks that are cleared by counting up.
#[derive(Clone, Debug, Default)]
struct Slots {
    /// Epoch and value.
    slots: Vec<(u32, u32)>,
    epoch: u32,
}

impl Slots {
    fn clear(&mut self, len: usize) {
        if self.slots.len() < len {
            self.slots.resize(len.next_power_of_two(), (0, 0));
        }
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.slots.fill((0, 0));
            self.epoch = 1;
        }
    }

    fn get(&self, index: u32) -> Option<u32> {
        self.slots.get(index as usize).filter(|slot| slot.0 == self.epoch).map(|slot| slot.1)
    }

    fn set(&mut self, index: u32, value: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = (self.epoch, value);
        }
    }
}

/// All matches of one pair, and what follows from them before any is chosen.
#[derive(Clone, Debug, Default)]
struct Found {
    /// Per reference word, where its masks lie: the row, or in wide hypotheses the first machine word.
    mask_of: Vec<u32>,
    paraphrases: Vec<Paraphrase>,
    /// Per reference word, where its paraphrase matches end.
    paraphrase_ends: Vec<u32>,
    /// Per reference word, how many matches cover it.
    coverage: Vec<u32>,
    /// Hypothesis words covered by one match or more, and by two or more.
    once: Vec<u64>,
    twice: Vec<u64>,
    /// Words of the hypothesis that each matcher matches, if it has no more than 64.
    by_matcher: [u64; MAX_MATCHERS],
    fixed: Vec<Option<Match>>,
    is_fixed: Vec<bool>,
    /// Whether there is anything to choose.
    ambiguous: bool,
    /// How many of the matchers run: one for identical sentences, else all.
    n_matchers: usize,
    identical: bool,
    /// The place of the paraphrase matcher among them.
    paraphraser: Option<u8>,
}

/// The hypothesis words that a word of a reference matches, for hypotheses of up to 64 words.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// By matcher.
    masks: [u64; MAX_MATCHERS],
    /// By any matcher, and by two or more.
    any: u64,
    twice: u64,
    /// The number of matches.
    count: u32,
}

impl Row {
    fn new(masks: [u64; MAX_MATCHERS]) -> Self {
        let mut row = Self { masks, ..Self::default() };
        for mask in masks {
            row.twice |= row.any & mask;
            row.any |= mask;
            row.count += mask.count_ones();
        }
        row
    }

    /// The same if only the first matcher runs.
    fn of_first(self) -> Self {
        Self::new([self.masks[0], 0, 0, 0])
    }
}

/// The aligner and all its buffers; nothing is allocated once they have grown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aligner {
    // Of the hypothesis.
    words: Vec<u32>,
    /// The function words among the first 64.
    function_words: u64,
    /// Machine words per set of hypothesis words.
    width: usize,
    phrases: Vec<HypothesisPhrase>,
    /// Per distinct phrase, what to ask other phrases' filters.
    probes: Vec<Probe>,
    /// The distinct phrases with paraphrases, and the filters of these.
    filters: Vec<(u32, Filter)>,
    /// Start in the hypothesis and the next place of the same phrase.
    places: Vec<(u32, u32)>,
    phrase_slots: Slots,
    feature_slots: Slots,
    /// Per feature of the hypothesis, the words that have it.
    feature_masks: Vec<u64>,

    // Of the references of one hypothesis, per distinct word and phrase.
    word_slots: Slots,
    /// Per distinct word, the hypothesis words it matches, if that has no more than 64.
    rows: Vec<Row>,
    /// Per distinct word and matcher, the hypothesis words it matches, if that has more.
    masks: Vec<u64>,
    relation_slots: Slots,
    relation_ranges: Vec<Range<usize>>,
    relations: Vec<Relation>,

    /// Of the pair whose matches were found last.
    found: Found,
    /// Of other pairs with the same hypothesis, kept for later.
    kept: Vec<Found>,
    beam: Beam,
    matches: Vec<Match>,

    /// The references of a hypothesis by falling bound, for who compares them.
    pub(crate) order: Vec<(f64, usize)>,
}

/// The queues of the beam search.
#[derive(Clone, Debug, Default)]
struct Beam {
    queue: Vec<Path>,
    next: Vec<Path>,
    /// For hypotheses of more than 64 words, the sets of words that the paths within the beam use, and those
    /// that their parents used. Paths that fall out of the beam never get one.
    sets: Vec<u64>,
    parent_sets: Vec<u64>,
    /// Per gain, how many copies of a path there are that begin a chunk less or more.
    siblings: Vec<[usize; 2]>,
    /// The candidates of the reference word at hand, and of the one before.
    candidates: Vec<Candidate>,
    previous: Vec<Candidate>,
    choices: Vec<Choice>,
    narrow_keys: Vec<u64>,
    wide_keys: Vec<u128>,
}

/// An alignment: the chosen matches by reference word, and their chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment<'a> {
    pub(crate) matches: &'a [Match],
    pub(crate) chunks: u32,
}

/// A sort key that holds all that decides between paths, and the place in the queue.
trait SortKey: Copy + Ord {
    fn new(path: &Path, place: usize) -> Self;
    fn place(self) -> usize;
}

/// For up to 64 words on either side and a beam of up to [`NARROW_BEAM`].
///
/// Then 128 words match at most, in 64 chunks; a word has less than 2^13 candidates and a distance less than
/// 2^6 to each, so distances stay below 2^25 and places below 2^23.
impl SortKey for u64 {
    fn new(path: &Path, place: usize) -> Self {
        Self::from(255 - path.matched) << 56
            | Self::from(path.chunks) << 49
            | Self::from(path.distance.min((1 << 26) - 1)) << 23
            | place as Self
    }

    fn place(self) -> usize {
        (self & ((1 << 23) - 1)) as usize
    }
}

const NARROW_BEAM: usize = 1000;

impl SortKey for u128 {
    fn new(path: &Path, place: usize) -> Self {
        Self::from(u32::MAX - path.matched) << 96
            | Self::from(path.chunks) << 64
            | Self::from(path.distance) << 32
            | place as Self
    }

    fn place(self) -> usize {
        (self & 0xFFFF_FFFF) as usize
    }
}

/// Sorts the paths, best first, and drops what is beyond the beam.
///
/// More matched words win, then fewer chunks, then less distance, then the earlier place in the queue.
fn rank<K: SortKey>(keys: &mut Vec<K>, paths: &[Path], beam: usize) {
    keys.clear();
    keys.extend(paths.iter().enumerate().map(|(place, path)| K::new(path, place)));
    if keys.len() > beam {
        keys.select_nth_unstable(beam);
        keys.truncate(beam);
    }
    keys.sort_unstable();
}

impl Aligner {
    /// Starts a new hypothesis; all alignments until the next are with it.
    pub(crate) fn set_hypothesis(&mut self, vocabulary: &Vocabulary, hypothesis: &Sentence<'_>) {
        self.words.clear();
        self.words.extend_from_slice(hypothesis.words);
        self.width = hypothesis.words.len().div_ceil(64).max(1);
        self.function_words = hypothesis
            .words
            .iter()
            .take(64)
            .enumerate()
            .filter(|(_, word)| vocabulary.word(**word).is_function)
            .fold(0, |set, (at, _)| set | 1 << at);
        self.phrases.clear();
        self.probes.clear();
        self.filters.clear();
        self.places.clear();
        self.phrase_slots.clear(vocabulary.n_phrases());
        for span in hypothesis.spans {
            let place = self.places.len() as u32;
            match self.phrase_slots.get(span.phrase) {
                // The places of a phrase are a list; the new one goes to its end, to keep them ascending.
                Some(index) => {
                    let last = std::mem::replace(&mut self.phrases[index as usize].last, place);
                    self.places[last as usize].1 = place;
                }
                None => {
                    let index = self.phrases.len() as u32;
                    let facts = vocabulary.phrase(span.phrase);
                    self.phrase_slots.set(span.phrase, index);
                    self.probes.push(facts.probe());
                    self.filters.extend(facts.filter().map(|filter| (index, filter)));
                    self.phrases.push(HypothesisPhrase {
                        phrase: span.phrase,
                        len: span.len,
                        first: place,
                        last: place,
                    });
                }
            }
            self.places.push((span.start, NONE));
        }
        self.feature_slots.clear(vocabulary.n_features());
        self.feature_masks.clear();
        for (at, word) in hypothesis.words.iter().enumerate() {
            let facts = vocabulary.word(*word);
            let synsets = vocabulary.synsets(facts).iter().copied();
            for feature in [facts.key, facts.stem].into_iter().chain(synsets) {
                let index = self.feature_slots.get(feature).unwrap_or_else(|| {
                    let index = (self.feature_masks.len() / self.width) as u32;
                    self.feature_slots.set(feature, index);
                    self.feature_masks.resize(self.feature_masks.len() + self.width, 0);
                    index
                });
                self.feature_masks[index as usize * self.width + at / 64] |= 1 << (at % 64);
            }
        }
        self.word_slots.clear(vocabulary.n_words());
        self.masks.clear();
        self.rows.clear();
        self.relation_slots.clear(vocabulary.n_phrases());
        self.relation_ranges.clear();
        self.relations.clear();
    }

    /// Finds all matches with `reference`; [`align`](Self::align) then chooses among them.
    ///
    /// Gives what the bound wants to know, unless a sentence is too long for it or there is nothing to choose.
    pub(crate) fn find(
        &mut self,
        vocabulary: &Vocabulary,
        matchers: &[Matcher],
        ranks: &[u8],
        reference: &Sentence<'_>,
    ) -> Option<Prospects> {
        let identical = self.words.len() == reference.words.len()
            && self
                .words
                .iter()
                .zip(reference.words)
                .all(|(a, b)| vocabulary.word(*a).key == vocabulary.word(*b).key);
        // METEOR does this to keep its beam from missing the perfect alignment.
        let n_matchers = if identical { matchers.len().min(1) } else { matchers.len() };
        self.found.n_matchers = n_matchers;
        self.found.identical = identical;
        self.find_words(vocabulary, matchers, reference);
        self.found.paraphrases.clear();
        if matchers[..n_matchers].contains(&Matcher::Paraphrase) {
            self.find_paraphrases(vocabulary, reference);
        }
        self.index_paraphrases(reference.words.len());
        self.cover(&matchers[..n_matchers], reference.words.len());
        self.found.ambiguous = self.fix(&matchers[..n_matchers], reference.words.len());
        let short = self.words.len().max(reference.words.len()) <= bound::LONGEST;
        short.then(|| self.prospects(vocabulary, ranks, reference))
    }

    /// Keeps the matches that were found last under a number of their own.
    pub(crate) fn keep(&mut self, number: usize) {
        if self.kept.len() <= number {
            self.kept.resize_with(number + 1, Found::default);
        }
        std::mem::swap(&mut self.found, &mut self.kept[number]);
    }

    /// Makes matches that were kept since [`set_hypothesis`](Self::set_hypothesis) the last that were found.
    pub(crate) fn recall(&mut self, number: usize) {
        if let Some(kept) = self.kept.get_mut(number) {
            std::mem::swap(&mut self.found, kept);
        }
    }

    /// Chooses the best set of the matches that were found last.
    pub(crate) fn align(&mut self, matchers: &[Matcher], beam: usize) -> Alignment<'_> {
        let used_matchers = &matchers[..self.found.n_matchers];
        let reference_len = self.found.fixed.len();
        self.matches.clear();
        if self.found.ambiguous {
            let mut queues = std::mem::take(&mut self.beam);
            if self.words.len().max(reference_len) <= 64 && beam <= NARROW_BEAM {
                let mut keys = std::mem::take(&mut queues.narrow_keys);
                self.search::<u64, false>(&mut queues, &mut keys, used_matchers, beam, reference_len);
                queues.narrow_keys = keys;
            } else {
                let mut keys = std::mem::take(&mut queues.wide_keys);
                self.search::<u128, true>(&mut queues, &mut keys, used_matchers, beam, reference_len);
                queues.wide_keys = keys;
            }
            self.beam = queues;
        } else {
            self.matches.extend(self.found.fixed.iter().flatten());
        }
        let chunks = self.count_chunks();
        Alignment { matches: &self.matches, chunks }
    }

    /// What the matches that were found allow at best; for sentences of up to 64 words.
    fn prospects(&self, vocabulary: &Vocabulary, ranks: &[u8], reference: &Sentence<'_>) -> Prospects {
        let mut prospects = Prospects::default();
        let mut rest = self.found.once[0];
        let covered = rest.count_ones() as usize;
        for (rank, matcher) in ranks.iter().enumerate() {
            let mine = rest & self.found.by_matcher[usize::from(*matcher)];
            rest &= !mine;
            let function = (mine & self.function_words).count_ones() as u8;
            prospects.hypothesis[rank] = mine.count_ones() as u8 - function;
            prospects.hypothesis[rank + MAX_MATCHERS] = function;
        }
        let paraphraser = self.found.paraphraser;
        let (mut phrase_words, mut phrase_places) = (0u64, 0u64);
        let mut paraphrased = 0u64;
        let mut ends = [0u64; bound::LONGEST + 1];
        let mut starts = [0u64; bound::LONGEST + 1];
        for found in &self.found.paraphrases {
            let span = |start: u32, len: u32| (u64::MAX >> (64 - len.clamp(1, 64))) << start;
            let places = span(found.reference, found.reference_len);
            paraphrased |= places;
            starts[found.reference as usize] |= 1 << found.hypothesis;
            let end = found.hypothesis + found.hypothesis_len;
            if end < 64 {
                ends[(found.reference + found.reference_len) as usize] |= 1 << end;
            }
            if found.reference_len > 1 || found.hypothesis_len > 1 {
                phrase_words |= span(found.hypothesis, found.hypothesis_len);
                phrase_places |= places;
            }
        }
        let mut n_covered = 0;
        for (at, word) in reference.words.iter().enumerate() {
            let row = self.row_at(at);
            starts[at] |= row.any;
            ends[at + 1] |= row.any << 1;
            if starts[at] & ends[at] != 0 && at > 0 {
                prospects.continuations += 1;
            }
            if self.found.coverage[at] == 0 {
                continue;
            }
            n_covered += 1;
            let has = |matcher: u8| {
                if Some(matcher) == paraphraser {
                    paraphrased >> at & 1 == 1
                } else {
                    row.masks[usize::from(matcher)] != 0
                }
            };
            let rank = ranks.iter().position(|matcher| has(*matcher)).unwrap_or(0);
            let offset = if vocabulary.word(*word).is_function { MAX_MATCHERS } else { 0 };
            prospects.reference[rank + offset] += 1;
        }
        prospects.in_phrases = phrase_words.count_ones() + phrase_places.count_ones();
        prospects.complete = covered == self.words.len() && n_covered == reference.words.len();
        prospects
    }

    /// Looks up which hypothesis words each reference word matches, by each matcher of single words.
    fn find_words(&mut self, vocabulary: &Vocabulary, matchers: &[Matcher], reference: &Sentence<'_>) {
        self.found.mask_of.clear();
        for word in reference.words {
            if let Some(start) = self.word_slots.get(*word) {
                self.found.mask_of.push(start);
                continue;
            }
            if self.width == 1 {
                let row = self.row(vocabulary, matchers, *word);
                let number = self.rows.len() as u32;
                self.rows.push(row);
                self.word_slots.set(*word, number);
                self.found.mask_of.push(number);
                continue;
            }
            let start = self.masks.len();
            self.masks.resize(start + matchers.len() * self.width, 0);
            self.word_slots.set(*word, start as u32);
            self.found.mask_of.push(start as u32);
            let facts = vocabulary.word(*word);
            for (module, matcher) in matchers.iter().enumerate() {
                let start = start + module * self.width;
                let mask = &mut self.masks[start..start + self.width];
                let mut add = |feature: Feature| {
                    if let Some(from) = self.feature_slots.get(feature) {
                        let from = from as usize * self.width;
                        for (place, bits) in mask.iter_mut().zip(&self.feature_masks[from..from + self.width])
                        {
                            *place |= bits;
                        }
                    }
                };
                match matcher {
                    Matcher::Exact => add(facts.key),
                    Matcher::Stem => add(facts.stem),
                    Matcher::Synonym => vocabulary.synsets(facts).iter().copied().for_each(add),
                    Matcher::Paraphrase => {}
                }
                if let (Matcher::Stem | Matcher::Synonym, Some(same)) =
                    (matcher, self.feature_slots.get(facts.key))
                {
                    let same = same as usize * self.width;
                    for (place, bits) in mask.iter_mut().zip(&self.feature_masks[same..same + self.width]) {
                        *place &= !bits;
                    }
                }
            }
        }
    }

    /// What a word of a reference matches, by each matcher of single words.
    fn row(&self, vocabulary: &Vocabulary, matchers: &[Matcher], word: u32) -> Row {
        let facts = vocabulary.word(word);
        let mask = |feature: Feature| {
            let index = self.feature_slots.get(feature);
            index.and_then(|index| self.feature_masks.get(index as usize)).copied().unwrap_or(0)
        };
        let same = mask(facts.key);
        let mut masks = [0; MAX_MATCHERS];
        for (place, matcher) in masks.iter_mut().zip(matchers) {
            *place = match matcher {
                Matcher::Exact => same,
                Matcher::Stem => mask(facts.stem) & !same,
                Matcher::Synonym => {
                    vocabulary.synsets(facts).iter().fold(0, |all, synset| all | mask(*synset)) & !same
                }
                Matcher::Paraphrase => 0,
            };
        }
        Row::new(masks)
    }

    /// The row of a word of the reference, with the matchers that run.
    #[inline]
    fn row_at(&self, word: usize) -> Row {
        let row = self.rows[self.found.mask_of[word] as usize];
        if self.found.identical { row.of_first() } else { row }
    }

    /// Lists all paraphrase matches, in METEOR's order per reference word.
    fn find_paraphrases(&mut self, vocabulary: &Vocabulary, reference: &Sentence<'_>) {
        for span in reference.spans {
            let reference_len = span.len;
            let range = match self.relation_slots.get(span.phrase) {
                Some(index) => self.relation_ranges[index as usize].clone(),
                None => self.relate(vocabulary, span.phrase),
            };
            for relation in &self.relations[range] {
                let HypothesisPhrase { len: hypothesis_len, first, .. } =
                    self.phrases[relation.hypothesis_phrase as usize];
                let mut place = first;
                while let Some((hypothesis, next)) = self.places.get(place as usize).copied() {
                    let order = if relation.source_in_hypothesis {
                        [hypothesis, hypothesis_len, relation.place]
                    } else {
                        [reference_len, relation.place, hypothesis]
                    };
                    self.found.paraphrases.push(Paraphrase {
                        reference: span.start,
                        source_in_hypothesis: relation.source_in_hypothesis,
                        order,
                        reference_len,
                        hypothesis,
                        hypothesis_len,
                    });
                    place = next;
                }
            }
        }
        self.found.paraphrases.sort_unstable();
    }

    /// Relates a phrase of a reference to the phrases of the hypothesis.
    fn relate(&mut self, vocabulary: &Vocabulary, phrase: u32) -> Range<usize> {
        let start = self.relations.len();
        let facts = vocabulary.phrase(phrase);
        if let Some(filter) = facts.filter() {
            for (index, probe) in self.probes.iter().enumerate() {
                if vocabulary.may_paraphrase(filter, *probe) {
                    let target = vocabulary.phrase(self.phrases[index].phrase);
                    self.relations.extend(vocabulary.paraphrase_places(facts, target).map(|place| {
                        Relation { hypothesis_phrase: index as u32, source_in_hypothesis: false, place }
                    }));
                }
            }
        }
        let probe = facts.probe();
        for (index, filter) in &self.filters {
            if vocabulary.may_paraphrase(*filter, probe) {
                let source = vocabulary.phrase(self.phrases[*index as usize].phrase);
                self.relations.extend(vocabulary.paraphrase_places(source, facts).map(|place| Relation {
                    hypothesis_phrase: *index,
                    source_in_hypothesis: true,
                    place,
                }));
            }
        }
        let range = start..self.relations.len();
        self.relation_slots.set(phrase, self.relation_ranges.len() as u32);
        self.relation_ranges.push(range.clone());
        range
    }

    fn index_paraphrases(&mut self, reference_len: usize) {
        self.found.paraphrase_ends.clear();
        let mut end = 0;
        for word in 0..reference_len {
            while self.found.paraphrases.get(end).is_some_and(|found| found.reference as usize <= word) {
                end += 1;
            }
            self.found.paraphrase_ends.push(end as u32);
        }
    }

    fn paraphrases_at(&self, word: usize) -> Range<usize> {
        let start = if word == 0 { 0 } else { self.found.paraphrase_ends[word - 1] };
        start as usize..self.found.paraphrase_ends[word] as usize
    }

    /// The hypothesis words that matcher `module` matches with reference word `word`.
    fn mask(&self, word: usize, module: usize) -> &[u64] {
        if self.width == 1 {
            return &self.rows[self.found.mask_of[word] as usize].masks[module..=module];
        }
        let start = self.found.mask_of[word] as usize + module * self.width;
        &self.masks[start..start + self.width]
    }

    /// Counts how many matches cover each word.
    fn cover(&mut self, matchers: &[Matcher], reference_len: usize) {
        self.found.coverage.clear();
        self.found.coverage.resize(reference_len, 0);
        self.found.once.clear();
        self.found.once.resize(self.width, 0);
        self.found.twice.clear();
        self.found.twice.resize(self.width, 0);
        self.found.by_matcher = [0; MAX_MATCHERS];
        self.found.paraphraser =
            matchers.iter().position(|matcher| *matcher == Matcher::Paraphrase).map(|module| module as u8);
        let narrow = self.width == 1;
        if narrow {
            let (mut once, mut twice) = (0, 0);
            for word in 0..reference_len {
                let row = self.row_at(word);
                if row.count == 0 {
                    continue;
                }
                self.found.coverage[word] = row.count;
                twice |= row.twice | once & row.any;
                once |= row.any;
                for (all, mask) in self.found.by_matcher.iter_mut().zip(row.masks) {
                    *all |= mask;
                }
            }
            (self.found.once[0], self.found.twice[0]) = (once, twice);
        }
        for word in if narrow { 0..0 } else { 0..reference_len } {
            let start = self.found.mask_of[word] as usize;
            let masks = &self.masks[start..start + matchers.len() * self.width];
            for (mask, by_matcher) in masks.chunks_exact(self.width).zip(&mut self.found.by_matcher) {
                *by_matcher |= mask[0];
                for ((once, twice), bits) in self.found.once.iter_mut().zip(&mut self.found.twice).zip(mask) {
                    self.found.coverage[word] += bits.count_ones();
                    *twice |= *once & bits;
                    *once |= bits;
                }
            }
        }
        for found in &self.found.paraphrases {
            for word in found.reference..found.reference + found.reference_len {
                self.found.coverage[word as usize] += 1;
            }
            for word in found.hypothesis..found.hypothesis + found.hypothesis_len {
                let (place, bit) = (word as usize / 64, 1u64 << (word % 64));
                self.found.twice[place] |= self.found.once[place] & bit;
                self.found.once[place] |= bit;
                if let (0, Some(module)) = (place, self.found.paraphraser) {
                    self.found.by_matcher[usize::from(module)] |= bit;
                }
            }
        }
    }

    fn is_covered_once(&self, hypothesis_word: u32) -> bool {
        let (place, bit) = (hypothesis_word as usize / 64, 1u64 << (hypothesis_word % 64));
        self.found.once[place] & !self.found.twice[place] & bit != 0
    }

    /// Finds the definite matches, which share no word with any other; true if other matches remain.
    fn fix(&mut self, matchers: &[Matcher], reference_len: usize) -> bool {
        self.found.fixed.clear();
        self.found.fixed.resize(reference_len, None);
        self.found.is_fixed.clear();
        self.found.is_fixed.resize(reference_len, false);
        let mut ambiguous = false;
        for word in 0..reference_len {
            let paraphrases = self.paraphrases_at(word);
            let only = if self.found.coverage[word] != 1 {
                ambiguous |= self.found.coverage[word] > 1;
                None
            } else if let [found] = self.found.paraphrases[paraphrases] {
                let module = matchers.iter().position(|matcher| *matcher == Matcher::Paraphrase).unwrap_or(0);
                Some(found.as_match(module))
            } else {
                (0..matchers.len()).find_map(|module| {
                    let mask = self.mask(word, module);
                    let place = mask.iter().position(|bits| *bits != 0)?;
                    Some(Match::single(word, 64 * place as u32 + mask[place].trailing_zeros(), module))
                })
            };
            let Some(only) = only else { continue };
            let definite = (only.reference..only.reference_end())
                .all(|word| self.found.coverage[word as usize] == 1)
                && (only.hypothesis..only.hypothesis_end()).all(|word| self.is_covered_once(word));
            if definite {
                self.found.fixed[word] = Some(only);
                self.found.is_fixed[word..only.reference_end() as usize].fill(true);
            } else {
                ambiguous = true;
            }
        }
        ambiguous
    }

    /// The beam search over the reference, word by word.
    fn search<K: SortKey, const WIDE: bool>(
        &mut self,
        queues: &mut Beam,
        keys: &mut Vec<K>,
        matchers: &[Matcher],
        beam: usize,
        reference_len: usize,
    ) {
        let width = if WIDE { self.width } else { 0 };
        queues.choices.clear();
        queues.next.clear();
        queues.next.push(Path::START);
        queues.sets.clear();
        queues.sets.resize(width, 0);
        for word in 0..=reference_len {
            std::mem::swap(&mut queues.queue, &mut queues.next);
            queues.next.clear();
            std::mem::swap(&mut queues.sets, &mut queues.parent_sets);
            queues.sets.clear();
            std::mem::swap(&mut queues.candidates, &mut queues.previous);
            queues.candidates.clear();
            let fixed =
                self.found.fixed.get(word).copied().flatten().map(|found| Candidate::new(found, matchers));
            if word < reference_len && !self.found.is_fixed[word] {
                self.list_candidates(&mut queues.candidates, matchers, word);
            }
            rank(keys, &queues.queue, beam);
            for (place, key) in keys.iter().enumerate() {
                let mut path = queues.queue[key.place()];
                if WIDE {
                    queues.make_set(&mut path, place, width);
                }
                if let Some(candidate) = queues.previous.get(path.pending as usize) {
                    queues.choices.push(Choice { parent: path.choice, chosen: candidate.found });
                    path.choice = queues.choices.len() as u32 - 1;
                    path.pending = NONE;
                }
                if word == reference_len {
                    path.skip();
                } else if word as u32 >= path.next {
                    if let Some(fixed) = &fixed {
                        path.take(fixed);
                        path.distance += fixed.distance;
                    } else {
                        if WIDE {
                            queues.branch_wide(&mut path, width, beam);
                        } else {
                            queues.branch(&mut path);
                        }
                        path.skip();
                    }
                }
                queues.next.push(path);
            }
        }
        rank(keys, &queues.next, 1);
        let best = keys.first().and_then(|key| queues.next.get(key.place()));
        let mut choice = best.map_or(NONE, |path| path.choice);
        self.matches.extend(self.found.fixed.iter().flatten());
        while let Some(step) = queues.choices.get(choice as usize) {
            self.matches.push(step.chosen);
            choice = step.parent;
        }
        self.matches.sort_unstable_by_key(|found| found.reference);
    }

    /// Lists the matches that begin at a reference word, matcher by matcher.
    fn list_candidates(&self, candidates: &mut Vec<Candidate>, matchers: &[Matcher], word: usize) {
        for (module, matcher) in matchers.iter().enumerate() {
            if *matcher == Matcher::Paraphrase {
                let paraphrases = &self.found.paraphrases[self.paraphrases_at(word)];
                candidates
                    .extend(paraphrases.iter().map(|found| Candidate::new(found.as_match(module), matchers)));
                continue;
            }
            for (place, bits) in self.mask(word, module).iter().enumerate() {
                let mut rest = *bits;
                while rest != 0 {
                    let found = Match::single(word, 64 * place as u32 + rest.trailing_zeros(), module);
                    candidates.push(Candidate::new(found, matchers));
                    rest &= rest - 1;
                }
            }
        }
    }

    fn count_chunks(&self) -> u32 {
        self.begin_chunks().fold(0, |chunks, begins| chunks + u32::from(begins))
    }

    /// Per chosen match, whether a chunk begins with it.
    fn begin_chunks(&self) -> impl Iterator<Item = bool> {
        let (mut next, mut last_end) = (0, NONE);
        self.matches.iter().map(move |found| {
            let continues = found.reference == next && found.hypothesis == last_end;
            next = found.reference_end();
            last_end = found.hypothesis_end();
            !continues
        })
    }

    /// The matches that were chosen last, with their chunks.
    pub(crate) fn aligned(&self, matchers: &[Matcher]) -> Vec<AlignedPhrase> {
        let mut n_chunks = 0;
        let range = |start: u32, len: u32| start as usize..(start + len) as usize;
        self.matches
            .iter()
            .zip(self.begin_chunks())
            .map(|(found, begins)| {
                n_chunks += usize::from(begins);
                AlignedPhrase {
                    matcher: matchers.get(usize::from(found.module)).copied().unwrap_or(Matcher::Exact),
                    hypothesis: range(found.hypothesis, found.hypothesis_len),
                    reference: range(found.reference, found.reference_len),
                    chunk: n_chunks - 1,
                }
            })
            .collect()
    }
}

impl Beam {
    /// Adds a copy of `path` for every candidate whose hypothesis words are free.
    ///
    /// Its reference words always are: those of earlier matches lie before, and definite matches share no word
    /// with a candidate.
    ///
    /// METEOR adds the distance of each match to the path it copied *from*, after copying. So a copy lacks
    /// its own distance but has those of the matches before it, and the path that skips the word has all.
    fn branch(&mut self, path: &mut Path) {
        for (index, candidate) in self.candidates.iter().enumerate() {
            if path.used & candidate.mask != 0 {
                continue;
            }
            let mut copy = *path;
            copy.used |= candidate.mask;
            copy.take(candidate);
            copy.pending = index as u32;
            self.next.push(copy);
            path.distance = path.distance.saturating_add(candidate.distance);
        }
    }
    /// The same for hypotheses of more than 64 words.
    ///
    /// Copies of one path with equal matches and chunks are made by growing distance, so that of these no more
    /// than the first `beam` can survive the next ranking. The others are counted, but not made.
    fn branch_wide(&mut self, path: &mut Path, width: usize, beam: usize) {
        let used = &self.sets[path.set as usize * width..][..width];
        self.siblings.fill([0; 2]);
        for (index, candidate) in self.candidates.iter().enumerate() {
            let Match { hypothesis, hypothesis_len, .. } = candidate.found;
            let mut words = hypothesis..hypothesis + hypothesis_len;
            if words.any(|word| used[word as usize / 64] >> (word % 64) & 1 == 1) {
                continue;
            }
            let gain = candidate.gain as usize;
            if self.siblings.len() <= gain {
                self.siblings.resize(gain + 1, [0; 2]);
            }
            let siblings = &mut self.siblings[gain][usize::from(hypothesis == path.last_end)];
            if *siblings < beam {
                *siblings += 1;
                let mut copy = *path;
                copy.take(candidate);
                copy.pending = index as u32;
                self.next.push(copy);
            }
            path.distance = path.distance.saturating_add(candidate.distance);
        }
    }

    /// Makes the set of words that a path within the beam uses: those of its parent and of the match it took.
    fn make_set(&mut self, path: &mut Path, place: usize, width: usize) {
        let start = self.sets.len();
        self.sets.extend_from_slice(&self.parent_sets[path.set as usize * width..][..width]);
        if let Some(Candidate { found, .. }) = self.previous.get(path.pending as usize) {
            for word in found.hypothesis..found.hypothesis_end() {
                self.sets[start + word as usize / 64] |= 1 << (word % 64);
            }
        }
        path.set = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that the next ranking keeps, the one that goes on, and how many were made.
    fn branched(candidates: &[Candidate], used: &[u64], limit: usize) -> (Vec<String>, Path, usize) {
        let mut queues = Beam { candidates: candidates.to_vec(), sets: used.to_vec(), ..Beam::default() };
        let mut path = Path { last_end: 1234, matched: 7, chunks: 3, distance: 11, ..Path::START };
        queues.branch_wide(&mut path, used.len(), limit);
        let mut keys: Vec<u128> = Vec::new();
        rank(&mut keys, &queues.next, 40);
        let kept = keys.iter().map(|key| format!("{:?}", queues.next[key.place()])).collect();
        (kept, path, queues.next.len())
    }

    #[test]
    fn a_path_makes_no_more_copies_than_the_beam_can_keep() {
        let matchers = [Matcher::Exact, Matcher::Stem];
        let mut candidates = Vec::new();
        for module in 0..2 {
            let words = (0..3000).filter(|word| (word / 3) % 2 == module as u32);
            candidates.extend(words.map(|word| Candidate::new(Match::single(1500, word, module), &matchers)));
        }
        let used: Vec<u64> = (0..47u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).collect();
        let (all, after_all, n_all) = branched(&candidates, &used, usize::MAX);
        let (kept, after, n) = branched(&candidates, &used, 40);
        assert_eq!(kept, all);
        assert_eq!(format!("{after:?}"), format!("{after_all:?}"));
        assert!(n_all > 1000 && n <= 3 * 40, "{n} of {n_all} copies");
    }
}
