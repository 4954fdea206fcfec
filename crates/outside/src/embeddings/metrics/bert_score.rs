//! BERTScore: the tokens of the candidate and of a reference, matched greedily by the cosine of their vectors.
//!
//! With `x` the vectors of the candidate's tokens, `y` those of the reference's, and `w` weights,
//! `P = Σ w(x) max cos(x, y) / Σ w(x)`, `R = Σ w(y) max cos(y, x) / Σ w(y)`, and `F = 2PR / (P + R)`. Vectors are those
//! of one layer of the model. The corpus score is the mean of the segment scores.
//!
//! Paper: Zhang et al., *BERTScore: Evaluating Text Generation with BERT* (2020). Reference program: bert_score 0.3.13.
//!
//! Quirks kept on purpose:
//! - of several references, the best P, R and F count each, so they may come from different references, and F need not
//!   be the harmonic mean of P and R;
//! - the first and the last special token have weight 0, but other tokens may match them;
//! - a text without tokens has P, R and F of 0;
//! - with `idf=yes`, the weight of a token is `log((N + 1) / (n + 1))`, with N references, counted as often as they are
//!   compared, of which n have the token;
//! - rescaling, `(x − b) / (1 − b)` with a baseline `b` for each of P, R and F, comes after the best was taken;
//! - RoBERTa reads the first word with a space before it, as published scores and baselines do. bert_score does not
//!   with transformers 4.17 to 4.24, nor with 5: `prefix-space=no`.
//!
//! Decided otherwise: where captions of one batch have different lengths, the program takes 0 for the cosine with what
//! is not there, so a greatest cosine below 0 becomes 0 depending on its batch; here it stays.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capeval::metric::{Explanation, Match, Part, Rule, Setting, Settings, Signature, Step};
use capeval::{Answers, Identity, Outside, OutsideLabel, OutsideRow};
use capeval_arrays::Key;
use capeval_choice::{Code, Notice, Refusal};
use capeval_neural::{ModelPurpose, Tokens};
use rayon::prelude::*;

use super::clip_score::{CLIP_S, MODEL};
use super::reference;
use crate::embeddings::baselines::{self, Baseline};
use crate::embeddings::cache::key;
use crate::embeddings::models::OpenModel;
use crate::embeddings::role::Purpose;
use crate::embeddings::space::{Alone, dot, norm};
use crate::kind::OutsideKind;
use crate::sources::OpenSources;

/// The number of rows whose texts are read at once: token vectors are large.
const ROWS_AT_ONCE: usize = 64;

/// The entry of BERTScore.
pub(crate) const KIND: OutsideKind = OutsideKind {
    name: "bert-score",
    summary: "tokens that match those of the best reference, by their vectors in context",
    paper: "Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT",
    program: "bert_score 0.3.13",
    needs: "a model such as RoBERTa or BERT, which vectors cannot replace: they are of whole texts, and this metric \
            compares one for each token",
    models: &[ModelPurpose::Tokens],
    settings: &[
        Setting::count(
            "layer",
            "usual",
            "layer of the model whose vectors are compared, 0 for the lowest",
            0..=1000,
        ),
        Setting::yes_no("idf", "no", "whether rare tokens weigh more"),
        Setting::text(
            "rescale",
            "no",
            "baseline to rescale with",
            "no, yes, or the path of a table of baselines",
        ),
        Setting::text("lang", "en", "language of the baseline", "a code such as en"),
        Setting::yes_no("prefix-space", "yes", "whether RoBERTa reads the first word with a space before it"),
        MODEL,
    ],
    seconds: 220.0,
    parts: || parts(false),
    build: |spec, settings, sources| Ok(Arc::new(BertScore::build(spec, settings, sources)?)),
    ..CLIP_S
};

fn parts(is_rescaled: bool) -> Vec<Part> {
    let least = if is_rescaled { f64::NEG_INFINITY } else { -1.0 };
    let part = |(key, label): (&str, &str)| {
        Part::score(format!("bert-score-{key}"), format!("BERTScore {label}"), least..=1.0)
    };
    [("f", "F"), ("p", "P"), ("r", "R")].map(part).into()
}

