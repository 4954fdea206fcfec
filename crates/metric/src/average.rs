//! Metrics that are the mean of others, such as SPIDEr.

use std::sync::Arc;

use capeval_choice::Notice;
use capeval_stats::Table;

use crate::any::{ErasedFittedMetric, ErasedMetric, ErasedWorker};
use crate::{
    About, AnyMetric, Excess, Explanation, Figures, FittedMetric, Learns, Memo, Part, References, Rule,
    Segment, Signature, Step, Worker,
};

/// The mean of the first scores of metrics that read text in the same way.
pub(crate) struct Average {
    members: Vec<AnyMetric>,
    part: Part,
}

impl Average {
    /// The mean of `members` under the key and label of `part`, whose range is that of the mean.
    pub(crate) fn new(members: Vec<AnyMetric>, part: Part) -> Self {
        Self { members, part }
    }

    /// Computes the first score of each member from its part of a row, and their mean.
    fn mean(&self, row: &[f64], score: impl Fn(&AnyMetric, &[f64], &mut [f64])) -> f64 {
        let mut rest = row;
        let firsts = self.members.iter().map(|member| {
            let (own, others) = rest.split_at(member.about().columns.len().min(rest.len()));
            rest = others;
            let mut values = vec![0.0; member.parts().len()];
            score(member, own, &mut values);
            values.first().copied().unwrap_or_default()
        });
        mean(firsts)
    }
}

fn mean(scores: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = scores.len() as f64;
    scores.sum::<f64>() / count
}

/// The description of the mean of metrics with these descriptions: a setting that several have is listed once.
pub(crate) fn about<'a>(members: impl Iterator<Item = &'a About> + Clone, part: Part) -> Option<About> {
    let first = members.clone().next()?;
    let mut signature = Signature::new(&part.key);
    for (name, value) in members.clone().flat_map(|member| member.signature.settings()) {
        if signature.get(name).is_none() {
            signature.push(name, value);
        }
    }
    let input = members.clone().map(|member| member.input).reduce(crate::Input::and)?;
    let columns = members.clone().flat_map(|member| member.columns.iter().cloned()).collect();
    let have_same = members.clone().all(|member| member.learns == first.learns);
    let learns = if have_same { first.learns } else { Learns::Everything };
    let is_mean = members.clone().all(|member| member.is_mean);
    let adds_up = members.clone().all(|member| member.adds_up);
    let is_slow = members.clone().any(|member| member.is_slow);
    let is_limited = members.clone().any(|member| member.is_limited);
    let reads_texts = members.clone().any(|member| member.reads_texts);
    let languages = members.clone().map(|member| &member.languages).find(|languages| !languages.is_empty());
    let have_same_reading = members.clone().all(|member| member.input.reading == first.input.reading);
    let about = About::new(signature, input, columns, vec![part]).learns(learns).mean(is_mean);
    let about = about.adding_up(adds_up).slow(is_slow).limited(is_limited).reading_texts(reads_texts);
    let about = about.made_for(languages.cloned().unwrap_or_default());
    have_same_reading.then_some(about)
}

impl ErasedMetric for Average {
    fn fit(self: Arc<Self>, references: &References<'_>) -> Box<dyn ErasedFittedMetric> {
        let members = self.members.iter().map(|member| member.fit(references)).collect();
        Box::new(FittedAverage { members, average: self })
    }

    fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Vec<Memo> {
        self.members.iter().flat_map(|member| member.remember(references, advance)).collect()
    }

    fn figures(&self, references: &References<'_>) -> Vec<Figures> {
        self.members.iter().flat_map(|member| member.figures(references)).collect()
    }

    fn excess(&self, caption: &str) -> Option<Excess> {
        self.members.iter().find_map(|member| member.excess(caption))
    }

    fn score(&self, row: &[f64], values: &mut [f64]) {
        values.fill(self.mean(row, AnyMetric::score));
    }

    fn score_table(&self, table: &Table, values: &mut [f64]) {
        self.score(&table.total(), values);
    }

    fn score_segment(&self, row: &[f64], values: &mut [f64]) {
        values.fill(self.mean(row, AnyMetric::score_segment));
    }
}

struct FittedAverage {
    average: Arc<Average>,
    members: Vec<FittedMetric>,
}

impl ErasedFittedMetric for FittedAverage {
    fn worker(&self) -> Worker<'_> {
        let workers = self.members.iter().map(FittedMetric::worker).collect();
        Worker::new(AverageWorker { average: &self.average, workers })
    }

    fn sign(&self, signature: &mut Signature) {
        self.members.iter().for_each(|member| member.sign(signature));
    }

    fn notices(&self) -> Vec<Notice> {
        self.members.iter().flat_map(FittedMetric::notices).collect()
    }
}

struct AverageWorker<'f> {
    average: &'f Average,
    workers: Vec<Worker<'f>>,
}

impl ErasedWorker for AverageWorker<'_> {
    fn measure(&mut self, segment: &Segment<'_>, row: &mut [f64]) {
        let mut rest = row;
        for (worker, member) in self.workers.iter_mut().zip(&self.average.members) {
            let (own, others) = rest.split_at_mut(member.about().columns.len());
            worker.measure(segment, own);
            rest = others;
        }
    }

    fn explain(&mut self, segment: &Segment<'_>) -> Explanation {
        let members = self.workers.iter_mut().map(|worker| worker.explain(segment));
        let firsts: Vec<Step> = members.filter_map(|member| member.scores.into_iter().next()).collect();
        let value = mean(firsts.iter().map(|step| step.value.unwrap_or_default()));
        let step = Step::of(&self.average.part.label, value, Rule::MEAN, firsts);
        Explanation { scores: vec![step], ..Explanation::over_words(segment) }
    }
}
