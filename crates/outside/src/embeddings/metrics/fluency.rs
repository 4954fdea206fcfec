//! Metrics of fluency errors: FER, and FENSE and SPIDEr-FL, which take away most of the score of captions with an
//! error.
//!
//! A detector gives each caption the probability of an error, such as a missing verb or a repeated event. An error is
//! a probability above 0.9. `FER` is the share of captions with an error, and `FENSE = sbert_sim · (1 − 0.9 · error)`,
//! so a tenth is left of a caption with an error. `SPIDEr-FL` is the same with SPIDEr, which the engine computes.
//! Corpus scores are means of segment scores.
//!
//! The detector of the paper is `echecker_clotho_audiocaps_base.ckpt`, which
//! <https://github.com/blmoistawinde/fense/releases/tag/V0.1> has, with a smaller one, `…_tiny.ckpt`. The repository's
//! `scripts/convert_weights.py` saves it as a folder that can be given as a model.
//!
//! Paper: Zhou et al., *Can Audio Captions Be Evaluated with Image Caption Metrics?* (2022). Reference program:
//! aac-metrics 0.6, `fer`, `fense` and `spider_fl`.
//!
//! Quirks kept on purpose:
//! - the detector reads captions in lower case and without marks, so `don't` is `dont`;
//! - the probability must exceed the threshold, so 0.9 is no error.
//!
//! Decided otherwise: fense 0.2 takes all six probabilities for errors where there are at most 32 captions; here, as in
//! aac-metrics, only the last one is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use capeval::evaluate::registry;
use capeval::metric::{Explanation, Part, Rule, Setting, Settings, Signature, Step};
use capeval::{Answers, Identity, Outside, OutsideLabel, OutsideRow};
use capeval_arrays::Key;
use capeval_choice::{Notice, Refusal};
use capeval_neural::ModelPurpose;

use super::explanation;
use super::sentence::{self, Similarity};
use crate::embeddings::cache::key;
use crate::embeddings::models::OpenModel;
use crate::embeddings::role::Purpose;
use crate::embeddings::space::Alone;
use crate::kind::{OutsideKind, split};
use crate::sources::OpenSources;

/// The probability above which a caption has an error.
const THRESHOLD: Setting =
    Setting::number("threshold", "0.9", "probability above which an error counts", 0.0..=1.0);

/// The share that an error takes from a score.
const PENALTY: Setting =
    Setting::number("penalty", "0.9", "share of the score that an error takes", 0.0..=1.0);

/// Which of several detectors a metric uses.
pub(super) const DETECTOR: Setting = Setting::text(
    "detector",
    "any",
    "name or folder of the detector of errors, if several suit",
    "the name of a model",
);

/// The number of captions that a detector reads at once.
const CAPTIONS_AT_ONCE: usize = 256;

/// The entry of FENSE.
pub(crate) const FENSE: OutsideKind = OutsideKind {
    name: "fense",
    summary: "similarity of the caption and the references, sharply reduced if the caption is not fluent",
    needs: "a model of sentences, or vectors of texts, and a detector of errors",
    models: &[ModelPurpose::Sentences, ModelPurpose::Errors],
    settings: &[super::clip_score::MODEL, DETECTOR, THRESHOLD, PENALTY],
    seconds: 35.0,
    parts: || vec![fense_part()],
    build: |spec, settings, sources| {
        let detector = Detector::choose(settings, sources)?;
        let similarity = Similarity::choose(settings, sources)?;
        let penalty = settings.get(PENALTY.name)?;
        Ok(Arc::new(Fense {
            label: OutsideLabel::new(spec, vec![fense_part()]),
            similarity,
            detector,
            penalty,
        }))
    },
    ..FER
};

/// The entry of SPIDEr-FL.
pub(crate) const SPIDER_FL: OutsideKind = OutsideKind {
    name: "spider-fl",
    summary: "SPIDEr, sharply reduced if the caption is not fluent",
    needs: "a detector of errors, and SPICE's data",
    settings: &[DETECTOR, THRESHOLD, PENALTY],
    seconds: 6.0,
    parts: || vec![spider_fl_part()],
    build: |spec, settings, sources| {
        let detector = Detector::choose(settings, sources)?;
        let penalty = settings.get(PENALTY.name)?;
        let base = registry::base(spec).map(|base| split(spec, base).1).unwrap_or_default();
        let label = OutsideLabel::new(spec, vec![spider_fl_part()]);
        Ok(Arc::new(SpiderFl { label, base, detector, penalty }))
    },
    ..FER
};

