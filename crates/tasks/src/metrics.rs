//! The metrics of a task, and where their data are.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use capeval::choice::{Derivation, SegmentId, Task, nearest};
use capeval::corpus::GroupFile;
use capeval::evaluate::registry::{SUITES, Suite, kind};
use capeval::metric::{CardNeeds, Direction, Family, MetricCard, Part, Resources};
use capeval::report::{Measure, RankRule, RankTies};
use capeval::text::tokenizers::UNSPACED;
use capeval::{GroupBy, MetricOptions};
use capeval_files::{DATA, DataKind, Home, MetricData, OpenData};
use capeval_outside::embeddings::{Role, Vectors};
use capeval_outside::programs::Messages;
use capeval_outside::{Sources, cards, find};
use serde::{Deserialize, Serialize};

use crate::dense::{self, FAMILY};
use crate::input::open;
use crate::program::Program;
use crate::submission::in_words;

/// Metrics, and where their data are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Metrics {
    /// Metrics or suites, as the command line takes them.
    pub names: Vec<String>,
    /// Numbers made of their measures, as the command line takes them.
    pub derive: Vec<String>,
    /// Groups of images, if there are some.
    pub groups: Option<ImageGroups>,
    /// The tokenizer; `None` for that of each metric.
    pub tokenizer: Option<String>,
    /// The folder with the data of METEOR and SPICE, and with models, if there is one.
    pub data: Option<PathBuf>,
    /// Vectors of the pictures, if there are some.
    pub vectors: Option<ImageVectors>,
    /// A program that is one more metric, if there is one.
    pub program: Option<Program>,
}

/// A column of the references that groups images.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImageGroups {
    pub column: String,
    /// The file of references as it was given.
    pub source: PathBuf,
}

/// A file of `.safetensors` with a vector for each image.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImageVectors {
    /// Its name in errors.
    pub name: String,
    pub file: PathBuf,
}

/// A measure, for the head of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureInfo {
    /// The key, such as `bleu-4`.
    pub key: String,
    /// The label, such as `BLEU-4`.
    pub label: String,
    /// True if lower is better.
    pub lower_is_better: bool,
    /// True if it is a number of things, without decimals.
    pub is_count: bool,
    /// The group whose images it is of; `None` for all images.
    #[serde(default)]
    pub group: Option<String>,
}

/// The most groups of a board.
const MOST_GROUPS: usize = 20;

/// The key of a measure of the images of a group.
pub fn key_in_group(key: &str, group: &str) -> String {
    format!("{key}@{group}")
}

/// Measures with the same ones of each group behind them.
pub(crate) fn with_groups(measures: Vec<MeasureInfo>, groups: &[&str]) -> Vec<MeasureInfo> {
    let of_group = |group: &&str| -> Vec<MeasureInfo> {
        let one = |measure: &MeasureInfo| MeasureInfo {
            key: key_in_group(&measure.key, group),
            label: format!("{}, {group}", measure.label),
            group: Some((*group).to_owned()),
            ..measure.clone()
        };
        measures.iter().map(one).collect()
    };
    let of_groups: Vec<MeasureInfo> = groups.iter().flat_map(of_group).collect();
    [measures, of_groups].concat()
}

impl ImageGroups {
    fn open(&self) -> anyhow::Result<GroupFile> {
        let bytes = open(&self.source, "the file of references cannot be opened")?;
        Ok(GroupFile::read(&bytes, "references")?)
    }

    /// The names of the groups of these images, in the order of the file.
    ///
    /// # Errors
    /// If the file has no such column, or it has too many values.
    pub(crate) fn names(&self, images: &[SegmentId]) -> anyhow::Result<Vec<String>> {
        let known: HashSet<String> = images.iter().map(ToString::to_string).collect();
        let found = self.open()?.groups(Some(&self.column), &|id| known.contains(&id.to_string()));
        let found = found.map_err(|error| in_words(&error, error.remedy()))?;
        let mut names: Vec<String> = Vec::new();
        for (_, group) in found.pairs.into_iter().filter(|(id, _)| known.contains(&id.to_string())) {
            if !names.contains(&group) {
                names.push(group);
            }
            let column = &self.column;
            ensure!(
                names.len() <= MOST_GROUPS,
                "the column {column} has more than {MOST_GROUPS} groups, the most that a board shows"
            );
        }
        Ok(names)
    }

    /// What groups images, for the engine.
    pub(crate) fn property(&self) -> anyhow::Result<GroupBy> {
        Ok(GroupBy::File(Arc::new(self.open()?), Some(self.column.clone()), None))
    }
}

