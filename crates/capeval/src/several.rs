//! Several candidates for an image, and several runs of a system, as one row.
//!
//! The k-th candidates of all images are scored like a system of their own, on the same images; then the statistics of
//! each image are put together. An image with fewer candidates has its first one again in the runs that lack one, which
//! is not counted.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;

use capeval_choice::{Argument, Code, Remedy, SegmentId, UnknownName, counted};
use capeval_corpus::{Captions, Duplicate, Ids};
use capeval_evaluate::{MetricScores, SystemScores};
use capeval_metric::AnyMetric;
use capeval_report::{Measure, Notice, Runs};
use capeval_stats::Table;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::measures::corpus_scores;
use crate::{Error, ScoreOptions};

/// The treatment of several candidates for one image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Several {
    /// Stop, and name the images.
    #[default]
    Error,
    /// Use the first one.
    First,
    /// Use the last one.
    Last,
    /// Use the one with the best score by this measure, as an oracle would.
    Best(String),
    /// The mean over the candidates: of the scores of images, or of the corpus scores of all first ones, all second
    /// ones and so on.
    Mean,
    /// Count each of them as a segment.
    Each,
}

impl Several {
    /// The values that users write.
    pub const NAMES: &'static [&'static str] = &["error", "first", "last", "best:METRIC", "mean", "each"];

    /// The policy for matching captions with images, if the candidates are not put together.
    pub fn duplicate(&self) -> Duplicate {
        match self {
            Self::First => Duplicate::First,
            Self::Last => Duplicate::Last,
            Self::Error | Self::Best(_) | Self::Mean | Self::Each => Duplicate::Error,
        }
    }

    fn joins(&self) -> bool {
        matches!(self, Self::Best(_) | Self::Mean | Self::Each)
    }
}

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("error"),
            Self::First => f.write_str("first"),
            Self::Last => f.write_str("last"),
            Self::Best(measure) => write!(f, "best:{measure}"),
            Self::Mean => f.write_str("mean"),
            Self::Each => f.write_str("each"),
        }
    }
}

impl FromStr for Several {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "error" => Ok(Self::Error),
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            "mean" => Ok(Self::Mean),
            "each" => Ok(Self::Each),
            _ => match text.split_once(':') {
                Some(("best", measure)) if !measure.is_empty() => Ok(Self::Best(measure.to_owned())),
                _ => Err(UnknownName {
                    what: "treatment of several candidates",
                    given: text.to_owned(),
                    choices: Self::NAMES.to_vec(),
                }),
            },
        }
    }
}

impl Serialize for Several {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Several {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        capeval_choice::deserialize(deserializer)
    }
}

/// The runs of each system of a request, which are scored like systems, and the rule by which they become one row.
#[derive(Default)]
pub(crate) struct SystemRuns {
    rule: Several,
    systems: Vec<JoinedSystem>,
}

/// A system with the number of its runs, which follow each other among those that are scored.
struct JoinedSystem {
    name: String,
    n_runs: usize,
    /// The number of candidates of each image with fewer than there are runs, by the form of its id.
    fewer: HashMap<SegmentId, usize>,
    /// The number of images with several candidates.
    n_images: usize,
    /// True if the runs were given as such.
    are_given: bool,
    /// These runs, once they are put together.
    runs: Option<Runs>,
}

impl SystemRuns {
    /// Splits systems with several candidates for an image into runs, and gathers `runs`, which name the runs of
    /// systems among `systems`.
    pub fn split(
        systems: Vec<(String, Captions)>,
        runs: &BTreeMap<String, Vec<String>>,
        rule: &Several,
        ids: Ids,
    ) -> Result<(Self, Vec<(String, Captions)>), Error> {
        let mut left: Vec<Option<(String, Captions)>> = systems.into_iter().map(Some).collect();
        let (mut found, mut split) = (Vec::new(), Vec::new());
        for k in 0..left.len() {
            let Some((name, captions)) = left[k].take() else { continue };
            if let Some((of, names)) = runs.iter().find(|(_, names)| names.contains(&name)) {
                split.push((name, captions));
                for other in left.iter_mut().skip(k + 1) {
                    split.extend(other.take_if(|(name, _)| names.contains(name)));
                }
                found.push(JoinedSystem { are_given: true, ..JoinedSystem::new(of, names.len()) });
            } else if rule.joins() {
                let (system, parts) = in_runs(name, &captions, ids);
                found.push(system);
                split.extend(parts);
            } else {
                found.push(JoinedSystem::new(&name, 1));
                split.push((name, captions));
            }
        }
        Ok((Self { rule: rule.clone(), systems: found }, split))
    }

