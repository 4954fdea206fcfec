//! Corpus scores of rows that were scored anywhere: sums of their statistics, merged exactly, and the report on them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use capeval_choice::{Argument, Code, Remedy, SegmentId};
use capeval_corpus::{Duplicate, Empty, Missing, Policy};
use capeval_evaluate::{MetricScores, ReferenceSet};
use capeval_metric::{AnyMetric, Column, FittedMetric};
use capeval_report::{Notice, Provenance, Report, SystemReport};
use capeval_stats::random::{block, fingerprint};
use capeval_stats::{Interval, Matrix, Resampling, Table, Totals, resample};

use crate::evaluation::lengths_of;
use crate::findings::Findings;
use crate::intervals::{NO_INTERVAL, score_sums};
use crate::measures::{corpus_scores, entries, head};
use crate::signing::{PerImage, Signing, of_sacrebleu};
use crate::{Error, notices};

capeval_choice::named! {
    /// Something wrong with a row.
    pub enum Flaw ("flaw of a row") {
        Missing = "missing", "a row without a candidate";
        Surplus = "surplus", "a row without references";
        Empty = "empty", "a candidate without words";
        NullReferences = "null-references", "a row in whose references something is null";
        NullId = "null-id", "a row that is scored and whose id is null";
    }
}

/// The flawed rows of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlawedRows {
    /// Their number.
    pub count: u64,
    /// The smallest of their ids, which depend on no order.
    ids: BTreeSet<SegmentId>,
}

impl FlawedRows {
    /// `count` rows, of which some ids are known.
    pub fn new(count: u64, ids: impl IntoIterator<Item = SegmentId>) -> Self {
        let mut flawed = Self { count, ids: ids.into_iter().collect() };
        flawed.cut();
        flawed
    }

    /// Adds other rows.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.ids.extend(other.ids);
        self.cut();
    }

    /// The smallest ids, at most [`Notice::MAX_IDS`].
    pub fn ids(&self) -> impl Iterator<Item = &SegmentId> {
        self.ids.iter()
    }

    fn cut(&mut self) {
        while self.ids.len() > Notice::MAX_IDS {
            self.ids.pop_last();
        }
    }
}

/// The sums over the rows of one block.
#[derive(Clone, Debug)]
pub struct BlockSums {
    /// The number of rows that were scored.
    pub images: u64,
    /// The number of their references.
    pub references: u64,
    /// The smallest and the greatest number of references of a row; `None` without rows.
    pub per_image: Option<(u64, u64)>,
    /// The flawed rows, in the order of [`Flaw::ALL`].
    pub flawed: Vec<FlawedRows>,
    /// The statistics of the rows, metric after metric.
    pub totals: Totals,
}

impl BlockSums {
    fn new(columns: &[Column]) -> Self {
        Self {
            images: 0,
            references: 0,
            per_image: None,
            flawed: vec![FlawedRows::default(); Flaw::ALL.len()],
            totals: Totals::new(columns),
        }
    }

    fn merge(&mut self, other: Self) {
        self.images += other.images;
        self.references += other.references;
        self.per_image = match (self.per_image, other.per_image) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (mine, theirs) => mine.or(theirs),
        };
        for (mine, theirs) in self.flawed.iter_mut().zip(other.flawed) {
            mine.merge(theirs);
        }
        self.totals.merge(&other.totals);
    }
}

/// Sums of the statistics of rows, by block.
///
/// Sums of parts are merged exactly, so that neither the parts nor their order change a bit of what
/// [`report`](Self::report) says.
#[derive(Clone, Debug)]
pub struct Sums {
    settings: u64,
    /// The assignment of rows to blocks; `None` before the first part.
    dealing: Option<Dealing>,
    columns: Vec<Column>,
    blocks: BTreeMap<u32, BlockSums>,
}

/// The assignment of rows to blocks, which intervals resample: by nothing but the seed and the id of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealing {
    /// The number of blocks; 1 if no intervals are wanted.
    pub blocks: u32,
    /// The seed.
    pub seed: u64,
}

impl Dealing {
    /// `blocks` blocks by a seed, which makes no difference to a single block.
    pub fn new(blocks: u32, seed: u64) -> Self {
        Self { blocks, seed: if blocks > 1 { seed } else { 0 } }
    }

    /// The block of the row with this id.
    pub fn block(self, id: Option<&SegmentId>) -> u32 {
        match id {
            Some(id) if self.blocks > 1 => block(self.seed, &id.to_string(), self.blocks),
            _ => 0,
        }
    }
}

/// The facts that a report on sums states in addition to them.
#[derive(Clone, Debug)]
pub struct SumsOptions {
    /// The name of the system.
    pub name: String,
    /// The source of its captions.
    pub source: String,
    /// The source of the references.
    pub reference_source: String,
    /// Notices about the selection of the metrics.
    pub notices: Vec<Notice>,
    /// The policy for flawed rows.
    pub policy: Policy,
    /// The ids that several rows have.
    pub repeated: FlawedRows,
    /// The resampling for intervals, if they are wanted.
    pub intervals: Option<Resampling>,
}