impl Metrics {
    /// The options for the engine.
    pub(crate) fn options(&self) -> MetricOptions {
        let mut names = dense::of_words(&self.names);
        names.extend(self.program.iter().map(|program| program.description.clone()));
        MetricOptions { tokenizer: self.tokenizer.clone(), ..MetricOptions::new(names) }
    }

    /// The data that metrics need, which are verified once, however many reference sets there are.
    ///
    /// # Errors
    /// If some are not installed.
    pub(crate) fn resources(&self) -> anyhow::Result<Resources> {
        let home = self.data.clone().map(|folder| Home::new(folder).keeping(&KEPT));
        let data = MetricData::installed(home.as_ref(), &self.options())?;
        let missing: Vec<&DataKind> = data.absent.iter().map(|absent| absent.kind).collect();
        anyhow::ensure!(missing.is_empty(), absence(&missing));
        let mut resources = data.resources;
        let sources = Sources {
            model_folder: self.data.as_deref().map(models_in),
            held_vectors: self.vectors()?.map(|vectors| (Role::Pictures, vectors)).into_iter().collect(),
            programs: self.program.is_some().then(|| Arc::new(|_: &str, _: &str| {}) as Messages),
            sandbox: self.program.as_ref().map(Program::enter).transpose()?,
            ..Sources::default()
        };
        sources.open(&self.options(), &mut resources)?;
        capeval::check_pictures(&resources)?;
        Ok(resources)
    }

    /// The files that they read, beside those of the folder of data.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let vectors = self.vectors.as_ref().map(|vectors| vectors.file.clone());
        let program = self.program.as_ref().map(|program| program.folder.clone());
        vectors.into_iter().chain(self.groups.as_ref().map(|groups| groups.source.clone())).chain(program)
    }

    /// The vectors of the pictures.
    fn vectors(&self) -> anyhow::Result<Option<Arc<Vectors>>> {
        let Some(ImageVectors { name, file }) = &self.vectors else { return Ok(None) };
        let bytes = open(file, "the vectors of the pictures cannot be opened")?;
        Ok(Some(Arc::new(Vectors::of_tensors(name, bytes)?)))
    }

    /// Refuses vectors that lack one of these images.
    pub(crate) fn check_images(&self, images: &[SegmentId]) -> anyhow::Result<()> {
        if let Some(vectors) = self.vectors()? {
            images.iter().try_for_each(|image| vectors.one(image).map(drop))?;
        }
        Ok(())
    }
}

/// The folder of models within that of data.
fn models_in(data: &Path) -> PathBuf {
    data.join("models")
}

/// Says that there is no model for a metric, if there is none.
fn absent_model(name: &str, home: Option<&Home>) -> Option<String> {
    let card = find(name).filter(|card| card.family == Family::Vectors)?;
    let has_models =
        home.is_some_and(|home| !capeval_outside::models_in(&models_in(home.folder())).is_empty());
    let what = card.needs.as_ref().map_or("a model", |needs| needs.what);
    (!has_models).then(|| {
        format!(
            "{} needs {what}, and there is no model: put its folder into the folder models of the server's data",
            card.name
        )
    })
}

/// The data that this process has opened.
static KEPT: OpenData = OpenData::new();

/// The kinds of data that these metrics need and that are not installed.
pub fn missing_data(names: &[String], home: Option<&Home>) -> Vec<&'static DataKind> {
    let needed = capeval::needed_data(&MetricOptions::new(dense::of_words(names)));
    let own = DATA.iter().filter(|kind| needed.iter().any(|needed| needed.data == kind.name));
    let mut missing: Vec<&'static DataKind> = Vec::new();
    for kind in own.flat_map(|kind| [*kind].into_iter().chain(kind.needs.iter().map(|need| need.kind))) {
        let is_known = missing.iter().any(|known| known.name == kind.name);
        if !is_known && !home.is_some_and(|home| home.is_installed(kind)) {
            missing.push(kind);
        }
    }
    missing
}