    /// Returns true if no system has several runs, so that nothing is put together.
    pub fn is_trivial(&self) -> bool {
        self.systems.iter().all(|system| system.n_runs == 1)
    }

    /// The number of systems that `systems` become.
    pub fn n_systems(systems: &[(String, Captions)], runs: &BTreeMap<String, Vec<String>>) -> usize {
        let is_run = |name: &String| runs.values().any(|names| names.contains(name));
        systems.iter().filter(|(name, _)| !is_run(name)).count() + runs.len()
    }

    /// Refuses what needs one caption for each image.
    pub fn check(&self, options: &ScoreOptions, has_no_scores: bool) -> Result<(), Error> {
        if self.is_trivial() {
            return Ok(());
        }
        let refused = |what: &str, remedy: &'static str| {
            Err(Error::with_remedy(
                format!("{what} one caption for each image, and there are several"),
                remedy,
            ))
        };
        for (k, system) in self.systems.iter().enumerate() {
            if self.systems.iter().take(k).any(|other| other.name == system.name) {
                return Err(Error::with_remedy(
                    format!("two systems are called '{}'", system.name),
                    "give each its own name",
                ));
            }
        }
        if options.gallery {
            return refused(
                "a page of images shows",
                "leave out the page, or score one candidate for each image",
            );
        }
        if !options.explain.is_empty() {
            return refused("an explanation is of", "score one candidate for each image");
        }
        if options.human {
            return refused("the human row stands beside", "score one candidate for each image");
        }
        if !has_no_scores {
            return refused("a given score is of", "leave out the scores");
        }
        Ok(())
    }

    /// The name of system number `k`, whose first run was scored as `scored`.
    pub fn name<'n>(&'n self, k: usize, scored: &'n str) -> &'n str {
        self.systems.get(k).map_or(scored, |system| &system.name)
    }

    /// The places of the runs of system number `k` among the systems that were scored.
    pub fn of(&self, k: usize) -> std::ops::Range<usize> {
        let first = self.first(k);
        first..first + self.systems.get(k).map_or(1, |system| system.n_runs)
    }

    /// Puts the scores of the runs of system number `k` together, as [`join`](Self::join) does.
    pub fn join_one(
        &self,
        k: usize,
        mut runs: Vec<SystemScores>,
        measures: &[Measure],
        form: &dyn Fn(u32) -> Option<SegmentId>,
    ) -> Result<SystemScores, Error> {
        match self.systems.get(k) {
            Some(system) if system.n_runs > 1 => system.join(&mut runs, &self.rule, measures, form),
            _ => {
                let Some(mut run) = runs.pop() else {
                    return Err(Error::request("a system has no scores"));
                };
                run.name = self.name(k, &run.name).to_owned();
                Ok(run)
            }
        }
    }

    /// The place of the first run of system number `k` among the systems that were scored.
    pub fn first(&self, k: usize) -> usize {
        if self.systems.is_empty() {
            k
        } else {
            self.systems.iter().take(k).map(|system| system.n_runs).sum()
        }
    }

    /// Puts the scores of runs together; `form` returns the form of an image's id. The notices say how.
    pub fn join(
        &mut self,
        scores: Vec<SystemScores>,
        measures: &[Measure],
        form: &dyn Fn(u32) -> Option<SegmentId>,
    ) -> Result<(Vec<SystemScores>, Vec<Notice>), Error> {
        let mut scores = scores.into_iter();
        let (mut joined, mut notices) = (Vec::new(), Vec::new());
        for system in &mut self.systems {
            let mut runs: Vec<SystemScores> = scores.by_ref().take(system.n_runs).collect();
            if system.n_runs == 1 {
                for mut run in runs {
                    run.name.clone_from(&system.name);
                    joined.push(run);
                }
                continue;
            }
            if runs.windows(2).any(|pair| pair[0].images != pair[1].images) {
                return Err(Error::with_remedy(
                    format!("the runs of '{}' describe different images, so they have no mean", system.name),
                    Remedy::give(Argument::Images).to("list the images that all describe"),
                ));
            }
            if system.are_given {
                system.runs = Some(deviating(&runs, measures.len()));
            }
            notices.push(system.notice(&self.rule, measures));
            joined.push(system.join(&mut runs, &self.rule, measures, form)?);
        }
        Ok((joined, notices))
    }

    /// The deviations over the runs that system number `k` is the mean of.
    pub fn deviations(&self, k: usize) -> Option<Runs> {
        self.systems.get(k)?.runs.clone()
    }

    /// The entry of signatures of system number `k`.
    pub fn signing(&self, k: usize) -> Option<(&'static str, String)> {
        let system = self.systems.get(k).filter(|system| system.n_runs > 1)?;
        Some(match system.are_given {
            true => ("runs", system.n_runs.to_string()),
            false => ("several", format!("{}({})", self.rule, system.n_images)),
        })
    }
}