impl fmt::Display for Dealing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.blocks {
            1 => write!(f, "1 block"),
            n => write!(f, "{n} blocks by the seed {}", self.seed),
        }
    }
}

impl Sums {
    /// No rows, for these metrics and what is done about flawed rows.
    pub fn new(metrics: &[AnyMetric], policy: Policy) -> Self {
        let columns = metrics.iter().flat_map(|metric| metric.about().columns.clone()).collect();
        let signatures: Vec<String> = metrics.iter().map(|metric| metric.signature().to_string()).collect();
        let policies = [policy.missing.name(), policy.surplus.name(), policy.empty.name()];
        let texts: Vec<&str> = signatures.iter().map(String::as_str).chain(policies).collect();
        Self { settings: fingerprint(&texts), dealing: None, columns, blocks: BTreeMap::new() }
    }

    /// A fingerprint of the signatures of the metrics, with that of their table of document frequencies, and of the
    /// policies. Only sums that share it may be merged.
    pub fn settings(&self) -> u64 {
        self.settings
    }

    /// The assignment of rows to blocks; one block before the first part.
    pub fn dealing(&self) -> Dealing {
        self.dealing.unwrap_or(Dealing::new(1, 0))
    }

    /// Prepares for the rows, or the sums, of a part with these `settings` and this `dealing`.
    pub fn begin_part(&mut self, settings: u64, dealing: Dealing) -> Result<(), Error> {
        if settings != self.settings {
            let what =
                "the sums of a part come from other metrics, settings, policies or document frequencies";
            let remedy = "merge only sums of equal scorers; a suite depends on the data that are installed on each machine";
            return Err(Error::with_remedy(what, Remedy::say(remedy)));
        }
        let known = *self.dealing.get_or_insert(dealing);
        if known != dealing {
            let what = format!("the parts were dealt into {known}, and into {dealing}");
            return Err(Error::with_remedy(
                what,
                Remedy::say("use the same blocks and the same seed for all parts"),
            ));
        }
        Ok(())
    }

