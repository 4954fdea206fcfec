//! The similarity of a system's captions to each other: the mean cosine of the vectors of all pairs.
//!
//! A caption's score is its mean cosine with the other captions of the system, and the mean over all captions is the
//! mean
//! over all pairs. Lower means more diverse. A single caption scores 0. There is no reference program; the measure
//! stands for any set of vectors, so its signature names the model.

use std::sync::Arc;

use capeval::metric::{Part, Signature};
use capeval::{Answers, Outside, OutsideLabel, OutsideRow};
use capeval_choice::{Notice, Refusal};
use capeval_neural::ModelPurpose;

use super::sentence;
use crate::embeddings::role::Purpose;
use crate::embeddings::space::{Space, Wants, norm};
use crate::kind::OutsideKind;

/// The entry of the likeness within a system.
pub(crate) const KIND: OutsideKind = OutsideKind {
    name: "self-sim",
    summary: "similarity of a system's captions to each other; lower is more diverse",
    paper: "none",
    program: "none",
    seconds: 6.0,
    parts: || vec![part()],
    build: |spec, settings, sources| {
        let wants = Wants { pictures: false, references: false };
        let space = Space::choose(sources, settings, Purpose::Texts, wants)?;
        Ok(Arc::new(SelfSim { label: OutsideLabel::new(spec, vec![part()]), space }))
    },
    needs: "a model of CLIP or of sentences, or vectors of texts",
    models: &[ModelPurpose::PicturesAndTexts, ModelPurpose::Sentences],
    ..sentence::KIND
};

fn part() -> Part {
    Part::score("self-sim", "Self-similarity", -1.0..=1.0).lower()
}

struct SelfSim {
    label: OutsideLabel,
    space: Space,
}

impl Outside for SelfSim {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        self.space.sign(Signature::new(KIND.name))
    }

    fn needs_references(&self) -> bool {
        false
    }

    fn takes_all_together(&self) -> bool {
        true
    }

    fn distinguishes_systems(&self) -> bool {
        self.space.distinguishes_systems()
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        let gathered = self.space.gather(rows, answers)?;
        let units: Vec<Vec<f64>> = (0..rows.len())
            .map(|row| {
                let vector = gathered.row(row).candidate;
                let norm = norm(vector);
                vector.iter().map(|x| if norm == 0.0 { 0.0 } else { f64::from(*x) / norm }).collect()
            })
            .collect();
        let mut sum = vec![0.0; units.first().map_or(0, Vec::len)];
        for unit in &units {
            sum.iter_mut().zip(unit).for_each(|(sum, x)| *sum += x);
        }
        let others = rows.len().saturating_sub(1);
        for (row, unit) in units.iter().enumerate() {
            // The cosine of a caption with itself is in the sum.
            let all: f64 = unit.iter().zip(&sum).map(|(x, sum)| x * sum).sum();
            let own: f64 = unit.iter().map(|x| x * x).sum();
            answers.take(row, &[if others == 0 { 0.0 } else { (all - own) / others as f64 }]);
        }
        Ok(())
    }

    fn notices(&self) -> Vec<Notice> {
        self.space.notices()
    }
}

#[cfg(test)]
mod tests {
    use crate::embeddings::testing::{Row, scores_of};

    #[test]
    fn the_mean_over_captions_is_the_mean_over_pairs() {
        let captions: [[f32; 2]; 3] = [[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]];
        let row = |caption: &[f32; 2]| Row { candidate: caption.to_vec(), ..Row::default() };
        let rows: Vec<Row> = captions.iter().map(row).collect();
        assert_eq!(scores_of("self-sim", &rows), [[0.5], [0.5], [0.0]]);
        assert_eq!(scores_of("self-sim", &rows[..1]), [[0.0]], "a single caption");
    }
}
