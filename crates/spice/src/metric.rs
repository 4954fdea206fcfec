//! SPICE as a metric.
//!
//! Rewards objects, attributes of objects and relations between objects that the references mention, too. Captions are
//! parsed into dependencies, which rules turn into a scene graph, whose facts are lists of one to three words: (man),
//! (man, young), (man, ride, wave). Words match if they are equal after lemmatising, or share a synonym set.
//!
//! All references of an image make one scene graph, in their order; the candidate makes another. Precision and recall
//! count the facts of the candidate that are among those of the references, and SPICE is their harmonic mean. The
//! corpus score is the mean over images; in a subset of the facts, only over images whose references have such facts.
//!
//! Paper: Anderson et al., *SPICE: Semantic Propositional Image Caption Evaluation* (2016). Reference program:
//! `spice-1.0.jar` with Stanford CoreNLP 3.6.0, as pycocoevalcap 1.2 calls it.
//!
//! Quirks of the reference program kept on purpose:
//! - several facts of the candidate may match the same fact of the references, so recall may exceed 1;
//! - a candidate without facts scores 0, as does an image whose references have none; a subset without references has
//!   no score (NaN);
//! - a caption has no facts from the sentence on with which the third powers of the numbers of tokens of its sentences
//!   exceed 560³, such as one of more than 560 tokens: the reference program, with the 8 GB that pycocoevalcap gives
//!   it, reads 504 and runs out of memory at 588;
//! - an attribute into which another one was merged counts as no number, colour or size.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use capeval_choice::{Notice, Task};
use capeval_metric::setting::TOK;
use capeval_metric::{
    About, AnyMetric, Column, Excess, Explanation, Input, Learns, Memo, Metric, MetricKind, Need, Part,
    Reading, References, Refusal, Rule, Segment, Setting, Settings, Signature, Statistics, Step,
};
use capeval_text::{Symbol, Tokenizer, Vocabulary};
use rayon::prelude::*;

use crate::cache::ParseCache;
use crate::caption::{CaptionReader, MOST_TOKENS, excess};
use crate::matching::{Counts, Subset};
use crate::phrases::{Phrases, SharedSynonyms, Synonyms};
use crate::recent::Recent;
use crate::resources::Grammar;
use crate::scene::{Fact, Likeness, SceneGraph};
use crate::stored::{restore, store};
use crate::tuples::{Tuple, from_note, to_note};

/// The registry entry of SPICE.
pub const KIND: MetricKind = MetricKind {
    name: "spice",
    summary: "objects, attributes and relations shared with the references",
    paper: "Anderson et al. 2016, SPICE: Semantic Propositional Image Caption Evaluation",
    program: "spice-1.0.jar with Stanford CoreNLP 3.6.0, as in pycocoevalcap 1.2",
    settings: &[TOK, SYNSETS, Setting::yes_no("subsets", "no", "whether to show F by kind of fact")],
    variants: &[],
    need: Some(Need {
        what: WHAT,
        task: Task::Install(NAME),
        has: |resources| resources.has::<Data>(),
        about: || about("installed", Tokenizer::Ptb, Likeness::Synonyms, false),
    }),
    seconds: 0.4,
    build,
};

/// The setting for synonyms.
pub const SYNSETS: Setting =
    Setting::yes_no("synsets", "yes", "whether words of one synonym set match and merge");

/// The name of the data for installations.
const NAME: &str = "spice";

/// The data in messages.
const WHAT: &str = "SPICE's data";

/// The greatest number of bytes of captions and their tuples that are kept: some hundred thousand captions.
const CAPTION_BYTES: usize = 48 << 20;

/// The greatest number of bytes of candidates and their scene graphs that are kept during an evaluation.
const CANDIDATE_BYTES: usize = 4 << 20;

/// The name of SPICE's notes; its number is raised whenever captions get other tuples.
const NOTES: &str = "spice-tuples-2";

/// The data that SPICE needs besides captions.
pub struct Data {
    grammar: Grammar,
    synonyms: SharedSynonyms,
    fingerprint: String,
    /// Notes of the tuples of captions that were parsed. They are shared by all metrics and runs with these data:
    /// tuples depend on the grammar only.
    captions: Recent<str>,
    /// The name of notes on captions, which contain their tuples.
    memo: String,
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Data({})", self.fingerprint)
    }
}