    /// The columns of the statistics, metric after metric.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The sums of each block that has rows, by its number.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = (u32, &BlockSums)> {
        self.blocks.iter().map(|(number, block)| (*number, block))
    }

    /// The block with this number.
    fn block(&mut self, number: u32) -> &mut BlockSums {
        self.blocks.entry(number).or_insert_with(|| BlockSums::new(&self.columns))
    }

    /// Adds a flawed row.
    pub fn add_flawed(&mut self, block: u32, flaw: Flaw, id: Option<SegmentId>) {
        let at = Flaw::ALL.iter().position(|other| *other == flaw).unwrap_or_default();
        if let Some(flawed) = self.block(block).flawed.get_mut(at) {
            // As ids are read back, so that the smallest do not depend on which sums were written.
            flawed.merge(FlawedRows::new(1, id.map(|id| SegmentId::from_untyped(&id.to_string()))));
        }
    }

    /// Adds the statistics of a row, metric after metric, that has `references` references.
    pub fn add(&mut self, block: u32, references: u64, row: &[f64]) {
        let sums = self.block(block);
        sums.images += 1;
        sums.references += references;
        let (least, most) = sums.per_image.unwrap_or((references, references));
        sums.per_image = Some((least.min(references), most.max(references)));
        sums.totals.add(row);
    }

    /// Adds the sums of a block; `fill` sets them, starting from none.
    pub fn add_block<E>(
        &mut self,
        block: u32,
        fill: impl FnOnce(&mut BlockSums) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sums = BlockSums::new(&self.columns);
        fill(&mut sums)?;
        self.block(block).merge(sums);
        Ok(())
    }

    /// The report on all rows, for the metrics that the sums were made for.
    ///
    /// Intervals are percentiles over resamples of the blocks that have rows, as many as there are: with fewer rows
    /// than blocks, that is nearly the bootstrap over rows.
    ///
    /// # Errors
    /// When there are no rows. [`check_sums`] says for which metrics there is a report.
    pub fn report(&self, metrics: &[AnyMetric], options: &SumsOptions) -> Result<Report, Error> {
        let mut whole = BlockSums::new(&self.columns);
        self.blocks.values().for_each(|block| whole.merge(block.clone()));
        if whole.images == 0 {
            return Err(Error::request("no row is left to score"));
        }
        if let Some(resampling) = &options.intervals {
            resampling.check()?;
            check_dealing(self.dealing(), whole.images, resampling.seed)?;
            resampling.check_values(metrics.iter().map(|metric| metric.parts().len()).sum())?;
        }
        let (entries, measures) = entries(metrics);
        let scores = self.scored(metrics, &whole);
        let left_out = of_rows(&whole, options);
        let (least, most) = whole.per_image.unwrap_or_default();
        let per_image = PerImage { least: least as usize, most: most as usize };
        let mut found = Findings::from(options.notices.clone());
        found.add_once(scores.iter().filter_map(|metric| of_sacrebleu(metric, per_image)));
        found.add_once(left_out.iter().map(|notice| notice.clone().system(&*options.name)));
        found.add_once(scores.iter().flat_map(|metric| metric.notices.iter().cloned()));
        let signing = Signing { notices: &left_out, ..Signing::default() };
        let signatures =
            scores.iter().map(|metric| signing.signature(&metric.signature, per_image)).collect();
        if let Some(resampling) = options.intervals {
            found.add([self.how_resampled()]);
            found.add(notices::of_intervals(
                resampling,
                [self.blocks_with_rows().count()],
                notices::Unit::Block,
            ));
        }
        let system = SystemReport {
            name: options.name.clone(),
            source: options.source.clone(),
            n_images: whole.images as usize,
            n_references: whole.references as usize,
            scores: corpus_scores(&scores),
            lengths: scores.iter().find_map(|metric| lengths_of(&metric.metric, &metric.table)),
            intervals: options.intervals.map(|resampling| self.intervals(&scores, resampling)),
            runs: None,
            signatures,
            // Sums hold no texts.
            reference_hash: None,
            segments: None,
        };
        Ok(Report {
            head: head(entries, measures, options.intervals, found),
            same_images: true,
            provenance: Provenance {
                files: vec![options.reference_source.clone()],
                n_images: system.n_images,
                n_references: system.n_references,
                policy: Some(options.policy),
                ..Provenance::default()
            },
            systems: vec![system],
            ..Report::default()
        })
    }

    fn blocks_with_rows(&self) -> impl Iterator<Item = &BlockSums> {
        self.blocks.values().filter(|block| block.images > 0)
    }

    /// The metrics with their signatures and corpus scores; each table has the totals as its only row.
    fn scored(&self, metrics: &[AnyMetric], whole: &BlockSums) -> Vec<MetricScores> {
        let row = whole.totals.row();
        let mut rest = row.as_slice();
        let scored = |(metric, fitted): (&AnyMetric, FittedMetric)| {
            let columns = metric.about().columns.clone();
            let (mine, others) = rest.split_at(columns.len().min(rest.len()));
            rest = others;
            let mut corpus = vec![0.0; metric.parts().len()];
            metric.score(mine, &mut corpus);
            let mut signature = fitted.signature();
            if signature.get("images").is_some() {
                signature.change("images", whole.images);
            }
            let (notices, table) = (fitted.notices(), Table::new(columns, mine.to_vec()));
            MetricScores { metric: metric.clone(), signature, notices, table, corpus }
        };
        let fitted = ReferenceSet::default().fit(metrics);
        metrics.iter().zip(fitted).map(scored).collect()
    }

    fn how_resampled(&self) -> Notice {
        let n = self.blocks_with_rows().count();
        let message = format!(
            "intervals come from resamples of {n} block{}, into which images are dealt by the seed and their ids",
            if n == 1 { "" } else { "s" }
        );
        Notice::new(Code::IntervalsOfBlocks, message).count(n)
    }

    fn intervals(&self, scores: &[MetricScores], resampling: Resampling) -> Vec<Interval> {
        let rows: Vec<f64> = self.blocks_with_rows().flat_map(|block| block.totals.row()).collect();
        let table = Table::new(self.columns.clone(), rows);
        let order: Vec<u32> = (0..table.len() as u32).collect();
        let n_values = scores.iter().map(|metric| metric.corpus.len()).sum();
        let values = resample::bootstrap(
            &Matrix::new([&table], &order),
            resampling,
            n_values,
            |_| {},
            |sums, values| score_sums(scores, sums, values),
        );
        let parts = scores.iter().flat_map(|metric| metric.metric.parts());
        let interval = |(k, has_one): (usize, bool)| {
            if !has_one {
                return NO_INTERVAL;
            }
            let values = values.iter().skip(k).step_by(n_values).copied();
            Interval::percentile(values.collect(), resampling.level)
        };
        parts.map(|part| part.has_interval).enumerate().map(interval).collect()
    }
}

/// Checks that the corpus scores of all metrics are functions of sums.
///
/// # Errors
/// When one of them needs the statistics of every row, in order.
pub fn check_sums(metrics: &[AnyMetric]) -> Result<(), Error> {
    match metrics.iter().find(|metric| !metric.about().adds_up) {
        None => Ok(()),
        Some(metric) => Err(Error::with_remedy(
            format!(
                "the corpus score of {} needs the statistics of every row, in order, and is no function of their sums",
                metric.signature().metric()
            ),
            Remedy::say("leave it out, or choose a setting that does not resample"),
        )),
    }
}

