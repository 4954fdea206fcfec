//! Given scores of judged captions, for correlations and preferences.

use capeval_corpus::SegmentId;
use capeval_corpus::scores::{ScoredSegment, SegmentScores};
use capeval_metric::{AnyMetric, Part};

use super::{GivenMetric, GivenScores, parts};
use crate::Error;
use crate::findings::Findings;
use crate::reference_hash::score_hash;

/// Given scores, in files with different measures.
pub(crate) struct GivenRows {
    /// Files with the same measures are one.
    pub files: Vec<SegmentScores>,
    /// The measures, file after file.
    parts: Vec<Part>,
}

impl GivenRows {
    pub fn new(
        files: Vec<GivenScores>,
        lower_is_better: &[String],
        metrics: &[AnyMetric],
        found: &mut Findings,
    ) -> Result<Self, Error> {
        let known = parts(&files, lower_is_better, metrics, found)?;
        let mut joined: Vec<SegmentScores> = Vec::new();
        for GivenScores { scores, .. } in files {
            match joined.iter_mut().find(|other| other.keys == scores.keys) {
                Some(other) => {
                    other.source = format!("{}, {}", other.source, scores.source);
                    other.rows.extend(scores.rows);
                }
                None => joined.push(scores),
            }
        }
        let keys = || joined.iter().flat_map(|file| &file.keys);
        for (k, key) in keys().enumerate() {
            if keys().take(k).any(|other| other == key) {
                let sources: Vec<&str> =
                    joined.iter().filter(|file| file.keys.contains(key)).map(|file| &*file.source).collect();
                return Err(Error::with_remedy(
                    format!("{key} is given twice, in {}", sources.join(" and ")),
                    "leave one of them out, or rename it",
                ));
            }
        }
        let of_key = |key: &String| known.iter().find(|part| part.key == *key).cloned();
        let parts = keys().filter_map(of_key).collect();
        Ok(Self { files: joined, parts })
    }

    /// The measures as metrics, with scores by measure, system and row; and the hash of each in its file.
    pub fn metrics(&self, values: Vec<Vec<Vec<f64>>>) -> Vec<AnyMetric> {
        self.parts
            .iter()
            .cloned()
            .zip(values)
            .map(|(part, values)| GivenMetric::metric(part, values))
            .collect()
    }

    /// The measures.
    pub fn n_measures(&self) -> usize {
        self.parts.len()
    }

    /// The hash of the scores by each measure, for signatures: of their ids, systems, captions and values, whatever
    /// their order.
    pub fn hashes(&self) -> Vec<(String, String)> {
        let of_file = |file: &SegmentScores| {
            let rows: Vec<(String, &ScoredSegment)> = file
                .rows
                .iter()
                .map(|row| {
                    let told = [&row.system, &row.caption].map(|told| told.as_deref().unwrap_or_default());
                    (told.join("\u{1f}"), row)
                })
                .collect();
            let of_key = |(column, key): (usize, &String)| {
                let value = |row: &ScoredSegment| row.scores.get(column).copied().unwrap_or(f64::NAN);
                (key.clone(), score_hash(rows.iter().map(|(told, row)| (&row.image, &**told, value(row)))))
            };
            file.keys.iter().enumerate().map(of_key).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(of_file).collect()
    }
}

/// Returns true if two rows have the same scores; NaN is NaN.
pub(crate) fn same_scores(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
}

/// The error of a judged caption whose scores lack a number.
pub(crate) fn absent(file: &SegmentScores, image: &SegmentId, scores: &[f64]) -> Option<Error> {
    let (_, key) = scores.iter().zip(&file.keys).find(|(score, _)| score.is_nan())?;
    let message = format!("{}: the score by {key} of image {} is missing", file.source, image.quoted());
    Some(Error::with_remedy(message, "score the captions that were judged"))
}
