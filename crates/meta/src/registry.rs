//! The registry of benchmarks of metrics: files of data in the tree, one for each benchmark.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use capeval::OwnReference;
use capeval::choice::{Refusal, suggest};
use capeval::report::{HumanTies, MetricTies, Unit};
use serde::{Deserialize, Serialize};

use crate::coefficient::Coefficient;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../benchmarks/", $name, ".toml")))),*]
    };
}

/// The files, in the order in which benchmarks are listed.
const FILES: &[(&str, &str)] = files![
    "flickr8k-expert",
    "elliott-keller-2014",
    "flickr8k-cf",
    "composite",
    "pascal-50s",
    "thumb",
    "thumb-machine",
    "polaris",
    "nebula",
    "foil",
    "foil-1-ref",
    "capeval1k",
    "msvd-eval",
    "longcap-arena-a-desc",
    "longcap-arena-a-rel",
    "longcap-arena-a-flu",
    "longcap-arena-b-desc",
    "longcap-arena-b-rel",
    "longcap-arena-b-flu",
];

/// The names of metrics that capeval does not have.
const OTHERS: &str = include_str!("../benchmarks/metrics.toml");

/// A benchmark of metrics.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// The name by which it is run.
    pub name: String,
    /// Its name in papers.
    pub title: String,
    /// The rated things, the raters, and the scale.
    pub rated: String,
    /// The task: captions are rated or compared in pairs.
    pub task: Task,
    /// The unit of a point of a correlation.
    #[serde(default)]
    pub unit: Unit,
    /// The coefficient that papers print.
    pub coefficient: Coefficient,
    /// The source of the files.
    pub origin: String,
    /// The test of the reader on the real file.
    pub read: ReaderTest,
    /// Other facts.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The paper with the data.
    pub paper: Source,
    /// The content of the real files.
    #[serde(default)]
    pub expected: ExpectedCounts,
    /// The way to score pairs.
    #[serde(default)]
    pub pairs: Pairs,
    /// The forms in which the data are found; the first that is there is read.
    #[serde(rename(deserialize = "reading", serialize = "readings"))]
    pub readings: Vec<Reading>,
    /// The sources of published values, by name.
    #[serde(default)]
    pub sources: BTreeMap<String, Source>,
    /// The values that papers print; for each metric, tables show the first.
    #[serde(default)]
    pub published: Vec<PublishedValues>,
    /// Published values that the real data are known not to give.
    #[serde(default)]
    pub known: Vec<KnownMismatch>,
}

/// The task of the people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// They rated captions.
    Ratings,
    /// They chose one of two captions.
    Pairs,
}

/// The test of a reader: on the real file, or only on a small one of the documented form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum ReaderTest {
    /// On the real file.
    #[default]
    #[serde(rename = "tried")]
    Yes,
    /// On a small file of the documented form.
    #[serde(rename = "not tried on the real file")]
    No,
}

impl fmt::Display for ReaderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "tried",
            Self::No => "not tried on the real file",
        })
    }
}

/// A paper, or another source of values.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The publication: who published what, and where.
    pub cite: String,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The numbers of things in the real files, where known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCounts {
    /// Images, or videos.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<usize>,
    /// Rated captions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// Ratings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratings: Option<usize>,
    /// Pairs of captions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<usize>,
}

/// The way to score pairs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pairs {
    /// The number of references drawn for each pair; all if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<usize>,
    /// The number of draws.
    pub draws: usize,
    /// Pairs whose captions people prefer equally.
    pub human_ties: HumanTies,
    /// Pairs whose captions a metric scores equally.
    pub metric_ties: MetricTies,
}

/// A form in which the data are found.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Whose form it is.
    pub name: String,
    /// The way to read the files.
    pub form: Form,
    /// Rated captions that are also references of their image.
    #[serde(default)]
    pub own_reference: OwnReference,
    /// The content of the real files, if that differs from the benchmark: what is left out later is counted here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedCounts>,
    /// The test of the reader, if that differs from the benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<ReaderTest>,
    /// Use only the numbers in the names of images, as in COCO.
    #[serde(default)]
    pub numbers: bool,
    /// The place of the rating in a list of numbers, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<usize>,
    /// Rows that do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_out: Option<LeaveOut>,
    /// The files.
    #[serde(rename(deserialize = "file", serialize = "files"))]
    pub files: Vec<File>,
    /// The columns or keys, of which the first that exists is meant.
    #[serde(default)]
    pub columns: Columns,
}

/// The way to read files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// As ratings are read elsewhere.
    Ratings,
    /// As pairs are read elsewhere.
    Pairs,
    /// A row for each rated caption, with its own references or with a file of them.
    Rows,
    /// A JSON object with an object for each image.
    Objects,
    /// A line for each rated caption in each of several files.
    Lines,
    /// FOIL's annotations.
    Foil,
}

/// Rows with this value do not count.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LeaveOut {
    /// The column.
    pub column: String,
    /// The value.
    pub value: String,
}