/// Checks that rows were dealt into blocks for intervals, with the seed of the intervals.
fn check_dealing(dealing: Dealing, images: u64, seed: u64) -> Result<(), Error> {
    if dealing.blocks == 1 && images > 1 {
        let what = "all rows were added up in one block, but intervals resample blocks";
        return Err(Error::with_remedy(what, Remedy::say("pass blocks=1024 where the rows are added up")));
    }
    if dealing.blocks > 1 && dealing.seed != seed {
        let what = format!("the intervals have the seed {seed}, but the rows were dealt into {dealing}");
        return Err(Error::with_remedy(what, Remedy::say("use one seed for both")));
    }
    Ok(())
}

/// Notices about flawed rows, as the policy treated them.
fn of_rows(sums: &BlockSums, options: &SumsOptions) -> Vec<Notice> {
    let policy = options.policy;
    let with_rows = |notice: Notice, rows: &FlawedRows| {
        notice.count(rows.count as usize).ids(rows.ids().cloned().collect())
    };
    let repeated = (policy.duplicate != Duplicate::Error && options.repeated.count > 0).then(|| {
        let (n, which) = (options.repeated.count, policy.duplicate);
        let have = if n == 1 { "image has" } else { "images have" };
        let message =
            format!("{n} {have} several rows, of which the {which} one in the order of captions was taken");
        with_rows(Notice::applied(Argument::Several, which.name(), message), &options.repeated)
    });
    let flawed = Flaw::ALL.iter().zip(&sums.flawed).filter(|(_, rows)| rows.count > 0);
    let flawed = flawed.map(|(flaw, rows)| with_rows(of_flaw(*flaw, rows.count, &policy), rows));
    repeated.into_iter().chain(flawed).collect()
}

/// A notice about `n` rows with this flaw.
fn of_flaw(flaw: Flaw, n: u64, policy: &Policy) -> Notice {
    let rows = if n == 1 { "1 row has".to_owned() } else { format!("{n} rows have") };
    let (are, were) = if n == 1 { ("is", "was") } else { ("are", "were") };
    match flaw {
        Flaw::Missing => {
            let what = match policy.missing {
                Missing::Empty => "scored as if their caption were empty",
                _ => "left out of every metric",
            };
            let message = format!("{rows} no candidate and {are} {what}");
            Notice::applied(Argument::Missing, policy.missing.name(), message)
        }
        Flaw::Surplus => {
            let message = format!("{rows} no references and {were} left out");
            Notice::applied(Argument::Surplus, policy.surplus.name(), message)
        }
        Flaw::Empty => {
            let what = match policy.empty {
                Empty::Skip => format!("{are} left out of every metric"),
                _ if n == 1 => "is scored as it is".to_owned(),
                _ => "are scored as they are".to_owned(),
            };
            let message = format!("{rows} an empty candidate and {what}");
            Notice::applied(Argument::Empty, policy.empty.name(), message)
        }
        Flaw::NullReferences => Notice::new(
            Code::NullReferences,
            format!("{rows} nulls among the references, which are left out"),
        ),
        Flaw::NullId => Notice::new(
            Code::NullId,
            format!("{rows} null instead of an id: each of these rows counts as an image of its own"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics;

    #[test]
    fn flawed_rows_are_named_alike_whatever_the_parts() {
        let metrics = metrics(["bleu"], &[]).unwrap();
        let text = |id: u32| Some(SegmentId::Text(id.to_string().into()));
        let mut whole = Sums::new(&metrics, Policy::default());
        (1..=100).for_each(|id| whole.add_flawed(0, Flaw::Missing, text(id)));
        let flawed = |sums: &Sums| {
            let flawed = &sums.blocks[&0].flawed[0];
            (flawed.count, flawed.ids().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(flawed(&whole), (100, ["1", "2", "3", "4", "5"].map(String::from).to_vec()));
    }

    #[test]
    fn resamples_that_take_too_much_memory_are_refused() {
        let metrics = metrics(["bleu"], &[]).unwrap();
        let mut sums = Sums::new(&metrics, Policy::default());
        sums.add(0, 1, &vec![1.0; sums.columns.len()]);
        let options = |resamples| SumsOptions {
            name: "system".to_owned(),
            source: "rows".to_owned(),
            reference_source: "rows".to_owned(),
            policy: Policy::default(),
            repeated: FlawedRows::default(),
            notices: Vec::new(),
            intervals: Some(Resampling { resamples, ..Resampling::default() }),
        };
        assert!(sums.report(&metrics, &options(10)).is_ok());
        let error = sums.report(&metrics, &options(1_000_000_000)).err().unwrap();
        assert!(error.remedy().is_some(), "{error}");
    }
}