struct BertScore {
    label: OutsideLabel,
    model: Arc<OpenModel>,
    layer: usize,
    has_idf: bool,
    prefix_space: bool,
    baseline: Option<Baseline>,
    /// The data that explanations need of the scored rows.
    scored: Mutex<ScoredRows>,
}

/// The data that explanations need of scored rows.
#[derive(Default)]
struct ScoredRows {
    /// The weights of tokens by their ids, where rare ones weigh more; those of the last system.
    weights: Weights,
    /// How each row's candidate matches each of its references.
    pairs: HashMap<Key, Vec<TokenPairs>>,
}

/// How the tokens of a candidate and of a reference match.
struct TokenPairs {
    scores: Scores,
    /// The token of the reference that is nearest to each of the candidate.
    of_candidate: Vec<u16>,
    /// The token of the candidate that is nearest to each of the reference.
    of_reference: Vec<u16>,
}

/// The weights of tokens.
#[derive(Clone, Default)]
struct Weights {
    of_token: HashMap<u32, f64>,
    of_others: f64,
}

/// P, R and F.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scores {
    p: f64,
    r: f64,
    f: f64,
}

/// A text whose tokens can be matched.
struct Text {
    tokens: Tokens,
    weights: Vec<f64>,
}

impl BertScore {
    fn build(spec: &str, settings: &Settings<'_>, sources: &OpenSources) -> Result<Self, Refusal> {
        let model = sources.needed_model(settings.given(MODEL.name), Purpose::Tokens)?;
        let layer = match settings.beside_default("layer")? {
            Some(layer) => layer,
            None => model.usual_layer().ok_or_else(|| {
                let message = format!("which layer of {} is usual is not known", model.name());
                Refusal::new(message).with_remedy("set layer, such as layer=17 for roberta-large")
            })?,
        };
        if layer > model.n_layers() {
            let message = format!("{} has {} layers, and layer is {layer}", model.name(), model.n_layers());
            return Err(Refusal::new(message).with_remedy("set a lower layer"));
        }
        let baseline = match settings.text("rescale") {
            "no" => None,
            "yes" => Some(baselines::known(&model, layer, settings.text("lang"))?),
            path => Some(baselines::read(path, layer)?),
        };
        Ok(Self {
            label: OutsideLabel::new(spec, parts(baseline.is_some())),
            layer,
            has_idf: settings.yes("idf"),
            prefix_space: settings.yes("prefix-space"),
            baseline,
            model,
            scored: Mutex::default(),
        })
    }

    /// The hash that bert_score prints for these settings, with this program in place of its versions.
    fn hash(&self) -> String {
        let idf = if self.has_idf { "idf" } else { "no-idf" };
        let rescaled = match &self.baseline {
            None => "",
            Some(baseline) if baseline.is_known => "-rescaled",
            Some(_) => "-custom-rescaled",
        };
        let (name, layer, version) = (self.model.short_name(), self.layer, capeval::VERSION);
        format!("{name}_L{layer}_{idf}_version=capeval-{version}{rescaled}")
    }