impl Data {
    /// A grammar and a dictionary, with the fingerprint of the latter.
    pub fn new(grammar: Grammar, synonyms: impl Synonyms + Send + Sync + 'static, fingerprint: &str) -> Self {
        let fingerprint = format!("{}+{fingerprint}", grammar.fingerprint());
        let memo = format!("{NOTES}.{}:{}", Grammar::FORMAT_VERSION, grammar.fingerprint());
        let captions = Recent::within(CAPTION_BYTES);
        Self { grammar, synonyms: Arc::new(synonyms), fingerprint, captions, memo }
    }

    /// The name of notes on captions, which says everything that they depend on.
    pub fn note_name(&self) -> &str {
        &self.memo
    }
}

fn build(settings: &Settings<'_>) -> Result<AnyMetric, Refusal> {
    let data = settings.resource::<Data>().ok_or_else(|| settings.not_installed(NAME, WHAT))?;
    let likeness = if settings.yes("synsets") { Likeness::Synonyms } else { Likeness::Words };
    let tokenizer = settings.tokenizer()?;
    let has_subsets = settings.yes("subsets");
    let cache = settings.resource();
    Ok(AnyMetric::new(Spice { data, cache, tokenizer, likeness, has_subsets }))
}

/// SPICE after a tokenizer.
struct Spice {
    data: Arc<Data>,
    cache: Option<Arc<ParseCache>>,
    tokenizer: Tokenizer,
    likeness: Likeness,
    /// True if F is also shown by subset.
    has_subsets: bool,
}

/// The scene graphs of captions, stored: those of each list of references, once it is needed, and those of candidates,
/// some of which describe many images.
struct KnownScenes {
    references: Vec<OnceLock<Box<[u8]>>>,
    candidates: Recent<[u8]>,
}

/// The memory of a thread: phrases, and the graphs that are compared.
#[derive(Default)]
struct Scratch {
    phrases: Option<Phrases>,
    candidate: SceneGraph,
    references: SceneGraph,
}

impl Spice {
    /// Replaces a graph with what captions say, each passed as its pieces joined.
    fn read(
        &self,
        segment: &Segment<'_>,
        captions: impl Iterator<Item = String>,
        graph: &mut SceneGraph,
        phrases: &mut Phrases,
    ) {
        let memo = segment.references.memo(&self.data.memo);
        let mut reader = None;
        graph.clear();
        for caption in captions {
            self.with_tuples(&caption, memo, &mut reader, |tuples| {
                tuples.iter().for_each(|tuple| graph.add(tuple, phrases, self.likeness));
            });
        }
    }

    /// Calls `work` with the tuples of a caption, which is parsed unless they are known; the reader is made when it is
    /// first needed.
    fn with_tuples<'d>(
        &'d self,
        caption: &str,
        memo: Option<&Memo>,
        reader: &mut Option<CaptionReader<'d>>,
        work: impl FnOnce(&[Tuple<&str>]),
    ) {
        let recent = self.data.captions.get(caption);
        let noted = recent.as_deref().or_else(|| memo?.get(caption)).and_then(from_note);
        let known = noted.or_else(|| self.cache.as_ref()?.get(caption));
        let parsed: Arc<str>;
        let tuples = if let Some(tuples) = known {
            tuples
        } else {
            let reader = reader.get_or_insert_with(|| CaptionReader::new(&self.data.grammar));
            parsed = to_note(&reader.tuples(caption)).into();
            self.data.captions.keep(caption, &parsed);
            from_note(&parsed).unwrap_or_default()
        };
        if let Some(cache) = &self.cache {
            cache.keep(caption, &tuples);
        }
        work(&tuples);
    }

    /// Calls `compare` with what the candidate and the references say.
    fn compare<T>(
        &self,
        known: &KnownScenes,
        segment: &Segment<'_>,
        scratch: &mut Scratch,
        compare: impl FnOnce(&SceneGraph, &SceneGraph, &Phrases) -> T,
    ) -> T {
        let Scratch { phrases, candidate, references } = scratch;
        let phrases = phrases.get_or_insert_with(|| Phrases::new(Arc::clone(&self.data.synonyms)));
        phrases.tidy();
        let spelt = |pieces| join(pieces, segment.references.vocabulary);
        let caption = spelt(segment.pieces);
        match known.candidates.get(&caption) {
            Some(stored) => restore(candidate, &stored, phrases),
            None => {
                self.read(segment, std::iter::once(caption.clone()), candidate, phrases);
                known.candidates.keep(&caption, &store(candidate, phrases).into());
            }
        }
        let place = known.references.get(segment.references.list(segment.image));
        match place.and_then(OnceLock::get) {
            Some(stored) => restore(references, stored, phrases),
            None => {
                self.read(segment, segment.reference_pieces().map(spelt), references, phrases);
                if let Some(place) = place {
                    // Another thread may have been here, with the same graph.
                    let _ = place.set(store(references, phrases).into());
                }
            }
        }
        compare(candidate, references, phrases)
    }
}