/// A system with several candidates for an image as runs, the k-th with the k-th candidates.
fn in_runs(name: String, captions: &Captions, ids: Ids) -> (JoinedSystem, Vec<(String, Captions)>) {
    let mut rows: HashMap<SegmentId, Vec<usize>> = HashMap::new();
    let mut order: Vec<SegmentId> = Vec::new();
    for (row, id) in captions.ids().iter().enumerate() {
        let form = ids.form(id).into_owned();
        let of_image = rows.entry(form.clone()).or_default();
        if of_image.is_empty() {
            order.push(form);
        }
        of_image.push(row);
    }
    let n_runs = rows.values().map(Vec::len).max().unwrap_or(0).max(1);
    let mut system = JoinedSystem::new(&name, n_runs);
    if n_runs == 1 {
        return (system, vec![(name, captions.clone())]);
    }
    system.n_images = rows.values().filter(|rows| rows.len() > 1).count();
    let run = |k: usize| {
        let row = |form: &SegmentId| rows.get(form).and_then(|rows| rows.get(k).or(rows.first())).copied();
        let name = if k == 0 { name.clone() } else { format!("{name} #{}", k + 1) };
        (name, captions.rows(order.iter().filter_map(row)))
    };
    let runs = (0..n_runs).map(run).collect();
    system.fewer =
        rows.iter().map(|(form, rows)| (form.clone(), rows.len())).filter(|(_, n)| *n < n_runs).collect();
    (system, runs)
}

impl JoinedSystem {
    fn new(name: &str, n_runs: usize) -> Self {
        Self {
            name: name.to_owned(),
            n_runs,
            fewer: HashMap::new(),
            n_images: 0,
            are_given: false,
            runs: None,
        }
    }

    /// Puts the runs together by the rule; runs that were given as such have a mean.
    fn join(
        &self,
        runs: &mut [SystemScores],
        rule: &Several,
        measures: &[Measure],
        form: &dyn Fn(u32) -> Option<SegmentId>,
    ) -> Result<SystemScores, Error> {
        let images = runs.first().map_or(&[][..], |run| &run.images).to_vec();
        let n_of = |image: &u32| {
            let few = form(*image).and_then(|form| self.fewer.get(&form));
            few.copied().unwrap_or(self.n_runs)
        };
        let counts: Vec<usize> = images.iter().map(n_of).collect();
        let by = rule.best_of(measures)?.filter(|_| !self.are_given);
        let chosen = by.map(|by| best(runs, &counts, by));
        let n_metrics = runs.first().map_or(0, |run| run.metrics.len());
        let is_each = *rule == Several::Each && !self.are_given;
        let metrics = (0..n_metrics).filter_map(|m| {
            let of_runs: Vec<&MetricScores> = runs.iter().filter_map(|run| run.metrics.get(m)).collect();
            let metric = &of_runs.first()?.metric;
            Some(match &chosen {
                Some(chosen) => Ok(selected(&of_runs, chosen)),
                None if is_each || metric.about().is_mean => Ok(summed(&of_runs, &counts, is_each)),
                None if self.fewer.is_empty() => Ok(side_by_side(&of_runs)),
                None => Err(self.uneven(metric)),
            })
        });
        Ok(SystemScores { name: self.name.clone(), metrics: metrics.collect::<Result<_, _>>()?, images })
    }

    fn uneven(&self, metric: &AnyMetric) -> Error {
        let id = self.fewer.iter().next().map(|(id, _)| id.quoted().to_string()).unwrap_or_default();
        Error::with_remedy(
            format!(
                "{}: image {id} has fewer candidates than others, so there is no mean of corpus scores by {}",
                self.name,
                metric.signature().metric()
            ),
            Remedy::set(Argument::Several, "each").to("count each candidate").or(Remedy::set(
                Argument::Several,
                "first",
            )
            .to("use the first")),
        )
    }

    fn notice(&self, rule: &Several, measures: &[Measure]) -> Notice {
        let Some(runs) = &self.runs else {
            let images = counted(self.n_images, "image");
            let message = format!(
                "{}: {images} have several candidates, up to {}; {}",
                self.name,
                self.n_runs,
                rule.in_words()
            );
            return Notice::new(Code::SeveralCandidates, message).count(self.n_images).system(&*self.name);
        };
        let each = measures
            .iter()
            .zip(&runs.deviations)
            .map(|(measure, deviation)| format!("{} {deviation:.4}", measure.key));
        let message = format!(
            "{} is the mean of {} runs; their standard deviations are {}",
            self.name,
            self.n_runs,
            each.collect::<Vec<_>>().join(", ")
        );
        Notice::new(Code::SeveralRuns, message).count(self.n_runs).system(&*self.name)
    }
}