/// A file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its content.
    pub role: Role,
    /// Its names, in which `*` stands for anything, and `/` for the folder that it is in.
    pub names: Vec<String>,
    /// The texts that a file with another name contains among its first characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
    /// The checksums of its unpacked content, where known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sha256: Vec<String>,
    /// True if all names are needed, and not any of them.
    #[serde(default)]
    pub all: bool,
    /// True if the benchmark can do without it.
    #[serde(default)]
    pub optional: bool,
}

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Rated captions.
    Ratings,
    /// Pairs of captions.
    Pairs,
    /// References.
    References,
    /// Captions without ratings.
    Candidates,
    /// Ratings without captions.
    Judgements,
    /// Ratings that replace others.
    Corrections,
}

/// Columns or keys by what is in them.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// The image; without such a column, rows with the same references are of one image.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub image: Vec<String>,
    /// The rated caption.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caption: Vec<String>,
    /// References.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The system that wrote the caption.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
    /// The rating, or several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rating: Vec<String>,
}

/// Values of one coefficient in one source.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedValues {
    /// The source.
    pub source: String,
    /// The place in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#where: Option<String>,
    /// The coefficient.
    pub coefficient: Coefficient,
    /// The category of pairs; the mean over categories if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The factor of coefficients: 100, or 1.
    #[serde(default = "hundred")]
    pub scale: u32,
    /// True if the values depend on references drawn at random, on a sample, or on training.
    #[serde(default)]
    pub by_chance: bool,
    /// The values by measure, with all printed digits.
    pub values: BTreeMap<String, String>,
    /// The settings of metrics, where they are not the usual ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

fn hundred() -> u32 {
    100
}

/// A published value that the real data are known not to give.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KnownMismatch {
    /// The source of the published value.
    pub source: String,
    /// The measure.
    pub metric: String,
    /// The coefficient.
    pub coefficient: Coefficient,
    /// The category of pairs, if the value is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The measured value, in the digits of the published one.
    pub measured: String,
    /// The reason.
    pub why: String,
}

/// A metric that capeval does not have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    label: String,
    #[serde(default)]
    also: Vec<String>,
}

/// The benchmarks, in the order in which they are listed.
static BENCHMARKS: LazyLock<Vec<Benchmark>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let read: Result<Benchmark, _> = toml::from_str(text);
        read.unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    FILES.iter().map(read).collect()
});

static OTHER_METRICS: LazyLock<BTreeMap<String, Other>> =
    LazyLock::new(|| toml::from_str(OTHERS).unwrap_or_else(|error| panic!("metrics: {error}")));

/// The names of all benchmarks, without reading what they are: the command line lists them at each start.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// All benchmarks.
pub fn benchmarks() -> &'static [Benchmark] {
    &BENCHMARKS
}

/// The benchmark of this name.
///
/// # Errors
/// If there is none; the remedy names similar ones.
pub fn benchmark(name: &str) -> Result<&'static Benchmark, Refusal> {
    let plain = name.trim().to_lowercase().replace([' ', '_'], "-");
    benchmarks().iter().find(|known| known.name == plain).ok_or_else(|| {
        Refusal::new(format!("no benchmark is called '{name}'")).with_remedy(suggest(name, names()))
    })
}

/// Benchmarks as JSON.
///
/// # Errors
/// If they cannot be written.
pub fn to_json(benchmarks: &[&Benchmark]) -> serde_json::Result<String> {
    serde_json::to_string(benchmarks)
}

/// The name of a measure in tables: the label of one that capeval lacks, or the key.
pub fn label(measure: &str) -> &str {
    OTHER_METRICS.get(measure).map_or(measure, |other| &other.label)
}

/// The key by which published values of a measure are listed: given scores have many names for one metric.
pub fn published_key(measure: &str) -> &str {
    let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let wanted = plain(measure);
    let is_meant = |(key, other): &(&String, &Other)| {
        [key.as_str(), &other.label]
            .into_iter()
            .chain(other.also.iter().map(String::as_str))
            .any(|name| plain(name) == wanted)
    };
    OTHER_METRICS.iter().find(is_meant).map_or(measure, |(key, _)| key)
}

impl Benchmark {
    /// Returns true if this reading was tried on the real file.
    pub fn tried(&self, reading: &Reading) -> ReaderTest {
        reading.read.unwrap_or(self.read)
    }

    /// The content of the files of a reading.
    pub(crate) fn expected(&self, reading: &Reading) -> ExpectedCounts {
        reading.expected.unwrap_or(self.expected)
    }

    /// The coefficients of which there are published values, the customary one first.
    pub fn coefficients(&self) -> Vec<Coefficient> {
        let mut all = vec![self.coefficient];
        for published in &self.published {
            if !all.contains(&published.coefficient) {
                all.push(published.coefficient);
            }
        }
        all
    }
}