/// A caption as the parser reads it.
fn join(pieces: &[Symbol], vocabulary: &Vocabulary) -> String {
    let words: Vec<&str> = pieces.iter().map(|piece| vocabulary.word(*piece)).collect();
    words.join(" ")
}

/// The sums over images of one subset.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// The images that have a score.
    images: f64,
    f: f64,
    precision: f64,
    recall: f64,
    matched: f64,
    candidate: f64,
    references: f64,
}

/// The sums of all subsets.
#[derive(Clone, Copy, Debug, Default)]
struct Stats([Sums; Subset::ALL.len()]);

impl Sums {
    /// The names of the columns, after that of the subset.
    const NAMES: [&str; 7] = ["images", "f", "precision", "recall", "matched", "candidate", "references"];

    fn new(counts: Counts, subset: Subset) -> Self {
        let has_score = counts.references > 0 || subset == Subset::All;
        Self {
            images: if has_score { 1.0 } else { 0.0 },
            f: counts.f(),
            precision: counts.precision(),
            recall: counts.recall(),
            matched: counts.matched as f64,
            candidate: counts.candidate as f64,
            references: counts.references as f64,
        }
    }

    fn to_row(self) -> [f64; 7] {
        let Self { images, f, precision, recall, matched, candidate, references } = self;
        [images, f, precision, recall, matched, candidate, references]
    }

    fn from_row(row: &[f64]) -> Self {
        let [images, f, precision, recall, matched, candidate, references] =
            std::array::from_fn(|k| row.get(k).copied().unwrap_or_default());
        Self { images, f, precision, recall, matched, candidate, references }
    }

    /// The means of F, precision and recall; NaN where no image has a score in a subset.
    fn means(&self, subset: Subset) -> [f64; 3] {
        let mean =
            |sum: f64| if self.images == 0.0 && subset == Subset::All { 0.0 } else { sum / self.images };
        [mean(self.f), mean(self.precision), mean(self.recall)]
    }
}

impl Statistics for Stats {
    fn store(&self, row: &mut [f64]) {
        for (place, number) in row.iter_mut().zip(self.0.iter().flat_map(|sums| sums.to_row())) {
            *place = number;
        }
    }

    fn load(row: &[f64]) -> Self {
        let mut subsets = row.chunks(Sums::NAMES.len());
        Self(std::array::from_fn(|_| Sums::from_row(subsets.next().unwrap_or_default())))
    }
}

impl Metric for Spice {
    type Model = KnownScenes;
    type Stats = Stats;
    type Scratch = Scratch;

    fn about(&self) -> About {
        about(&self.data.fingerprint, self.tokenizer, self.likeness, self.has_subsets)
    }

    fn fit(&self, references: &References<'_>) -> KnownScenes {
        let references = (0..references.n_lists()).map(|_| OnceLock::new()).collect();
        KnownScenes { references, candidates: Recent::within(CANDIDATE_BYTES) }
    }

    fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Option<Memo> {
        let known = references.memo(&self.data.memo);
        let is_new = |number: &usize| {
            let caption = join(references.sentences.pieces(*number), references.vocabulary);
            known.is_none_or(|known| known.get(&caption).is_none())
        };
        let mut numbers: Vec<usize> = (0..references.sentences.len()).filter(is_new).collect();
        // The longest first, so that no thread is left with a long one when all others are done.
        numbers.sort_by_key(|number| Reverse(references.sentences.pieces(*number).len()));
        let notes = numbers.into_iter().par_bridge().map_init(
            || None,
            |reader, number| {
                advance(0);
                let caption = join(references.sentences.pieces(number), references.vocabulary);
                let mut note = String::new();
                self.with_tuples(&caption, None, reader, |tuples| note = to_note(tuples));
                advance(1);
                (caption, note)
            },
        );
        let notes: BTreeMap<String, String> = notes.collect::<Vec<_>>().into_iter().collect();
        Some(Memo::new(self.data.memo.clone(), &notes))
    }