impl Several {
    fn in_words(&self) -> String {
        match self {
            Self::Best(measure) => format!("the one with the best {measure} is scored"),
            Self::Mean => "scores are means over them".to_owned(),
            Self::Each => "each counts as a segment".to_owned(),
            Self::Error | Self::First | Self::Last => format!("{self} is scored"),
        }
    }
}

/// The standard deviations of the corpus scores of runs, with n − 1.
fn deviating(runs: &[SystemScores], n_measures: usize) -> Runs {
    let deviation = |m: usize| {
        let values: Vec<f64> =
            runs.iter().filter_map(|run| corpus_scores(&run.metrics).get(m).copied()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (values.len() as f64 - 1.0)).sqrt()
    };
    Runs { n: runs.len(), deviations: (0..n_measures).map(deviation).collect() }
}

/// For each image, the run with the best score by the measure at a place, the first of equal ones.
fn best(runs: &[SystemScores], counts: &[usize], (at, is_lower_better): (usize, bool)) -> Vec<usize> {
    let of_run = |run: &SystemScores| -> Vec<f64> {
        let mut first = 0;
        for metric in &run.metrics {
            let n = metric.corpus.len();
            if at < first + n {
                return metric.segments().chunks_exact(n.max(1)).map(|row| row[at - first]).collect();
            }
            first += n;
        }
        Vec::new()
    };
    let values: Vec<Vec<f64>> = runs.iter().map(of_run).collect();
    let choice = |(image, count): (usize, &usize)| {
        let value = |run: usize| {
            let value = values.get(run).and_then(|values| values.get(image)).copied().unwrap_or(f64::NAN);
            if is_lower_better { -value } else { value }
        };
        // A score that is no number is never better.
        (1..*count)
            .fold(0, |best, run| if value(run) > value(best) || value(best).is_nan() { run } else { best })
    };
    counts.iter().enumerate().map(choice).collect()
}

/// The scores of a table of `metric`, otherwise described as those of `first`.
fn scores_of(first: &MetricScores, metric: AnyMetric, table: Table) -> MetricScores {
    let mut corpus = vec![0.0; first.corpus.len()];
    metric.score_table(&table, &mut corpus);
    MetricScores { metric, signature: first.signature.clone(), notices: first.notices.clone(), table, corpus }
}

/// The row of the chosen run for each image.
fn selected(runs: &[&MetricScores], chosen: &[usize]) -> MetricScores {
    let rows = chosen.iter().enumerate().flat_map(|(image, run)| runs[*run].table.row(image).iter().copied());
    let first = runs[0];
    scores_of(first, first.metric.clone(), Table::new(first.table.columns().to_vec(), rows.collect()))
}

/// The sum of the rows of each image's candidates, or their mean.
fn summed(runs: &[&MetricScores], counts: &[usize], is_sum: bool) -> MetricScores {
    let first = runs[0];
    let width = first.table.columns().len();
    let row = |(image, &count): (usize, &usize)| {
        let sum = move |c: usize| runs.iter().take(count).map(|run| run.table.row(image)[c]).sum::<f64>();
        let divisor = if is_sum { 1.0 } else { count as f64 };
        (0..width).map(move |c| sum(c) / divisor)
    };
    let rows = counts.iter().enumerate().flat_map(row).collect();
    scores_of(first, first.metric.clone(), Table::new(first.table.columns().to_vec(), rows))
}

/// The rows of all runs side by side, by a metric that takes the mean of their corpus scores.
fn side_by_side(runs: &[&MetricScores]) -> MetricScores {
    let first = runs[0];
    let metric = first.metric.clone().of_runs(runs.len());
    let rows = (0..first.table.len())
        .flat_map(|image| runs.iter().flat_map(move |run| run.table.row(image)).copied());
    let table = Table::new(metric.about().columns.clone(), rows.collect());
    scores_of(first, metric, table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treatments_are_read_as_they_are_written() {
        for text in ["error", "first", "last", "best:cider-d", "mean", "each"] {
            assert_eq!(text.parse::<Several>().unwrap().to_string(), text);
        }
        for text in ["best", "best:", "all", "Mean"] {
            assert!(text.parse::<Several>().unwrap_err().remedy().to_string().contains("mean"), "{text}");
        }
    }
}
