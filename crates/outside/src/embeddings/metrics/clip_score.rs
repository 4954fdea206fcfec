//! CLIPScore and RefCLIPScore, and PAC-S and RefPAC-S, which are the same metrics with other model weights.
//!
//! Rewards captions whose vector is near that of the picture, and near that of a reference. With `cos` the cosine,
//! `v` the vector of the picture, `c` that of the candidate and `r` those of the references,
//! `CLIPScore = w · max(cos(c, v), 0)` with w = 2.5, `text = max cos(c, r)`, and
//! `RefCLIPScore = 2 · CLIPScore · text / (CLIPScore + text)`. PAC-S has w = 2. The corpus score is the mean of the
//! segment scores.
//!
//! Papers: Hessel et al., *CLIPScore: A Reference-free Evaluation Metric for Image Captioning* (2021); Sarto et al.,
//! *Positive-Augmented Contrastive Learning for Image and Video Captioning Evaluation* (2023). Reference programs:
//! `clipscore.py` of jmhessel/clipscore and `pac_score.py` of aimagelab/pacscore, in float32.
//!
//! Quirks kept on purpose:
//! - `A photo depicts ` stands before every text, references included;
//! - the harmonic mean takes CLIPScore with its weight and `text` without one;
//! - `text` is not clipped at 0, as it is in the paper (`variant=paper`), so RefCLIPScore may be negative, or large
//!   where the sum nearly vanishes;
//! - CLIPScore may exceed 1;
//! - texts of more than 77 tokens are cut.
//!
//! Decided otherwise: where CLIPScore and `text` are both 0, the program divides 0 by 0, and its corpus score is NaN;
//! here the segment scores 0, with a notice. Vectors are compared in double precision, whatever they are stored in;
//! the program compares halves in halves, so its scores from a GPU have three digits.
//!
//! `variant=torchmetrics` is CLIPScore of torchmetrics: factor 100, no prefix, and nothing is clipped but the corpus
//! score, which here may be negative instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use capeval::metric::{Explanation, Family, Part, Rule, Setting, Settings, Signature, Step};
use capeval::{Answers, Outside, OutsideLabel, OutsideRow, Sight};
use capeval_choice::{Argument, Code, Notice, Refusal};
use capeval_files::Error;
use capeval_neural::ModelPurpose;
use rayon::prelude::*;

use super::{explanation, reference};
use crate::embeddings::role::{Crop, Purpose};
use crate::embeddings::space::{Alone, ROWS_AT_ONCE, Space, Wants, cosine};
use crate::kind::OutsideKind;
use crate::sources::OpenSources;

/// The prefix of each text.
const PREFIX: &str = "A photo depicts ";

const VARIANT: Setting = Setting::choice("variant", "code", "whose formula", Variant::NAMES);

const CLIP_PAPER: &str =
    "Hessel et al. 2021, CLIPScore: A Reference-free Evaluation Metric for Image Captioning";
const PAC_PAPER: &str = "Sarto et al. 2023, Positive-Augmented Contrastive Learning for Image and Video Captioning \
                         Evaluation";
/// The needs of metrics that compare pictures with texts.
pub(super) const NEEDS: &str = "a model of CLIP, or vectors of pictures and texts";
const CLIP_SETTINGS: &[Setting] = &[VARIANT, CROP, MODEL];
const OTHER_SETTINGS: &[Setting] =
    &[Setting::choice("variant", "code", "whose formula", &["code", "paper"]), CROP, MODEL];

/// How pictures are cut for a model.
pub(crate) const CROP: Setting = Setting::choice(
    "crop",
    "openai",
    "how pictures are cut, as OpenAI's CLIP does or as Hugging Face's processor",
    Crop::NAMES,
);

/// Which of several models a metric uses.
pub(crate) const MODEL: Setting =
    Setting::text("model", "any", "name or folder of the model, if several suit", "the name of a model");

/// The entry of CLIPScore.
pub(crate) const CLIP_S: OutsideKind = OutsideKind {
    name: "clip-s",
    summary: "similarity of the caption and the picture, CLIPScore",
    paper: CLIP_PAPER,
    program: "jmhessel/clipscore",
    family: Family::Vectors,
    needs: NEEDS,
    given: &[Argument::Model],
    instead: &[Argument::Vectors],
    models: &[ModelPurpose::PicturesAndTexts],
    settings: CLIP_SETTINGS,
    seconds: 6.0,
    parts: || vec![part(Name::ClipS, Variant::Code)],
    build: |spec, settings, sources| build(Name::ClipS, spec, settings, sources),
};