/// A benchmark in files, by its name.
pub(crate) mod by_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Benchmark, benchmark};

    pub fn serialize<S: Serializer>(one: &Benchmark, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&one.name)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Benchmark, D::Error> {
        benchmark(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_benchmark_says_what_it_must() {
        let names: BTreeSet<&str> = benchmarks().iter().map(|benchmark| benchmark.name.as_str()).collect();
        assert_eq!(names.len(), FILES.len());
        for (benchmark, (file, _)) in benchmarks().iter().zip(FILES) {
            let name = &benchmark.name;
            assert_eq!(name, file);
            assert!(!benchmark.readings.is_empty() && !benchmark.paper.cite.is_empty(), "{name}");
            for text in [&benchmark.title, &benchmark.rated, &benchmark.origin, &benchmark.paper.cite] {
                assert!(!text.trim().is_empty() && !text.contains("  "), "{name}: {text:?}");
            }
            let is_accuracy = benchmark.coefficient == Coefficient::Accuracy;
            assert_eq!(is_accuracy, benchmark.task == Task::Pairs, "{name}");
            assert_eq!(benchmark.pairs.draws > 0, benchmark.task == Task::Pairs, "{name}");
            // A benchmark is tried if any form of its data is.
            let is_tried =
                benchmark.readings.iter().any(|reading| benchmark.tried(reading) == ReaderTest::Yes);
            assert_eq!(is_tried, benchmark.read == ReaderTest::Yes, "{name}");
        }
    }

    #[test]
    fn readings_have_the_files_and_columns_that_their_form_needs() {
        for benchmark in benchmarks() {
            for reading in &benchmark.readings {
                let place = format!("{}: {}", benchmark.name, reading.name);
                let roles: Vec<Role> = reading.files.iter().map(|file| file.role).collect();
                let columns = &reading.columns;
                match reading.form {
                    Form::Ratings => assert_eq!(roles[0], Role::Ratings, "{place}"),
                    Form::Pairs => assert_eq!(roles, [Role::Pairs], "{place}"),
                    Form::Foil => assert_eq!(roles, [Role::Pairs, Role::References], "{place}"),
                    Form::Lines => {
                        assert_eq!(roles, [Role::Judgements, Role::Candidates, Role::References], "{place}");
                    }
                    Form::Objects | Form::Rows => {
                        assert_eq!(roles[0], Role::Ratings, "{place}");
                        assert!(!columns.caption.is_empty() && !columns.rating.is_empty(), "{place}");
                        let has_references =
                            !columns.references.is_empty() || roles.contains(&Role::References);
                        assert!(has_references, "{place}");
                    }
                }
                for file in &reading.files {
                    assert!(!file.names.is_empty(), "{place}");
                    let is_sum = |sum: &String| sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
                    assert!(file.sha256.iter().all(is_sum), "{place}");
                }
            }
        }
    }

    #[test]
    fn published_values_are_numbers_of_known_metrics_and_sources() {
        let kinds: BTreeSet<String> = capeval::evaluate::registry::kinds()
            .filter_map(|kind| kind.about().ok())
            .flat_map(|about| about.parts.iter().map(|part| part.key.clone()).collect::<Vec<_>>())
            .chain(["rouge155-stem-su4-r".to_owned()])
            .collect();
        for benchmark in benchmarks() {
            for published in &benchmark.published {
                let place = format!("{}: {}", benchmark.name, published.source);
                assert!(benchmark.sources.contains_key(&published.source), "{place}");
                assert!([1, 100].contains(&published.scale), "{place}");
                for (metric, value) in &published.values {
                    assert!(
                        kinds.contains(metric) || OTHER_METRICS.contains_key(metric),
                        "{place}: {metric}"
                    );
                    let number: f64 = value.parse().unwrap();
                    assert!(
                        (number / f64::from(published.scale)).abs() <= 1.0,
                        "{place}: {metric} = {value}"
                    );
                }
                assert!(published.settings.keys().all(|key| published.values.contains_key(key)), "{place}");
            }
            for known in &benchmark.known {
                let place = format!("{}: {} of {}", benchmark.name, known.metric, known.source);
                let is_meant = |published: &&PublishedValues| {
                    published.source == known.source && published.coefficient == known.coefficient
                };
                let mut printed =
                    benchmark.published.iter().filter(is_meant).filter_map(|p| p.values.get(&known.metric));
                let printed = printed.next().unwrap_or_else(|| panic!("{place} is not published"));
                assert_ne!(*printed, known.measured, "{place}");
                assert_eq!(
                    printed.split('.').nth(1).map(str::len),
                    known.measured.split('.').nth(1).map(str::len)
                );
            }
        }
        assert_eq!(published_key("CLIPScore"), "clip-s");
        assert_eq!(published_key("RefCLIP-S"), "refclip-s");
        assert_eq!(
            (published_key("cider-d"), label("pac-s"), label("cider-d")),
            ("cider-d", "PAC-S", "cider-d")
        );
    }

    #[test]
    fn names_are_found_in_any_case_and_others_are_refused_with_similar_ones() {
        assert_eq!(benchmark("Flickr8k Expert").unwrap().name, "flickr8k-expert");
        let error = benchmark("flickr8k-exprt").unwrap_err();
        let remedy = error.remedy().map(ToString::to_string).unwrap_or_default();
        assert!(remedy.contains("flickr8k-expert"), "{error}; {remedy}");
    }
}