/// The metrics that are meant by `names`, of which each suite stands for its metrics.
fn expanded(names: &[String]) -> Vec<String> {
    let of_name = |name: &String| match SUITES.iter().find(|suite| suite.name == *name) {
        Some(suite) => suite.metrics(),
        None => vec![name.clone()],
    };
    let mut all: Vec<String> = Vec::new();
    for name in names.iter().flat_map(of_name) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The references that some metrics do not suit.
#[derive(Debug, PartialEq, Eq)]
pub enum UnsuitedMetrics {
    /// Metrics that know only English, and the others.
    EnglishOnly { metrics: Vec<String>, others: Vec<String> },
    /// Metrics that would read each sentence as one word without this tokenizer.
    NoSpaces { metrics: Vec<String>, tokenizer: &'static str },
}

/// The metrics among `names`, which may be suites, that do not suit references in a language, such as `zh` or `en-GB`,
/// that have this tokenizer.
pub fn unsuited(names: &[String], language: &str, tokenizer: Option<&str>) -> Option<UnsuitedMetrics> {
    let primary = language.split(['-', '_']).next().unwrap_or_default().to_lowercase();
    let all = expanded(names);
    if !ENGLISH.contains(&primary.as_str()) {
        let (metrics, others): (Vec<_>, Vec<_>) = all
            .iter()
            .cloned()
            .partition(|name| name.starts_with(FAMILY) || capeval::knows_only_english(name));
        if !metrics.is_empty() {
            return Some(UnsuitedMetrics::EnglishOnly { metrics, others });
        }
    }
    let (_, advised) = UNSPACED.iter().find(|(known, _)| *known == primary)?;
    let has_own = |name: &str| name.split(':').any(|setting| setting.starts_with("tok="));
    let takes_one = |name: &String| {
        kind(name).is_some_and(|kind| kind.settings.iter().any(|setting| setting.name == "tok"))
            && !has_own(name)
    };
    let metrics: Vec<String> = all.into_iter().filter(takes_one).collect();
    (tokenizer.is_none() && !metrics.is_empty())
        .then_some(UnsuitedMetrics::NoSpaces { metrics, tokenizer: advised.name() })
}

/// What hosts call English.
const ENGLISH: [&str; 3] = ["en", "eng", "english"];

/// The metrics that are meant by `names`, of which each suite stands for its metrics.
///
/// # Errors
/// If one of them cannot be computed here, or is not known; a suite leaves out nothing.
pub fn each_metric(names: &[String], home: Option<&Home>) -> anyhow::Result<Vec<String>> {
    let all = expanded(names);
    let missing = missing_data(&all, home);
    let forms = dense::forms(&all)?;
    if !forms.is_empty() {
        anyhow::ensure!(missing.is_empty(), absence(&missing));
        dense::measures(&forms)?;
        return Ok(forms.iter().map(|form| format!("{FAMILY}{form}")).collect());
    }
    let mut problems: Vec<String> = if missing.is_empty() { Vec::new() } else { vec![absence(&missing)] };
    let mut usable: Vec<&String> = Vec::new();
    for name in &all {
        let one = MetricOptions::new(vec![name.clone()]);
        if let Some(absence) = absent_model(name, home) {
            problems.push(absence);
            continue;
        }
        let is_of_vectors = find(name).is_some_and(|card| card.family == Family::Vectors);
        if is_of_vectors || !capeval::needed_data(&one).is_empty() {
            // Its models and data are not opened here.
            usable.extend(missing_data(&one.names, home).is_empty().then_some(name));
            continue;
        }
        match capeval::select_metrics(&one, &Resources::default()) {
            Ok(_) => usable.push(name),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if problems.is_empty() {
        return Ok(all);
    }
    let others = match usable[..] {
        [] => String::new(),
        _ => format!("; or name the others: metrics = {usable:?}"),
    };
    bail!("{}{others}", problems.join("; "))
}

/// A metric that a phase may have.
#[derive(Clone)]
pub struct OfferedMetric {
    /// Its name in a phase, with settings if it is a variant.
    pub name: String,
    /// The quality that it rewards.
    pub summary: &'static str,
    pub measures: Vec<OfferedMeasure>,
    /// The data that it needs, if any.
    pub data: Option<&'static str>,
    /// The data that it lacks, and how to install them, in words.
    pub absence: Option<String>,
    /// About how many seconds it takes to score 1,000 captions.
    pub seconds: f64,
}

/// A measure of a metric that a phase may have.
#[derive(Clone, Debug)]
pub struct OfferedMeasure {
    pub key: String,
    pub label: String,
    pub min: f64,
    /// May be infinite.
    pub max: f64,
    pub lower_is_better: bool,
}

/// A suite of metrics that a phase may have: its name, what it is, and its metrics.
#[derive(Clone, Debug)]
pub struct OfferedSuite {
    pub name: &'static str,
    pub summary: &'static str,
    pub metrics: Vec<String>,
}

/// The metrics that a phase may have, with their variants. Metrics that need a file or a server of the host's own are
/// not offered.
pub fn offered(home: Option<&Home>) -> anyhow::Result<Vec<OfferedMetric>> {
    let mut all = Vec::new();
    for card in cards() {
        let data = match (card.family, &card.needs) {
            (Family::Vectors, _) => Some("models"),
            (Family::Words, None) => None,
            (Family::Words, Some(CardNeeds { job: Some(Task::Install(name)), .. })) => Some(*name),
            (Family::Words | Family::Objects | Family::Judges | Family::Systems, _) => continue,
        };
        all.push(OfferedMetric::new(card.name.to_owned(), card, data, home));
        for settings in card.variants {
            let name = format!("{}:{settings}", card.name);
            all.push(OfferedMetric::new(name.clone(), &capeval_outside::card(&name)?, data, home));
        }
    }
    all.push(dense::offered(home)?);
    Ok(all)
}

impl OfferedMetric {
    fn new(name: String, card: &MetricCard, data: Option<&'static str>, home: Option<&Home>) -> Self {
        let measures = card.parts.iter().map(|part| OfferedMeasure {
            key: part.key.clone(),
            label: part.label.clone(),
            min: part.min,
            max: part.max,
            lower_is_better: part.direction == Direction::LowerIsBetter,
        });
        let missing = missing_data(std::slice::from_ref(&name), home);
        let absence = absent_model(&name, home).or_else(|| (!missing.is_empty()).then(|| absence(&missing)));
        Self {
            summary: card.summary,
            measures: measures.collect(),
            data,
            absence,
            seconds: card.seconds,
            name,
        }
    }
}

/// The suites that a phase may have.
pub fn offered_suites() -> Vec<OfferedSuite> {
    let offered =
        |suite: &Suite| OfferedSuite { name: suite.name, summary: suite.summary, metrics: suite.metrics() };
    SUITES.iter().filter(|suite| suite.name != "all").map(offered).collect()
}

/// Says that data are not installed, and how to install them.
pub fn absence(missing: &[&DataKind]) -> String {
    let lack = |kind: &&DataKind| {
        format!("{} {} not installed: run `capeval-server data install {}`", kind.what, kind.verb, kind.name)
    };
    missing.iter().map(lack).collect::<Vec<_>>().join("; ")
}

pub(crate) fn described(measures: &[Measure]) -> Vec<MeasureInfo> {
    let describe = |measure: &Measure| MeasureInfo {
        key: measure.key.clone(),
        label: measure.label.clone(),
        lower_is_better: matches!(measure.direction, Direction::LowerIsBetter),
        is_count: measure.digits(1) == 0,
        group: None,
    };
    measures.iter().map(describe).collect()
}

/// The metrics of a phase as its hosts choose them, and the measures that its settings name.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricSelection<'a> {
    /// Metrics or suites.
    pub names: &'a [String],
    /// Numbers made of their measures.
    pub derive: &'a [String],
    /// The rule that ranks; empty if there is none.
    pub rank_by: &'a str,
    /// The column that groups images; empty if there is none.
    pub group_by: &'a str,
    /// The keys of the measures of a program beside them, if there is one.
    pub of_program: &'a [String],
    /// Settings with the key of the measure that each asks for.
    pub asked: &'a [(&'a str, &'a str)],
}

/// Checks that metrics exist and have the measures that are asked for. The data of metrics such as METEOR may be only
/// where tasks run, so these are not built; which groups there are, and which way derived numbers improve, is known
/// there only.
pub fn check_metrics(selection: MetricSelection<'_>) -> anyhow::Result<()> {
    let MetricSelection { names, derive, rank_by, group_by, of_program, asked } = selection;
    let mut all = expanded(names);
    if all.is_empty() {
        all.extend(MetricOptions::default().suite().map(str::to_owned));
        all = expanded(&all);
    }
    let forms = dense::forms(&all)?;
    let (mut built, mut known, mut of_variants) = (Vec::new(), Vec::new(), Vec::new());
    if !forms.is_empty() {
        ensure!(derive.is_empty() && group_by.is_empty(), "derive and group_by are not for dense captions");
        ensure!(of_program.is_empty(), "programs score captions of images, no events of videos");
        known.extend(dense::measures(&forms)?.into_iter().map(|measure| measure.key));
        all.clear();
    }
    for spec in all.iter().cloned() {
        let Some((name, parts)) = described_parts(&spec)? else {
            built.push(spec);
            continue;
        };
        let keys: Vec<String> = parts.into_iter().map(|part| part.key).collect();
        let is_it = |other: &&String| described_parts(other).is_ok_and(|d| d.is_some_and(|(n, _)| n == name));
        if all.iter().filter(is_it).count() > 1 {
            // Settings in which one differs from the first follow the key.
            of_variants.extend(keys.iter().map(|key| format!("{key}:")));
        }
        known.extend(keys);
    }
    if !built.is_empty() {
        let selection = capeval::select_metrics(&MetricOptions::new(built), &Resources::default())?;
        known.extend(capeval::entries(&selection.metrics).1.into_iter().map(|measure| measure.key));
    }
    if let Some(key) = of_program.iter().find(|key| known.contains(key)) {
        bail!("the metrics have a measure {key}, too: give that of the program another key");
    }
    known.extend_from_slice(of_program);
    if of_variants.is_empty() {
        let mut read = Vec::new();
        for formula in derive {
            let measures: Vec<&str> = known.iter().map(String::as_str).collect();
            read.push(Derivation::parse(formula, &measures, &read).context("derive")?);
        }
        known.extend(read.into_iter().map(|derivation| derivation.name));
        let has_groups = !group_by.is_empty() && rank_by.contains('@');
        if !rank_by.is_empty() && !has_groups {
            let measures = known.iter().map(|key| (key.as_str(), Direction::HigherIsBetter));
            RankRule::parse(rank_by, RankTies::default(), measures).context("rank_by")?;
        }
    }
    for (what, key) in asked {
        let key = key.split_once('@').filter(|_| !group_by.is_empty()).map_or(*key, |(key, _)| key);
        let is_of_variant = of_variants.iter().any(|start| key.starts_with(start));
        if !is_of_variant && known.iter().all(|known| known != key) {
            let meant = nearest(key, known.iter().map(String::as_str));
            let meant = meant.map_or_else(String::new, |meant| format!(": did you mean {meant}?"));
            bail!("{what} is `{key}`, but the metrics give {}{meant}", known.join(", "));
        }
    }
    Ok(())
}

/// The name and the measures of a metric whose data or models are not opened here; `None` for all others.
fn described_parts(spec: &str) -> anyhow::Result<Option<(&'static str, Vec<Part>)>> {
    let is_deferred = |card: &&MetricCard| match card.family {
        Family::Vectors => true,
        Family::Words => card.needs.is_some(),
        Family::Objects | Family::Judges | Family::Systems => false,
    };
    let known = find(spec).filter(is_deferred);
    Ok(known.map(|card| (card.name, card.parts.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_stand_for_their_metrics_and_leave_out_nothing() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let refused = |given: &[&str]| each_metric(&names(given), None).unwrap_err().to_string();
        let coco = refused(&["coco", "bleu"]);
        assert!(coco.contains("run `capeval-server data install meteor`"), "{coco}");
        assert!(coco.contains("run `capeval-server data install spice`"), "{coco}");
        assert!(coco.ends_with(r#"metrics = ["bleu", "rouge-l", "cider-d"]"#), "{coco}");
        assert!(refused(&["bleuu"]).contains("bleuu"));
        let family = ["sacrebleu", "chrf", "chrf++", "ter"];
        assert_eq!(each_metric(&names(&["sacrebleu-family", "ter"]), None).unwrap(), family);
    }

    #[test]
    fn what_is_offered_can_be_chosen() {
        let all = offered(None).unwrap();
        for metric in &all {
            let main = &metric.measures[0].key;
            assert!(metric.seconds > 0.0 && !metric.summary.is_empty(), "{}", metric.name);
            let names = std::slice::from_ref(&metric.name);
            check_metrics(MetricSelection { names, asked: &[("main_metric", main)], ..Default::default() })
                .unwrap();
            let is_refused = each_metric(std::slice::from_ref(&metric.name), None).is_err();
            assert_eq!(is_refused, metric.absence.is_some(), "{}", metric.name);
        }
        let known = |name: &String| all.iter().any(|metric| metric.name == *name);
        let coco = offered_suites().into_iter().find(|suite| suite.name == "coco").unwrap();
        assert!(coco.metrics.len() == 5 && coco.metrics.iter().all(known), "{coco:?}");
    }

    #[test]
    fn only_a_measure_of_a_chosen_metric_is_one() {
        let check = |names: &[&str], key: &str| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let asked = &[("main_metric", key)];
            check_metrics(MetricSelection { names: &names, asked, ..Default::default() })
                .map_err(|error| error.to_string())
        };
        // Every measure of every metric, and what only begins like one.
        for metric in offered(None).unwrap() {
            for OfferedMeasure { key, .. } in &metric.measures {
                assert_eq!(check(&[&metric.name], key), Ok(()));
                for other in [format!("{key}x"), format!("{key}:lang=de"), key[..key.len() - 1].to_owned()] {
                    let is_other_measure = metric.measures.iter().any(|measure| measure.key == other);
                    assert!(is_other_measure || check(&[&metric.name], &other).is_err(), "{other}");
                }
            }
        }
        for (names, key) in [(&["coco"][..], "meteor"), (&[], "spice"), (&["spice", "bleu"], "bleu-4")] {
            assert_eq!(check(names, key), Ok(()));
        }
        assert_eq!(check(&["meteor", "meteor:lang=de"], "meteor:lang=de"), Ok(()));
        for (names, key) in
            [(&["coco"][..], "meteorx"), (&["spice"], "spicee"), (&["meteor"], "spice"), (&[], "ter")]
        {
            let refused = check(names, key).unwrap_err();
            let nearest = match key {
                "meteorx" => Some("meteor"),
                "spicee" => Some("spice"),
                _ => None,
            };
            let asks = refused.rsplit_once(": did you mean ").map(|(_, asked)| asked.trim_end_matches('?'));
            assert_eq!(asks, nearest, "{refused}");
            assert!(
                refused.starts_with(&format!("main_metric is `{key}`, but the metrics give ")),
                "{refused}"
            );
        }
        assert!(check(&["meteorx"], "meteor").unwrap_err().contains("no metric is called"));
    }

    #[test]
    fn the_cost_of_a_metric_is_that_of_its_kind() {
        // A form of dense captions has no card.
        for metric in offered(None).unwrap().iter().filter(|metric| !metric.name.starts_with(FAMILY)) {
            assert_eq!(metric.seconds, find(&metric.name).unwrap().seconds, "{}", metric.name);
        }
    }

    #[test]
    fn metrics_suit_the_language_of_references() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = |given: &[&str], language: &str, tokenizer| unsuited(&names(given), language, tokenizer);
        let english_only = |metrics: &[&str], others: &[&str]| {
            Some(UnsuitedMetrics::EnglishOnly { metrics: names(metrics), others: names(others) })
        };
        for language in ["en", "en-GB", "EN"] {
            assert_eq!(found(&["coco", "spider"], language, None), None);
        }
        let coco = english_only(&["meteor", "spice"], &["bleu", "rouge-l", "cider-d"]);
        assert_eq!(found(&["coco"], "zh", Some("zh")), coco);
        assert_eq!(found(&["spice"], "de", None), english_only(&["spice"], &[]));
        assert_eq!(found(&["meteor:lang=de", "bleu"], "de", None), None);
        let unspaced = |metrics: &[&str], tokenizer| {
            Some(UnsuitedMetrics::NoSpaces { metrics: names(metrics), tokenizer })
        };
        assert_eq!(found(&["bleu:tok=zh", "cider-d", "chrf"], "zh-TW", None), unspaced(&["cider-d"], "zh"));
        assert_eq!(found(&["bleu"], "ja", None), unspaced(&["bleu"], "char"));
        assert_eq!(found(&["bleu"], "ja", Some("char")), None);
        assert_eq!(found(&["chrf"], "zh", None), None);
    }

    #[test]
    fn what_is_missing_is_no_reason_to_leave_a_metric_out() {
        let folder = tempfile::tempdir().unwrap();
        for names in [&[][..], &["coco".to_owned()], &["meteor".to_owned()]] {
            let metrics =
                Metrics { names: names.to_vec(), data: Some(folder.path().to_owned()), ..Metrics::default() };
            let error = metrics.resources().err().unwrap().to_string();
            assert!(error.contains("run `capeval-server data install meteor`"), "{names:?}: {error}");
            assert_eq!(error.contains("data install spice"), names.first().is_none_or(|name| name == "coco"));
        }
    }

    #[test]
    fn every_metric_with_data_opens_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("meteor-1.5.bin"), "damaged").unwrap();
        for name in ["meteor", "spice", "spider"] {
            let metrics = Metrics {
                names: vec![name.to_owned()],
                data: Some(folder.path().to_owned()),
                ..Metrics::default()
            };
            let error = metrics.resources().err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("meteor-1.5.bin"), "{name}: {error}");
        }
    }
}