    fn notices(&self, _: &KnownScenes) -> Vec<Notice> {
        self.cache.iter().filter_map(|cache| cache.notice()).cloned().collect()
    }

    fn excess(&self, caption: &str) -> Option<Excess> {
        // A token takes a byte at least.
        if caption.len() <= MOST_TOKENS {
            return None;
        }
        excess(&self.tokenizer.pieces(caption).join(" "))
    }

    fn measure(&self, known: &KnownScenes, segment: &Segment<'_>, scratch: &mut Scratch) -> Stats {
        self.compare(known, segment, scratch, |candidate, references, phrases| {
            let counts = Counts::by_subset(candidate, references, phrases, self.likeness);
            Stats(Subset::ALL.map(|subset| Sums::new(counts[subset as usize], subset)))
        })
    }

    fn score(&self, stats: &Stats, values: &mut [f64]) {
        let subsets = Subset::ALL.into_iter().zip(&stats.0).skip(1);
        let numbers = stats.0[0].means(Subset::All).into_iter();
        let numbers = numbers.chain(subsets.map(|(subset, sums)| sums.means(subset)[0]));
        for (value, number) in values.iter_mut().zip(numbers) {
            *value = number;
        }
    }

    fn explain(&self, known: &KnownScenes, segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        let explain = |candidate: &SceneGraph, references: &SceneGraph, phrases: &Phrases| {
            let counts = Counts::by_subset(candidate, references, phrases, self.likeness);
            let all = counts[Subset::All as usize];
            let mut main = score_step("SPICE", all);
            let mut list = |title, graphs| main.parts.push(facts_step(title, graphs, phrases, self.likeness));
            list("facts of the candidate", (candidate, references));
            list("facts of the references", (references, candidate));
            let mut steps = vec![main, precision_step(all), recall_step(all)];
            if self.has_subsets {
                let subsets = Subset::ALL.into_iter().skip(1);
                steps.extend(subsets.map(|subset| subset_step(subset, counts[subset as usize])));
            }
            steps
        };
        let scores = self.compare(known, segment, scratch, explain);
        Explanation { scores, ..Explanation::over_words(segment) }
    }
}

const F: Rule = Rule::new("2PR / (P + R)", |parts| match parts {
    [precision, recall] if precision + recall > 0.0 => 2.0 * (precision * recall) / (precision + recall),
    _ => 0.0,
});

fn score_step(title: &str, counts: Counts) -> Step {
    Step::of(title, counts.f(), F, vec![precision_step(counts), recall_step(counts)])
}

fn precision_step(counts: Counts) -> Step {
    let parts = vec![
        Step::given("facts of the candidate that match", counts.matched as f64),
        Step::given("facts of the candidate", counts.candidate as f64),
    ];
    Step::of("precision", counts.precision(), Rule::QUOTIENT, parts)
}

fn recall_step(counts: Counts) -> Step {
    let parts = vec![
        Step::given("facts of the candidate that match", counts.matched as f64),
        Step::given("facts of the references", counts.references as f64),
    ];
    Step::of("recall", counts.recall(), Rule::QUOTIENT, parts)
}

fn subset_step(subset: Subset, counts: Counts) -> Step {
    if counts.references == 0 {
        return Step::given(subset.name(), f64::NAN).noted("the references have no such facts");
    }
    score_step(subset.name(), counts)
}

/// The facts of one side, each with those of the other side that it matches.
fn facts_step(
    title: &str,
    (facts, others): (&SceneGraph, &SceneGraph),
    phrases: &Phrases,
    likeness: Likeness,
) -> Step {
    let step = |fact: &Fact<'_>| {
        let matching = others.matching(fact, likeness);
        let matching: Vec<String> = matching.iter().map(|other| terms(other, phrases).join(" – ")).collect();
        let note =
            if matching.is_empty() { "no match".to_owned() } else { format!("= {}", matching.join(", ")) };
        Step::stating(terms(fact, phrases), !matching.is_empty()).noted(note)
    };
    Step::heading(title, facts.facts().iter().map(step).collect())
}