/// The entry of RefCLIPScore.
pub(crate) const REF_CLIP_S: OutsideKind = OutsideKind {
    name: "ref-clip-s",
    summary: "similarity of the caption to the picture and the nearest reference, RefCLIPScore",
    settings: OTHER_SETTINGS,
    seconds: 35.0,
    parts: || vec![part(Name::RefClipS, Variant::Code)],
    build: |spec, settings, sources| build(Name::RefClipS, spec, settings, sources),
    ..CLIP_S
};

/// The entry of PAC-S.
pub(crate) const PAC_S: OutsideKind = OutsideKind {
    name: "pac-s",
    summary: "CLIPScore with a model tuned on captions, PAC-S",
    paper: PAC_PAPER,
    program: "aimagelab/pacscore",
    settings: &[CROP, MODEL],
    seconds: 6.0,
    parts: || vec![part(Name::PacS, Variant::Code)],
    build: |spec, settings, sources| build(Name::PacS, spec, settings, sources),
    ..CLIP_S
};

/// The entry of RefPAC-S.
pub(crate) const REF_PAC_S: OutsideKind = OutsideKind {
    name: "ref-pac-s",
    summary: "RefCLIPScore with a model tuned on captions, RefPAC-S",
    settings: OTHER_SETTINGS,
    seconds: 35.0,
    parts: || vec![part(Name::RefPacS, Variant::Code)],
    build: |spec, settings, sources| build(Name::RefPacS, spec, settings, sources),
    ..PAC_S
};

/// Which of the four it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    ClipS,
    RefClipS,
    PacS,
    RefPacS,
}

capeval_choice::named! {
    /// Whose formula is computed.
    enum Variant ("variant") {
        Code = "code", "the authors' code";
        Paper = "paper", "the paper, which clips the similarity to references at 0";
        Torchmetrics = "torchmetrics", "torchmetrics, which has no prefix and a factor of 100";
    }
}

impl Name {
    fn key(self) -> &'static str {
        match self {
            Self::ClipS => "clip-s",
            Self::RefClipS => "ref-clip-s",
            Self::PacS => "pac-s",
            Self::RefPacS => "ref-pac-s",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::ClipS => "CLIPScore",
            Self::RefClipS => "RefCLIPScore",
            Self::PacS => "PAC-S",
            Self::RefPacS => "RefPAC-S",
        }
    }

    fn weight(self) -> f64 {
        match self {
            Self::ClipS | Self::RefClipS => 2.5,
            Self::PacS | Self::RefPacS => 2.0,
        }
    }

    fn has_references(self) -> bool {
        matches!(self, Self::RefClipS | Self::RefPacS)
    }
}

fn part(name: Name, variant: Variant) -> Part {
    let (label, weight) = (name.label(), name.weight());
    match (variant, name.has_references()) {
        (Variant::Torchmetrics, _) => Part::score(name.key(), "CLIPScore (torchmetrics)", -100.0..=100.0),
        (_, false) => Part::score(name.key(), label, 0.0..=weight),
        // The harmonic mean of the greatest values of both sides, rounded up.
        (_, true) => Part::score(name.key(), label, 0.0..=(200.0 * weight / (weight + 1.0)).ceil() / 100.0),
    }
}

/// One of the four metrics, with the vectors that it compares.
struct ClipScore {
    label: OutsideLabel,
    name: Name,
    variant: Variant,
    space: Space,
    /// The number of captions without any similarity, whose harmonic mean is 0 divided by 0.
    n_undefined: AtomicUsize,
}

fn build(
    name: Name,
    spec: &str,
    settings: &Settings<'_>,
    sources: &OpenSources,
) -> Result<Arc<dyn Outside>, Error> {
    let variant = settings.get("variant").unwrap_or(Variant::Code);
    let wants = Wants { pictures: true, references: name.has_references() };
    let prefix = if variant == Variant::Torchmetrics { "" } else { PREFIX };
    let purpose = Purpose::Pictures { prefix, crop: settings.get(CROP.name)? };
    let space = Space::choose(sources, settings, purpose, wants)?;
    Ok(Arc::new(ClipScore {
        label: OutsideLabel::new(spec, vec![part(name, variant)]),
        name,
        variant,
        space,
        n_undefined: AtomicUsize::new(0),
    }))
}