    /// Reads texts, each once.
    fn read<'t>(
        &self,
        texts: impl Iterator<Item = &'t str>,
        weights: &Weights,
        answers: &dyn Answers,
    ) -> Result<HashMap<&'t str, Text>, Refusal> {
        let mut different: Vec<&str> = texts.collect();
        different.sort_unstable();
        different.dedup();
        let tokens = self.model.tokens(&different, self.layer, self.prefix_space, answers)?;
        let weighed = |(text, mut tokens): (&'t str, Tokens)| {
            normalize(&mut tokens);
            let weights = tokens.ids.iter().map(|id| weights.of(*id)).collect();
            (text, Text { tokens, weights })
        };
        Ok(different.into_iter().zip(tokens).map(weighed).collect())
    }

    /// The weights of tokens in a comparison of these rows.
    fn weigh(&self, rows: &[OutsideRow<'_>]) -> Weights {
        let special = self.model.special_tokens();
        if !self.has_idf {
            return Weights { of_token: special.map(|id| (id, 0.0)).into(), of_others: 1.0 };
        }
        let references: Vec<&str> = rows.iter().flat_map(|row| row.references.iter().copied()).collect();
        let mut different = references.clone();
        different.sort_unstable();
        different.dedup();
        let ids: HashMap<&str, Vec<u32>> = different
            .into_par_iter()
            .map(|text| {
                let mut ids = self.model.token_ids(text, self.prefix_space);
                ids.sort_unstable();
                ids.dedup();
                (text, ids)
            })
            .collect();
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for id in references.iter().filter_map(|text| ids.get(text)).flatten() {
            *counts.entry(*id).or_default() += 1;
        }
        let n = references.len() as f64;
        let weight = |count: usize| ((n + 1.0) / (count as f64 + 1.0)).ln();
        Weights {
            of_token: counts.into_iter().map(|(id, count)| (id, weight(count))).collect(),
            of_others: weight(0),
        }
    }

    fn scored(&self) -> MutexGuard<'_, ScoredRows> {
        self.scored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the candidate of a row matches each of its references.
    fn pairs(&self, row: &OutsideRow<'_>, known: &HashMap<&str, Text>) -> Vec<TokenPairs> {
        let candidate = known.get(row.candidate);
        let references = row.references.iter().filter_map(|text| known.get(text));
        candidate.into_iter().flat_map(|one| references.clone().map(|other| compare(one, other))).collect()
    }

    /// The best scores over the references, and which reference each comes from.
    fn best(&self, pairs: &[TokenPairs]) -> (Scores, [usize; 3]) {
        let mut best = Scores { p: f64::NEG_INFINITY, r: f64::NEG_INFINITY, f: f64::NEG_INFINITY };
        let mut from = [0; 3];
        for (nth, pair) in pairs.iter().enumerate() {
            let Scores { p, r, f } = pair.scores;
            for ((best, from), value) in
                [&mut best.p, &mut best.r, &mut best.f].into_iter().zip(&mut from).zip([p, r, f])
            {
                if value > *best {
                    (*best, *from) = (value, nth);
                }
            }
        }
        if pairs.is_empty() {
            best = Scores { p: 0.0, r: 0.0, f: 0.0 };
        }
        (best, from)
    }

    fn rescaled(&self, scores: Scores) -> Scores {
        match &self.baseline {
            None => scores,
            Some(baseline) => {
                let rescaled = |x: f64, b: f64| (x - b) / (1.0 - b);
                Scores {
                    p: rescaled(scores.p, baseline.p),
                    r: rescaled(scores.r, baseline.r),
                    f: rescaled(scores.f, baseline.f),
                }
            }
        }
    }
}

impl Weights {
    fn of(&self, id: u32) -> f64 {
        self.of_token.get(&id).copied().unwrap_or(self.of_others)
    }
}

/// The vectors, token by token.
fn rows(tokens: &Tokens) -> impl ExactSizeIterator<Item = &[f32]> {
    tokens.vectors.chunks_exact(tokens.dims.max(1))
}

/// Makes the length of each vector 1; zeros stay.
fn normalize(tokens: &mut Tokens) {
    for row in tokens.vectors.chunks_exact_mut(tokens.dims.max(1)) {
        let norm = norm(row);
        if norm > 0.0 {
            row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
        }
    }
}

/// For each token of `from`, the greatest cosine with a token of `to`, and which that is.
fn nearest(from: &Tokens, to: &Tokens) -> Vec<(f64, usize)> {
    rows(from)
        .map(|x| {
            let cosines = rows(to).map(|y| dot(x, y)).enumerate();
            let best = cosines.reduce(|best, next| if next.1 > best.1 { next } else { best });
            best.map_or((0.0, 0), |(place, cosine)| (cosine, place))
        })
        .collect()
}

/// The weighted mean; 0 without weight.
fn weighted(nearest: &[(f64, usize)], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let sum: f64 = nearest.iter().zip(weights).map(|((cosine, _), weight)| cosine * weight).sum();
    if total == 0.0 { 0.0 } else { sum / total }
}