fn terms(fact: &Fact<'_>, phrases: &Phrases) -> Vec<String> {
    let concepts = match fact {
        Fact::Object(object) => vec![object],
        Fact::Attribute(object, attribute) => vec![object, attribute],
        Fact::Relation(source, relation, target) => vec![source, relation, target],
    };
    concepts.into_iter().map(|concept| phrases.texts(concept).join("/")).collect()
}

fn about(data: &str, tokenizer: Tokenizer, likeness: Likeness, has_subsets: bool) -> About {
    let synsets = if likeness == Likeness::Synonyms { "yes" } else { "no" };
    let signature =
        Signature::new("spice").with("synsets", synsets).with("data", data).with("tok", tokenizer);
    let column = |subset: Subset, name: &str| {
        let full = format!("{}-{name}", subset.name().to_lowercase());
        if matches!(name, "f" | "precision" | "recall") { Column::sum(full) } else { Column::count(full) }
    };
    let columns = Subset::ALL.into_iter().flat_map(|subset| Sums::NAMES.map(|name| column(subset, name)));
    let input = Input::new(Reading::Tokens(tokenizer)).with_memos(true);
    About::new(signature, input, columns.collect(), parts(has_subsets))
        .learns(Learns::Words)
        .english(true)
        .slow(true)
        .limited(true)
        .mean(!has_subsets)
}

/// The scores: F, precision and recall, and possibly F by subset.
fn parts(has_subsets: bool) -> Vec<Part> {
    let f = |key: &str, label: &str| Part::score(key, label, 0.0..=2.0);
    let mut parts = vec![
        f("spice", "SPICE"),
        Part::score("spice-precision", "SPICE P", 0.0..=1.0),
        Part::score("spice-recall", "SPICE R", 0.0..=f64::INFINITY),
    ];
    if has_subsets {
        let names = Subset::ALL.into_iter().skip(1).map(Subset::name);
        parts
            .extend(names.map(|name| f(&format!("spice-{}", name.to_lowercase()), &format!("SPICE {name}"))));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::grammar;

    struct NoSynonyms;

    impl Synonyms for NoSynonyms {
        fn synsets(&self, _: &str, synsets: &mut Vec<u32>) {
            synsets.clear();
        }
    }

    #[test]
    fn stored_tuples_take_the_place_of_a_parse() {
        let note = |caption: &str, cache: &Arc<ParseCache>| {
            let spice = Spice {
                data: Arc::new(Data::new(grammar(1), NoSynonyms, "")),
                cache: Some(Arc::clone(cache)),
                tokenizer: Tokenizer::Ptb,
                likeness: Likeness::Synonyms,
                has_subsets: false,
            };
            let mut note = String::new();
            spice.with_tuples(caption, None, &mut None, |tuples| note = to_note(tuples));
            note
        };
        let name = Data::new(grammar(1), NoSynonyms, "").note_name().to_owned();
        let first = Arc::new(ParseCache::open(None, &name));
        let parsed = note("a dog sits", &first);
        let said = "this is not parsed\n";
        assert_ne!(parsed, said);
        first.keep("a cat sits", &from_note(said).unwrap());
        assert_eq!(first.n_added(), 2);
        let mut file = Vec::new();
        first.write(&ParseCache::open(None, &name), &mut file).unwrap();
        let second = Arc::new(ParseCache::open(Some(crate::testing::mapped(&file)), &name));
        assert_eq!((note("a dog sits", &second), note("a cat sits", &second)), (parsed, said.to_owned()));
        assert_eq!(second.n_added(), 0);
    }

    #[test]
    fn a_subset_without_references_has_no_score() {
        let counts = Counts { matched: 0, candidate: 1, references: 0 };
        let [all, color] = [Subset::All, Subset::Color].map(|subset| Sums::new(counts, subset));
        assert_eq!((all.images, color.images), (1.0, 0.0));
        assert_eq!(all.means(Subset::All), [0.0; 3]);
        assert!(color.means(Subset::Color).iter().all(|mean| mean.is_nan()));
    }

    #[test]
    fn a_candidate_without_facts_scores_0() {
        let counts = Counts { matched: 0, candidate: 0, references: 3 };
        for subset in Subset::ALL {
            let sums = Sums::new(counts, subset);
            assert_eq!((sums.images, sums.means(subset)), (1.0, [0.0; 3]), "{}", subset.name());
        }
    }
}
