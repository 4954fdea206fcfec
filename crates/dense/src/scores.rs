//! The scores that a form computes: measures over all videos, at each threshold, and of each video.

use capeval_stats::ExactSum;

use crate::{Form, Stop};

/// The measures that tables show, in their order.
pub(crate) const SHOWN: &str = "\
    soda-c meteor cider-d rouge-l bleu-4 f1 precision recall re1 re2 re3 re4 map map-detection \
    cider-d@0.25 bleu-4@0.25 meteor@0.25 rouge-l@0.25 cider-d@0.5 bleu-4@0.5 meteor@0.5 rouge-l@0.5 \
    cider-d-f1@0.25 bleu-4-f1@0.25 meteor-f1@0.25 rouge-l-f1@0.25 cider-d-f1@0.5 bleu-4-f1@0.5 \
    meteor-f1@0.5 rouge-l-f1@0.5";

/// The scores of a form.
#[derive(Clone, Debug)]
pub struct FormScores {
    /// The form.
    pub form: Form,
    /// The videos that count, in order.
    pub videos: Vec<String>,
    /// The measures, the most important one first.
    pub measures: Vec<Measure>,
    /// The places where the program stops; measures that it does not reach are missing.
    pub stops: Vec<Stop>,
}

/// A measure, such as `meteor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The name.
    pub name: String,
    /// The value that counts; NaN where the program takes the mean of nothing.
    pub value: f64,
    /// The values at each threshold or distance, by its name.
    pub at: Vec<(String, f64)>,
    /// For each video that counts, a value for each of `at`, or one if there are none; empty if the form has no values
    /// of videos.
    pub videos: Vec<Vec<f64>>,
}

impl Measure {
    /// The mean over videos at each threshold, and the mean of these.
    pub(crate) fn over_videos(name: &str, labels: &[String], videos: Vec<Vec<f64>>) -> Self {
        let column = |k: usize| mean(videos.iter().map(|values| values[k]));
        let at: Vec<(String, f64)> =
            labels.iter().enumerate().map(|(k, label)| (label.clone(), column(k))).collect();
        let value = if at.is_empty() { column(0) } else { mean(at.iter().map(|(_, value)| *value)) };
        Self { name: name.to_owned(), value, at, videos }
    }

    /// The mean of each video over thresholds.
    pub fn of_videos(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.videos.iter().map(|values| mean(values.iter().copied()))
    }
}

impl FormScores {
    /// The measure of this name.
    pub fn measure(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.name == name)
    }
}

/// A value that is a mean differs from the mean of its parts by no more than rounding.
pub(crate) const ROUNDING: f64 = 1e-9;

/// The mean, NaN of nothing as numpy has it.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let mut sum = ExactSum::default();
    let mut n = 0.0;
    for value in values {
        sum.add(value);
        n += 1.0;
    }
    sum.value() / n
}