/// The entry of the fluency error rate.
pub(crate) const FER: OutsideKind = OutsideKind {
    name: "fer",
    summary: "share of captions with a fluency error",
    needs: "a detector of errors",
    models: &[ModelPurpose::Errors],
    settings: &[DETECTOR, THRESHOLD],
    seconds: 6.0,
    parts: || vec![fer_part()],
    build: |spec, settings, sources| {
        let detector = Detector::choose(settings, sources)?;
        Ok(Arc::new(Fer { label: OutsideLabel::new(spec, vec![fer_part()]), detector }))
    },
    ..sentence::KIND
};

fn fense_part() -> Part {
    Part::score("fense", "FENSE", -1.0..=1.0)
}

fn fer_part() -> Part {
    Part::score("fer", "Fluency errors", 0.0..=1.0).lower()
}

fn spider_fl_part() -> Part {
    Part::score("spider-fl", "SPIDEr-FL", 0.0..=6.0)
}

/// The share of a score that a penalty leaves.
fn left(penalty: f64, error: f64) -> f64 {
    1.0 - penalty * error
}

/// This share as a step.
fn left_step(penalty: f64, error: f64) -> Step {
    Step::given("share that is left", left(penalty, error)).noted(match error > 0.0 {
        true => format!("an error takes {penalty}"),
        false => "there is no error".to_owned(),
    })
}

/// A detector with its threshold.
struct Detector {
    model: Arc<OpenModel>,
    threshold: f64,
    /// The probabilities of captions that it has read, for explanations.
    known: Mutex<HashMap<Key, f32>>,
}

impl Detector {
    fn choose(settings: &Settings<'_>, sources: &OpenSources) -> Result<Self, Refusal> {
        let model = sources.needed_model(settings.given(DETECTOR.name), Purpose::Errors)?;
        Ok(Self { model, threshold: settings.get(THRESHOLD.name)?, known: Mutex::default() })
    }

    fn sign(&self, signature: Signature) -> Signature {
        signature.with("threshold", self.threshold).with("detector", self.model.short_hash())
    }

    /// The probabilities of errors.
    fn probabilities(&self, captions: &[&str], answers: &dyn Answers) -> Result<Vec<f32>, Refusal> {
        let probabilities = self.model.errors(captions, answers)?;
        let keys = captions.iter().map(|caption| key(caption.as_bytes()));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(keys.zip(probabilities.iter().copied()));
        Ok(probabilities)
    }

    /// The probability of an error in a caption, which is not read again.
    fn probability(&self, caption: &str) -> Option<f64> {
        let known =
            self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key(caption.as_bytes())).copied();
        let read = || self.probabilities(&[caption], &Alone).ok()?.first().copied();
        known.or_else(read).map(f64::from)
    }

    /// Hands out the probability of an error in each row.
    fn score(
        &self,
        rows: &[OutsideRow<'_>],
        answers: &dyn Answers,
        mut take: impl FnMut(usize, f64),
    ) -> Result<(), Refusal> {
        for (block, rows) in rows.chunks(CAPTIONS_AT_ONCE).enumerate() {
            let captions: Vec<&str> = rows.iter().map(|row| row.candidate).collect();
            let probabilities = self.probabilities(&captions, answers)?;
            for (row, probability) in probabilities.into_iter().enumerate() {
                take(block * CAPTIONS_AT_ONCE + row, f64::from(probability));
            }
        }
        Ok(())
    }

    /// Returns true if this probability is an error, as a number.
    fn error(&self, probability: f64) -> f64 {
        // The program compares float32 with the threshold.
        f64::from(u8::from(probability as f32 > self.threshold as f32))
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<(Step, f64)> {
        let probability = self.probability(row.candidate)?;
        let error = self.error(probability);
        let told = if error > 0.0 { "above" } else { "not above" };
        let step = Step::given("error of fluency", error).fact("probability", probability);
        Some((step.noted(format!("its probability is {told} {}", self.threshold)), error))
    }
}

struct Fer {
    label: OutsideLabel,
    detector: Detector,
}

impl Outside for Fer {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        self.detector.sign(Signature::new("fer"))
    }

    fn needs_references(&self) -> bool {
        false
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity { text: self.signature().to_string(), knows_images: false })
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        self.detector.score(rows, answers, |row, probability| {
            answers.take(row, &[self.detector.error(probability)]);
        })
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let (step, _) = self.detector.explain(row)?;
        Some(explanation(row, vec![step]))
    }
}

