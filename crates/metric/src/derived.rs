//! Numbers made of the scores of metrics by a formula.
//!
//! A row has the statistics of all these metrics side by side, so that a derived number is resampled and tested like
//! any other.

use std::sync::Arc;

use capeval_choice::Formula;
use capeval_stats::Table;

use crate::any::{ErasedFittedMetric, ErasedMetric};
use crate::{About, AnyMetric, Excess, Part, References, Signature};

/// A number made of the scores of metrics.
pub(crate) struct DerivedMetric {
    members: Vec<AnyMetric>,
    formula: Formula,
    /// The name that the formula has for each score, member by member.
    names: Vec<Vec<String>>,
}

impl DerivedMetric {
    /// The number that `formula` makes of the scores of `members`, of which there is at least one. `names` are those of
    /// the scores of each member.
    pub(crate) fn new(members: Vec<AnyMetric>, names: Vec<Vec<String>>, formula: Formula) -> Self {
        Self { members, formula, names }
    }

    pub(crate) fn about(&self, part: Part, signature: Signature) -> Option<About> {
        let first = self.members.first()?;
        let abouts = || self.members.iter().map(AnyMetric::about);
        let columns = abouts().flat_map(|about| about.columns.iter().cloned()).collect();
        let is_mean = self.formula.is_linear() && abouts().all(|about| about.is_mean);
        let learns = abouts().map(|about| about.learns).max_by_key(|learns| *learns as u8)?;
        let about = About::new(signature, first.input(), columns, vec![part]).learns(learns).mean(is_mean);
        let about = about.reading_texts(abouts().any(|about| about.reads_texts));
        Some(about.adding_up(abouts().all(|about| about.adds_up)))
    }

    /// The value, if `score` writes the scores of each member.
    fn value(&self, mut score: impl FnMut(usize, &mut [f64])) -> f64 {
        let scores = self.members.iter().enumerate().map(|(k, member)| {
            let mut values = vec![0.0; member.parts().len()];
            score(k, &mut values);
            values
        });
        let scores: Vec<Vec<f64>> = scores.collect();
        self.formula.value(&|_, name| {
            let mut all = self.names.iter().zip(&scores).flat_map(|(names, values)| names.iter().zip(values));
            all.find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value)
        })
    }

    /// The columns of member `k` in a row of all.
    fn columns(&self, k: usize) -> std::ops::Range<usize> {
        let width = |member: &AnyMetric| member.about().columns.len();
        let first = self.members.iter().take(k).map(width).sum();
        first..first + self.members.get(k).map_or(0, width)
    }
}

impl ErasedMetric for DerivedMetric {
    /// Rows are put together from those of the members, which are fitted by themselves.
    fn fit(self: Arc<Self>, references: &References<'_>) -> Box<dyn ErasedFittedMetric> {
        self.members[0].fit(references).into_erased()
    }

    fn remember(&self, _: &References<'_>, _: &(dyn Fn(usize) + Sync)) -> Vec<crate::Memo> {
        Vec::new()
    }

    fn figures(&self, _: &References<'_>) -> Vec<crate::Figures> {
        Vec::new()
    }

    fn excess(&self, _: &str) -> Option<Excess> {
        None
    }

    fn score(&self, row: &[f64], values: &mut [f64]) {
        values.fill(self.value(|k, scores| {
            self.members[k].score(row.get(self.columns(k)).unwrap_or(&[]), scores);
        }));
    }

    fn score_table(&self, table: &Table, values: &mut [f64]) {
        values.fill(self.value(|k, scores| {
            let columns = self.members[k].about().columns.clone();
            let rows = table.rows().flat_map(|row| row[self.columns(k)].iter().copied()).collect();
            self.members[k].score_table(&Table::new(columns, rows), scores);
        }));
    }

    fn score_segment(&self, row: &[f64], values: &mut [f64]) {
        values.fill(self.value(|k, scores| {
            self.members[k].score_segment(row.get(self.columns(k)).unwrap_or(&[]), scores);
        }));
    }
}