/// How the tokens of a candidate and of a reference match.
fn compare(candidate: &Text, reference: &Text) -> TokenPairs {
    let of_candidate = nearest(&candidate.tokens, &reference.tokens);
    let of_reference = nearest(&reference.tokens, &candidate.tokens);
    let p = weighted(&of_candidate, &candidate.weights);
    let r = weighted(&of_reference, &reference.weights);
    // What has two tokens has special ones only.
    let scores = match candidate.tokens.ids.len() == 2 || reference.tokens.ids.len() == 2 {
        true => Scores { p: 0.0, r: 0.0, f: 0.0 },
        false => Scores { p, r, f: harmonic(p, r) },
    };
    // Models read few hundred tokens.
    let places = |nearest: Vec<(f64, usize)>| nearest.into_iter().map(|(_, place)| place as u16).collect();
    TokenPairs { scores, of_candidate: places(of_candidate), of_reference: places(of_reference) }
}

/// The key that distinguishes a row from others.
fn row_key(row: &OutsideRow<'_>) -> Key {
    let texts = std::iter::once(&row.candidate).chain(&row.references);
    key(texts.map(|text| format!("{}:{text}", text.len())).collect::<String>().as_bytes())
}

fn harmonic(p: f64, r: f64) -> f64 {
    if p + r == 0.0 { 0.0 } else { 2.0 * p * r / (p + r) }
}

const HARMONIC: Rule = Rule::new("2PR / (P + R)", |parts| match parts {
    [p, r] => harmonic(*p, *r),
    _ => 0.0,
});

const RESCALED: Rule = Rule::new("(x − b) / (1 − b)", |parts| match parts {
    [x, b] => (x - b) / (1.0 - b),
    _ => 0.0,
});