struct Fense {
    label: OutsideLabel,
    similarity: Similarity,
    detector: Detector,
    penalty: f64,
}

impl Fense {
    fn score_of(&self, similarity: f64, error: f64) -> f64 {
        similarity * left(self.penalty, error)
    }
}

impl Outside for Fense {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        let signature = self.detector.sign(Signature::new("fense").with("penalty", self.penalty));
        self.similarity.space().sign(signature.with("references", "mean"))
    }

    fn needs_references(&self) -> bool {
        true
    }

    fn distinguishes_systems(&self) -> bool {
        self.similarity.space().distinguishes_systems()
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        let mut errors = vec![0.0; rows.len()];
        self.detector
            .score(rows, answers, |row, probability| errors[row] = self.detector.error(probability))?;
        self.similarity.score(rows, answers, |row, similarity| {
            answers.take(row, &[self.score_of(similarity, errors[row])]);
        })
    }

    fn notices(&self) -> Vec<Notice> {
        self.similarity.space().notices()
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let similarity = self.similarity.explain("SBERT similarity", row)?;
        let (found, error) = self.detector.explain(row)?;
        let value = self.score_of(similarity.value.unwrap_or_default(), error);
        let share = left_step(self.penalty, error);
        let score = Step::of("FENSE", value, Rule::PRODUCT, vec![similarity, share]);
        Some(explanation(
            row,
            vec![Step { parts: [score.parts, vec![Step::heading("error", vec![found])]].concat(), ..score }],
        ))
    }
}

/// The share that is left of SPIDEr.
struct SpiderFl {
    label: OutsideLabel,
    /// SPIDEr with its settings.
    base: String,
    detector: Detector,
    penalty: f64,
}

impl Outside for SpiderFl {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        self.detector.sign(Signature::new("spider-fl").with("penalty", self.penalty))
    }

    fn needs_references(&self) -> bool {
        false
    }

    fn multiplies(&self) -> Option<&str> {
        Some(&self.base)
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity { text: self.signature().to_string(), knows_images: false })
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        self.detector.score(rows, answers, |row, probability| {
            answers.take(row, &[left(self.penalty, self.detector.error(probability))]);
        })
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let (found, error) = self.detector.explain(row)?;
        let share = left_step(self.penalty, error);
        let parts = vec![Step::heading("error", vec![found])];
        Some(explanation(row, vec![Step { parts, ..share }]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::testing::{models, scores_by};

    #[test]
    fn the_probability_must_exceed_the_threshold() {
        let detector = Detector {
            model: Arc::new(models(&["detector"]).remove(0)),
            threshold: 0.9,
            known: Mutex::default(),
        };
        assert_eq!(detector.error(f64::from(0.9_f32)), 0.0);
        assert_eq!(detector.error(f64::from(0.9_f32.next_up())), 1.0);
        // A caption that was not scored in this run is read to be explained.
        let probability = detector.probability("two dogs").unwrap();
        assert_eq!(detector.probability("two dogs"), Some(probability));
        assert_eq!(detector.model.n_read.load(std::sync::atomic::Ordering::Relaxed), 1);
    }

    #[test]
    fn the_detector_reads_lower_case_without_marks() {
        let model = models(&["detector"]).remove(0);
        let errors = |text: &str| model.errors(&[text], &Alone).unwrap();
        assert_eq!(errors("It's a BUS, don't?"), errors("its a bus dont"));
        assert_ne!(errors("its a bus dont"), errors("it s a bus don t"));
    }

    #[test]
    fn an_error_leaves_a_tenth() {
        let rows: &[(&str, &[&str])] = &[("a man rides a brown horse", &[]), ("two dogs", &[])];
        let by = |spec: &str| scores_by(spec, &["detector"], Vec::new(), rows).concat();
        assert_eq!(by("fer:threshold=0"), [1.0, 1.0]);
        assert_eq!(by("fer:threshold=1"), [0.0, 0.0]);
        assert_eq!(by("spider-fl:threshold=1"), [1.0, 1.0], "the share of SPIDEr that is left");
        for share in by("spider-fl:threshold=0") {
            assert!((share - 0.1).abs() < 1e-15);
        }
    }
}
