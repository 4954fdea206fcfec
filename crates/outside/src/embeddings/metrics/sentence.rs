//! Similarity of sentence vectors: `sbert_sim` of aac-metrics and FENSE.
//!
//! Rewards captions whose vector, by a model of sentences, is near those of the references: the mean of the cosines
//! with
//! all references. The corpus score is the mean of the segment scores.
//!
//! Paper: Zhou et al., *Can Audio Captions Be Evaluated with Image Caption Metrics?* (2022), which takes the model
//! paraphrase-TinyBERT-L6-v2. Reference program: aac-metrics 0.6, `sbert_sim`.
//!
//! Quirks kept on purpose:
//! - it is the mean over the references, and not the best of them;
//! - special tokens take part in the mean over the tokens of a sentence.
//!
//! Decided otherwise: a segment without references scores 0 instead of NaN.

use std::sync::Arc;

use capeval::metric::{Explanation, Part, Rule, Setting, Settings, Signature, Step};
use capeval::{Answers, Outside, OutsideLabel, OutsideRow};
use capeval_choice::{Notice, Refusal};
use capeval_neural::ModelPurpose;
use rayon::prelude::*;

use super::clip_score::{CLIP_S, MODEL};
use super::{explanation, reference};
use crate::embeddings::role::Purpose;
use crate::embeddings::space::{Alone, ROWS_AT_ONCE, Space, Wants, cosine};
use crate::kind::OutsideKind;
use crate::sources::OpenSources;

/// The settings of metrics that compare the vectors of sentences.
pub(super) const SETTINGS: &[Setting] = &[MODEL];

/// The needs of metrics that compare sentence vectors.
pub(super) const NEEDS: &str = "a model of sentences, or vectors of texts";

/// The entry of the similarity of sentences.
pub(crate) const KIND: OutsideKind = OutsideKind {
    name: "sbert-sim",
    summary: "similarity of the caption and the references, by sentence vectors",
    paper: "Zhou et al. 2022, Can Audio Captions Be Evaluated with Image Caption Metrics?",
    program: "aac-metrics 0.6",
    needs: NEEDS,
    models: &[ModelPurpose::Sentences],
    settings: SETTINGS,
    seconds: 35.0,
    parts: || vec![part()],
    build: |spec, settings, sources| {
        let similarity = Similarity::choose(settings, sources)?;
        Ok(Arc::new(SbertSim { label: OutsideLabel::new(spec, vec![part()]), similarity }))
    },
    ..CLIP_S
};

fn part() -> Part {
    Part::score("sbert-sim", "SBERT similarity", -1.0..=1.0)
}

/// Mean cosines with references.
pub(super) struct Similarity(Space);

struct SbertSim {
    label: OutsideLabel,
    similarity: Similarity,
}

impl Similarity {
    /// With the vectors that the user gave, or those of a model of sentences.
    pub fn choose(settings: &Settings<'_>, sources: &OpenSources) -> Result<Self, Refusal> {
        let wants = Wants { pictures: false, references: true };
        Space::choose(sources, settings, Purpose::Sentences, wants).map(Self)
    }

    pub fn space(&self) -> &Space {
        &self.0
    }

    /// Hands out the mean cosine of each row.
    pub fn score(
        &self,
        rows: &[OutsideRow<'_>],
        answers: &dyn Answers,
        mut take: impl FnMut(usize, f64),
    ) -> Result<(), Refusal> {
        for (block, rows) in rows.chunks(ROWS_AT_ONCE).enumerate() {
            let gathered = self.0.gather(rows, answers)?;
            let scores: Vec<f64> = (0..rows.len())
                .into_par_iter()
                .map(|row| {
                    let row = gathered.row(row);
                    mean(row.references.iter().map(|vector| cosine(row.candidate, vector)))
                })
                .collect();
            scores.into_iter().enumerate().for_each(|(row, score)| take(block * ROWS_AT_ONCE + row, score));
        }
        Ok(())
    }

    /// How the mean cosine of a row came about.
    pub fn explain(&self, title: &str, row: &OutsideRow<'_>) -> Option<Step> {
        let gathered = self.0.gather(std::slice::from_ref(row), &Alone).ok()?;
        let vectors = gathered.row(0);
        let cosines: Vec<f64> =
            vectors.references.iter().map(|vector| cosine(vectors.candidate, vector)).collect();
        let parts =
            cosines.iter().enumerate().map(|(nth, cosine)| Step::given(reference(nth), *cosine)).collect();
        Some(Step::of(title, mean(cosines.iter().copied()), Rule::MEAN, parts))
    }
}

/// The mean; 0 of nothing.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    match values.len() {
        0 => 0.0,
        n => values.sum::<f64>() / n as f64,
    }
}

impl Outside for SbertSim {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        self.similarity.0.sign(Signature::new("sbert-sim").with("references", "mean"))
    }

    fn needs_references(&self) -> bool {
        true
    }

    fn distinguishes_systems(&self) -> bool {
        self.similarity.0.distinguishes_systems()
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        self.similarity.score(rows, answers, |row, score| answers.take(row, &[score]))
    }

    fn notices(&self) -> Vec<Notice> {
        self.similarity.0.notices()
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let step = self.similarity.explain("SBERT similarity", row)?;
        Some(explanation(row, vec![step]))
    }
}

#[cfg(test)]
mod tests {
    use crate::embeddings::testing::{rows_of, scores_of};

    #[test]
    fn the_mean_over_references_counts_and_not_the_best() {
        let rows = rows_of(&[], &[1.0, 0.0], &[vec![1.0, 0.0], vec![0.0, 2.0], vec![-3.0, 0.0]]);
        assert_eq!(scores_of("sbert-sim", &rows), [[0.0]]);
        let rows = rows_of(&[], &[2.0, 0.0], &[vec![0.5, 0.0], vec![0.0, 2.0]]);
        assert_eq!(scores_of("sbert-sim", &rows), [[0.5]]);
    }
}
