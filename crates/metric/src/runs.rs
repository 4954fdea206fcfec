//! A metric of several runs of one system: its corpus score is the mean of those of the runs.
//!
//! A row has the statistics of all runs side by side, so that resamples draw images with the captions of every run.

use std::sync::Arc;

use capeval_stats::{Column, Table};

use crate::any::{ErasedFittedMetric, ErasedMetric};
use crate::{About, AnyMetric, Excess, Figures, Memo, References};

/// A metric whose rows hold those of several runs.
pub(crate) struct Runs {
    run: AnyMetric,
    n_runs: usize,
}

impl Runs {
    pub(crate) fn new(run: AnyMetric, n_runs: usize) -> Self {
        Self { run, n_runs }
    }

    /// The description: columns are numbered by run.
    pub(crate) fn about(&self) -> About {
        let about = self.run.about().clone();
        let of_run = |k: usize| {
            let columns = self.run.about().columns.iter();
            columns.map(move |column| Column { name: format!("{}-of-{k}", column.name), kind: column.kind })
        };
        About { columns: (1..=self.n_runs).flat_map(of_run).collect(), ..about }
    }

    /// The mean of the values that `score` writes for each run.
    fn mean(&self, values: &mut [f64], score: impl Fn(usize, &mut [f64])) {
        let mut of_run = vec![0.0; values.len()];
        values.fill(0.0);
        for run in 0..self.n_runs {
            score(run, &mut of_run);
            values.iter_mut().zip(&of_run).for_each(|(sum, value)| *sum += value);
        }
        values.iter_mut().for_each(|sum| *sum /= self.n_runs as f64);
    }

    /// The part of a row that is that of a run.
    fn part<'r>(&self, row: &'r [f64], run: usize) -> &'r [f64] {
        let width = self.run.about().columns.len();
        row.get(run * width..(run + 1) * width).unwrap_or(&[])
    }
}

impl ErasedMetric for Runs {
    fn fit(self: Arc<Self>, references: &References<'_>) -> Box<dyn ErasedFittedMetric> {
        self.run.fit(references).into_erased()
    }

    fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Vec<Memo> {
        self.run.remember(references, advance)
    }

    fn figures(&self, references: &References<'_>) -> Vec<Figures> {
        self.run.figures(references)
    }

    fn excess(&self, caption: &str) -> Option<Excess> {
        self.run.excess(caption)
    }

    fn score(&self, row: &[f64], values: &mut [f64]) {
        self.mean(values, |run, values| self.run.score(self.part(row, run), values));
    }

    fn score_table(&self, table: &Table, values: &mut [f64]) {
        let columns = &self.run.about().columns;
        self.mean(values, |run, values| {
            let rows = table.rows().flat_map(|row| self.part(row, run).iter().copied()).collect();
            self.run.score_table(&Table::new(columns.clone(), rows), values);
        });
    }

    fn score_segment(&self, row: &[f64], values: &mut [f64]) {
        self.mean(values, |run, values| self.run.score_segment(self.part(row, run), values));
    }
}