impl Outside for BertScore {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        let Self { layer, has_idf, prefix_space, baseline, model, label: _, scored: _ } = self;
        let yes_no = |yes: bool| if yes { "yes" } else { "no" };
        let signature = Signature::new(KIND.name).with("layer", layer).with("idf", yes_no(*has_idf));
        let rescale = baseline.as_ref().map_or_else(|| "no".to_owned(), |baseline| baseline.name.clone());
        let signature = signature.with("rescale", rescale);
        let signature = match model.has_prefix_space() {
            true => signature.with("prefix-space", yes_no(*prefix_space)),
            false => signature,
        };
        model.sign(signature)
    }

    fn needs_references(&self) -> bool {
        true
    }

    fn takes_all_together(&self) -> bool {
        self.has_idf
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity { text: self.signature().to_string(), knows_images: false })
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        let weights = self.weigh(rows);
        self.scored().weights = weights.clone();
        // Rows of one image follow each other, so that its references are read once.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| rows[*a].references.cmp(&rows[*b].references));
        for block in order.chunks(ROWS_AT_ONCE) {
            let texts = block.iter().flat_map(|row| {
                std::iter::once(rows[*row].candidate).chain(rows[*row].references.iter().copied())
            });
            let known = self.read(texts, &weights, answers)?;
            let pairs: Vec<Vec<TokenPairs>> =
                block.par_iter().map(|row| self.pairs(&rows[*row], &known)).collect();
            for (row, pairs) in block.iter().zip(pairs) {
                let Scores { p, r, f } = self.rescaled(self.best(&pairs).0);
                self.scored().pairs.insert(row_key(&rows[*row]), pairs);
                answers.take(*row, &[f, p, r]);
            }
        }
        Ok(())
    }

    fn notices(&self) -> Vec<Notice> {
        let hash = Notice::new(
            Code::BertScoreHash,
            format!("bert_score's name for these settings is {}", self.hash()),
        );
        std::iter::once(hash).chain(self.model.notices()).collect()
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let mut scored = self.scored();
        if !self.has_idf {
            scored.weights = self.weigh(&[]);
        }
        let ScoredRows { weights, pairs } = &mut *scored;
        let pairs = match pairs.entry(row_key(row)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let texts = std::iter::once(row.candidate).chain(row.references.iter().copied());
                place.insert(self.pairs(row, &self.read(texts, weights, &Alone).ok()?))
            }
        };
        let (_, from) = self.best(pairs);
        let ids = |text: &str| self.model.token_ids(text, self.prefix_space);
        let words =
            |text: &str| ids(text).into_iter().map(|id| self.model.token(id)).collect::<Vec<String>>();
        let score = |label: &str, value: Step, baseline: Option<f64>| match baseline {
            None => Step { title: label.to_owned(), ..value },
            Some(baseline) => {
                let x = value.value.unwrap_or_default();
                let parts = vec![value, Step::given("baseline", baseline)];
                Step::of(label, (x - baseline) / (1.0 - baseline), RESCALED, parts)
            }
        };
        let of_reference = |nth: usize| -> (Step, Step) {
            let (Some(text), Some(pair)) = (row.references.get(nth), pairs.get(nth)) else {
                return (Step::given("P", 0.0), Step::given("R", 0.0));
            };
            let step = |title: &str, value: f64, matches: Vec<Match>| {
                let step = Step::given(title, value).noted(format!("of {}", reference(nth)));
                matches.into_iter().fold(step, Step::matched)
            };
            let matched = |own: usize, other: usize| Match {
                matcher: "nearest",
                candidate: vec![own],
                references: vec![(nth, vec![other])],
            };
            let with_weight = |text: &str, nearest: &[u16]| -> Vec<(usize, usize)> {
                let pairs = ids(text).into_iter().zip(nearest).enumerate();
                let weighs = pairs.filter(|(_, (id, _))| weights.of(*id) > 0.0);
                weighs.map(|(own, (_, other))| (own, usize::from(*other))).collect()
            };
            let of_p = with_weight(row.candidate, &pair.of_candidate).into_iter();
            let of_r = with_weight(text, &pair.of_reference).into_iter();
            (
                step("P", pair.scores.p, of_p.map(|(own, other)| matched(own, other)).collect()),
                step("R", pair.scores.r, of_r.map(|(own, other)| matched(other, own)).collect()),
            )
        };
        let [from_p, from_r, from_f] = from;
        let (p_of_f, r_of_f) = of_reference(from_f);
        let both = [p_of_f.value.unwrap_or_default(), r_of_f.value.unwrap_or_default()];
        let f = Step::of("F", harmonic(both[0], both[1]), HARMONIC, vec![p_of_f, r_of_f]);
        let baseline = self.baseline.as_ref();
        Some(Explanation {
            candidate: words(row.candidate),
            references: row.references.iter().map(|text| words(text)).collect(),
            scores: vec![
                score("BERTScore F", f, baseline.map(|baseline| baseline.f)),
                score("BERTScore P", of_reference(from_p).0, baseline.map(|baseline| baseline.p)),
                score("BERTScore R", of_reference(from_r).1, baseline.map(|baseline| baseline.r)),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::testing::{models, scores_by};

    fn text(ids: &[u32], vectors: &[[f32; 2]], weights: &[f64]) -> Text {
        let mut tokens = Tokens { ids: ids.to_vec(), dims: 2, vectors: vectors.concat() };
        normalize(&mut tokens);
        Text { tokens, weights: weights.to_vec() }
    }

    #[test]
    fn special_tokens_have_no_weight_but_can_be_matched() {
        let candidate = text(&[0, 7, 2], &[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], &[0.0, 1.0, 0.0]);
        let reference = text(&[0, 8, 2], &[[0.0, 2.0], [1.0, 0.0], [1.0, 0.0]], &[0.0, 1.0, 0.0]);
        let Scores { p, r, f } = compare(&candidate, &reference).scores;
        assert_eq!((p, r, f), (1.0, 1.0, 1.0), "both words match special tokens");
    }

    const REFERENCES: [&str; 3] = ["a man rides a horse", "two dogs", "a bus waits at the street"];

    fn scored(spec: &str, references: &[&str]) -> Vec<f64> {
        scores_by(spec, &["roberta"], Vec::new(), &[("a man on a brown horse", references)]).remove(0)
    }

    #[test]
    fn p_r_and_f_are_each_the_best_over_the_references() {
        let alone = REFERENCES.map(|reference| scored("bert-score:layer=2", &[reference]));
        let best = (0..3).map(|k| alone.iter().map(|scores| scores[k]).fold(f64::MIN, f64::max));
        assert_eq!(scored("bert-score:layer=2", &REFERENCES), best.collect::<Vec<f64>>());
    }

    #[test]
    fn a_baseline_is_taken_off_after_the_best_was_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baseline.tsv");
        std::fs::write(&path, "LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.1,0.1,0.1\n2,0.5,0.25,0.75\n").unwrap();
        let plain = scored("bert-score:layer=2", &REFERENCES);
        let rescaled = scored(&format!("bert-score:layer=2:rescale={}", path.display()), &REFERENCES);
        for ((x, b), found) in plain.iter().zip([0.75, 0.5, 0.25]).zip(rescaled) {
            assert!((found - (x - b) / (1.0 - b)).abs() < 1e-6, "{found} {x} {b}");
        }
    }

    #[test]
    fn references_are_documents_as_often_as_they_are_compared() {
        let model = Arc::new(models(&["roberta"]).remove(0));
        let metric = BertScore {
            label: OutsideLabel::new("", parts(false)),
            layer: 2,
            has_idf: true,
            prefix_space: true,
            baseline: None,
            model: Arc::clone(&model),
            scored: Mutex::default(),
        };
        let row = |references: &[&'static str]| OutsideRow {
            system: None,
            image: None,
            candidate: "a cat",
            rival: None,
            references: references.to_vec(),
            picture: None,
        };
        let weights = metric.weigh(&[row(&["dogs", "dogs"]), row(&["dogs", "horses"])]);
        let of = |word: &str| weights.of(model.token_ids(word, true)[1]);
        assert!((of("dogs") - (5.0_f64 / 4.0).ln()).abs() < 1e-12, "three of four");
        assert!((weights.of(u32::MAX) - 5.0_f64.ln()).abs() < 1e-12, "none");
        assert_eq!(model.special_tokens().map(|id| weights.of(id)), [0.0; 2], "all of them");
    }

    #[test]
    fn roberta_reads_the_first_word_with_a_space_before_it() {
        let model = models(&["roberta"]).remove(0);
        let spaced = model.token_ids("dogs", true);
        let inside = model.token_ids("two dogs", true);
        assert!(inside.ends_with(&spaced[1..]), "{spaced:?} as within {inside:?}");
        assert_ne!(spaced, model.token_ids("dogs", false));
        let [with, without] = ["yes", "no"]
            .map(|space| scored(&format!("bert-score:layer=2:prefix-space={space}"), &REFERENCES));
        assert_ne!(with, without);
    }

    #[test]
    fn a_greatest_cosine_below_0_stays() {
        let candidate = text(&[7, 8, 9], &[[1.0, 0.0]; 3], &[1.0; 3]);
        let reference = text(&[4, 5, 6], &[[-1.0, 0.0]; 3], &[1.0; 3]);
        assert_eq!(compare(&candidate, &reference).scores, Scores { p: -1.0, r: -1.0, f: -1.0 });
    }

    #[test]
    fn a_text_without_tokens_scores_0() {
        let empty = text(&[0, 2], &[[1.0, 0.0], [1.0, 0.0]], &[0.0, 0.0]);
        let other = text(&[0, 8, 2], &[[0.0, 2.0], [1.0, 0.0], [1.0, 0.0]], &[0.0, 1.0, 0.0]);
        let zero = Scores { p: 0.0, r: 0.0, f: 0.0 };
        assert_eq!(
            [(&empty, &other), (&other, &empty), (&empty, &empty)].map(|(a, b)| compare(a, b).scores),
            [zero; 3]
        );
    }

    #[test]
    fn weights_are_those_of_the_own_side() {
        let candidate = text(&[7, 8, 9], &[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], &[3.0, 1.0, 0.0]);
        let reference = text(&[7, 7, 7], &[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], &[1.0, 1.0, 1.0]);
        let Scores { p, r, .. } = compare(&candidate, &reference).scores;
        assert!((p - 0.75).abs() < 1e-12 && (r - 1.0).abs() < 1e-12);
    }
}