impl ClipScore {
    fn factor(&self) -> f64 {
        if self.variant == Variant::Torchmetrics { 100.0 } else { self.name.weight() }
    }

    /// The similarity to the picture.
    fn of_picture(&self, cosine: f64) -> f64 {
        let cosine = if self.variant == Variant::Torchmetrics { cosine } else { cosine.max(0.0) };
        self.factor() * cosine
    }

    /// The similarity to the nearest reference, and which it is; 0 without references.
    fn of_references(&self, cosines: &[f64]) -> (f64, Option<usize>) {
        let nearest =
            (0..cosines.len()).reduce(|best, nth| if cosines[nth] > cosines[best] { nth } else { best });
        let text = nearest.map_or(0.0, |nth| cosines[nth]);
        (if self.variant == Variant::Paper { text.max(0.0) } else { text }, nearest)
    }

    fn score_of(&self, picture: f64, references: &[f64]) -> f64 {
        let clip = self.of_picture(picture);
        if !self.name.has_references() {
            return clip;
        }
        let (text, _) = self.of_references(references);
        if clip + text == 0.0 {
            self.n_undefined.fetch_add(1, Ordering::Relaxed);
        }
        harmonic(clip, text)
    }
}

/// The harmonic mean; 0 if the sum is 0.
fn harmonic(a: f64, b: f64) -> f64 {
    if a + b == 0.0 { 0.0 } else { 2.0 * a * b / (a + b) }
}

const HARMONIC: Rule = Rule::new("2ab / (a + b)", |parts| match parts {
    [a, b] => harmonic(*a, *b),
    _ => 0.0,
});

impl Outside for ClipScore {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        let signature = Signature::new(self.name.key()).with("variant", self.variant);
        self.space.sign(match self.variant {
            Variant::Torchmetrics => signature,
            Variant::Code | Variant::Paper => signature.with("w", self.factor()),
        })
    }

    fn needs_references(&self) -> bool {
        self.name.has_references()
    }

    fn distinguishes_systems(&self) -> bool {
        self.space.distinguishes_systems()
    }

    fn sight(&self) -> Sight {
        self.space.sight()
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        for (block, rows) in rows.chunks(ROWS_AT_ONCE).enumerate() {
            let gathered = self.space.gather(rows, answers)?;
            let scores: Vec<f64> = (0..rows.len())
                .into_par_iter()
                .map(|row| {
                    let row = gathered.row(row);
                    let references = row.references.iter().map(|vector| cosine(row.candidate, vector));
                    self.score_of(cosine(row.candidate, row.picture), &references.collect::<Vec<f64>>())
                })
                .collect();
            for (row, score) in scores.into_iter().enumerate() {
                answers.take(block * ROWS_AT_ONCE + row, &[score]);
            }
        }
        Ok(())
    }

    fn notices(&self) -> Vec<Notice> {
        let n = self.n_undefined.load(Ordering::Relaxed);
        let message = format!(
            "{n} captions are like neither the picture nor a reference: {} divides 0 by 0, and they score 0",
            self.name.label()
        );
        let undefined = (n > 0).then(|| Notice::new(Code::NoLikeness, message).count(n));
        undefined.into_iter().chain(self.space.notices()).collect()
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let rows = std::slice::from_ref(row);
        let gathered = self.space.gather(rows, &Alone).ok()?;
        let vectors = gathered.row(0);
        let cosine_of_picture = cosine(vectors.candidate, vectors.picture);
        let clip = Step::of(
            if self.name.has_references() { "similarity to the picture" } else { self.name.label() },
            self.of_picture(cosine_of_picture),
            Rule::PRODUCT,
            vec![
                Step::given("factor", self.factor()),
                match self.variant {
                    Variant::Torchmetrics => Step::given("cosine with the picture", cosine_of_picture),
                    Variant::Code | Variant::Paper => Step::of(
                        "cosine with the picture, at least 0",
                        cosine_of_picture.max(0.0),
                        Rule::GREATEST,
                        vec![Step::given("least", 0.0), Step::given("cosine", cosine_of_picture)],
                    ),
                },
            ],
        );
        if !self.name.has_references() {
            return Some(explanation(row, vec![clip]));
        }
        let cosines: Vec<f64> =
            vectors.references.iter().map(|vector| cosine(vectors.candidate, vector)).collect();
        let (text, nearest) = self.of_references(&cosines);
        let mut parts: Vec<Step> =
            cosines.iter().enumerate().map(|(nth, cosine)| Step::given(reference(nth), *cosine)).collect();
        if self.variant == Variant::Paper {
            parts.push(Step::given("least", 0.0));
        }
        let text = Step::of("similarity to the nearest reference", text, Rule::GREATEST, parts);
        let text = match nearest {
            Some(nth) => text.noted(format!("{} is the nearest", reference(nth))),
            None => text,
        };
        let value = harmonic(clip.value.unwrap_or_default(), text.value.unwrap_or_default());
        Some(explanation(row, vec![Step::of(self.name.label(), value, HARMONIC, vec![clip, text])]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::embeddings::role::Role;
    use crate::embeddings::testing::{models, rows_of, scores_by, scores_of};
    use crate::embeddings::vectors::Vectors;

    /// Vectors of a picture, a candidate and references with these cosines in the plane.
    fn scored(spec: &str, picture: f64, references: &[f64]) -> f64 {
        let turned = |cosine: f64| vec![cosine as f32, (1.0 - cosine * cosine).sqrt() as f32];
        let references: Vec<Vec<f32>> = references.iter().map(|cosine| turned(*cosine)).collect();
        scores_of(spec, &rows_of(&turned(picture), &[1.0, 0.0], &references))[0][0]
    }

    fn assert_close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
    }

    #[test]
    fn clip_score_is_clipped_and_may_exceed_1() {
        assert_close(scored("clip-s", 0.3, &[]), 0.75);
        assert_close(scored("clip-s", 0.45, &[]), 1.125);
        assert_close(scored("clip-s", -0.2, &[]), 0.0);
        assert_close(scored("pac-s", 0.3, &[]), 0.6);
    }

    #[test]
    fn a_prefix_stands_before_every_text_references_included() {
        let rows: &[(&str, &[&str])] = &[("it's red", &["a man", "birds fly over the lake"])];
        let texts: Vec<String> = ["it's red", "a man", "birds fly over the lake"].map(str::to_owned).to_vec();
        let read = |prefix: &str| {
            let said = models(&["clip-quick"]).remove(0).read(&texts, prefix, &|_| {}, &|_| {}).unwrap();
            Arc::new(Vectors::from_rows("texts", said.ids, said.dims, said.rows).unwrap())
        };
        let picture = (1..=24).map(|k| if k % 3 == 0 { 1.0 } else { -0.5 }).collect();
        let picture = Arc::new(Vectors::from_rows("pictures", vec![0.into()], 24, picture).unwrap());
        let given = |texts: Arc<Vectors>| vec![(Role::Pictures, Arc::clone(&picture)), (Role::Texts, texts)];
        for spec in ["clip-s", "ref-clip-s", "pac-s", "ref-pac-s"] {
            let pictures = vec![(Role::Pictures, Arc::clone(&picture))];
            let by_model = scores_by(spec, &["clip-quick"], pictures, rows);
            assert_eq!(by_model, scores_by(spec, &[], given(read("A photo depicts ")), rows), "{spec}");
            if spec.starts_with("ref") {
                assert_ne!(by_model, scores_by(spec, &[], given(read("")), rows), "{spec}");
            }
        }
    }

    #[test]
    fn the_harmonic_mean_has_a_weight_on_one_side_only() {
        assert_close(scored("ref-clip-s", 0.3, &[0.5, 0.8]), 2.0 * 0.75 * 0.8 / 1.55);
        assert_close(scored("ref-pac-s", 0.3, &[0.5, 0.8]), 2.0 * 0.6 * 0.8 / 1.4);
    }

    #[test]
    fn the_similarity_to_references_is_not_clipped_but_in_the_paper() {
        assert_close(scored("ref-clip-s", 0.3, &[-0.5]), 2.0 * 0.75 * -0.5 / 0.25);
        assert_close(scored("ref-clip-s:variant=paper", 0.3, &[-0.5]), 0.0);
    }

    #[test]
    fn nothing_alike_scores_0_where_the_program_says_nan() {
        assert_close(scored("ref-clip-s", -0.3, &[0.0]), 0.0);
    }

    #[test]
    fn torchmetrics_clips_no_caption() {
        assert_close(scored("clip-s:variant=torchmetrics", -0.2, &[]), -20.0);
    }
}
