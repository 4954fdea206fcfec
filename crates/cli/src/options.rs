//! Options that several commands share.

use std::ffi::OsStr;
use std::sync::LazyLock;

use anyhow::Result;
use capeval::choice::{Choice, UnknownName, suggest};
use capeval::corpus::{self, Captions, Empty, Format, Ids, Missing, ReadOptions, Role, SegmentId, Surplus};
use capeval::evaluate::registry::SUITES;
use capeval::metric::Family;
use capeval::report::{Measure, RankTies, Study};
use capeval::text::tokenizers;
use capeval::{
    Cleaning, IdfSource, MetricOptions, NonCaption, PairingCheck, ReferenceSource, ScoreOptions, Several,
};
use capeval_files::DataFiles;
use capeval_outside::cards;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rayon::prelude::*;

use crate::fault::{fault, sentence};
use crate::input;
use crate::written_flags::WrittenFlags;

/// The heading of flags about how references are read.
pub const READING_REFERENCES: &str = "Reading references";

/// The heading of flags about how candidates are read.
pub const READING_CANDIDATES: &str = "Reading candidates";

/// The heading of flags about mismatches.
pub const MISMATCHES: &str = "Mismatches between candidates and references";

/// The heading of flags about scores that were computed before.
pub const GIVEN_SCORES: &str = "Given scores";

/// The heading of flags about groups of images.
pub const GROUPS: &str = "Groups of images";

/// The heading of flags about metrics.
pub const METRICS: &str = "Metrics";

/// How references are read.
#[derive(clap::Args)]
#[command(next_help_heading = READING_REFERENCES)]
pub struct ReferenceInput {
    /// Format of the references, instead of detecting it from their content; see `capeval convert --help`.
    #[arg(long, value_name = "FORMAT", value_parser = choices::<Format>(), hide_possible_values = true)]
    ref_format: Option<Format>,
    /// Splits of a Karpathy file to use, such as test; may be repeated.
    #[arg(long, value_name = "SPLIT", value_delimiter = ',')]
    split: Option<Vec<String>>,
    /// Column or key of the image id in the references.
    #[arg(long, value_name = "NAME")]
    ref_id_column: Option<String>,
    /// Column or key of captions in the references; may be repeated.
    #[arg(long = "ref-caption-column", value_name = "NAME", value_delimiter = ',')]
    ref_caption_columns: Option<Vec<String>>,
    /// Leave out references whose key is true, such as is_rejected, or has a value, as in lang=de; may be
    /// repeated, and `none` leaves none out, also with a kit.
    #[arg(long, value_name = "KEY[=VALUE]")]
    pub ref_drop: Vec<String>,
    /// Read captions of more than 1 MB, pipes of more than 100 MB, and compressed data that decompress to more than 64
    /// MB and 50 times their size.
    #[arg(long)]
    pub no_limits: bool,
}

impl ReferenceInput {
    /// The column of ids, or a template, if it is named.
    pub fn id_column(&self) -> Option<&str> {
        self.ref_id_column.as_deref()
    }

    /// The options for the reader.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.ref_format,
            split: self.split.clone(),
            id_column: self.ref_id_column.clone(),
            caption_columns: self.ref_caption_columns.clone(),
            drop: self.ref_drop.clone(),
            no_limits: self.no_limits,
            ..ReadOptions::references()
        }
    }

    /// Reads references from files, and merges them.
    pub fn read(&self, paths: &[String]) -> Result<Captions> {
        let options = self.options();
        let files: Result<_, _> =
            paths.par_iter().map(|path| capeval_files::captions(path, &options)).collect();
        self.merge(files?)
    }

    fn merge(&self, files: Vec<Captions>) -> Result<Captions> {
        Ok(corpus::merge(files, Role::References)?)
    }
}

impl WrittenFlags<ReferenceInput> {
    /// As [`ReferenceInput::read`]; or opens a file of prepared references.
    pub fn open(&self, paths: &[String]) -> Result<ReferenceSource> {
        let [path] = paths else { return Ok(self.read(paths)?.into()) };
        Ok(match capeval_files::references(path, &self.options())? {
            capeval_files::ReferenceFile::Captions(captions) => self.merge(vec![captions])?.into(),
            capeval_files::ReferenceFile::Prepared(prepared) => {
                if let Some(flag) = self.first_but(&["--no-limits"]) {
                    return Err(fault(
                        format!("{flag} has no effect on prepared references, which are read already"),
                        "leave it out, or give it to `capeval prepare`",
                    ));
                }
                ReferenceSource::Prepared { prepared, source: path.clone() }
            }
        })
    }
}

/// The references that systems are scored against, and the images to score.
#[derive(clap::Args)]
pub struct ReferenceFiles {
    /// File of references, `-` for standard input; may be repeated. For plain text, give one file per reference of an
    /// image.
    #[arg(short, long, value_name = "FILE", required = true)]
    pub references: Vec<String>,
    /// File with the ids of the images to score, one per line or as a JSON array [default: all images].
    #[arg(long, value_name = "FILE")]
    images: Option<String>,
    #[command(flatten)]
    reading: WrittenFlags<ReferenceInput>,
}

impl ReferenceFiles {
    /// All input files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.references.iter().chain(&self.images).map(String::as_str)
    }

    /// The images to score; `None` for all.
    pub fn images(&self) -> Result<Option<Vec<SegmentId>>> {
        self.images.as_deref().map(input::ids).transpose()
    }

    /// Opens the references.
    pub fn open(&self) -> Result<ReferenceSource> {
        self.reading.open(&self.references)
    }

    /// Opens references and candidates that stand in one file; `None` if it has not both.
    pub fn open_both(
        &self,
        path: &str,
        candidates: &Candidates,
        ids: Ids,
    ) -> Result<Option<(Captions, Captions)>> {
        let (references, candidates) = (self.reading.options(), candidates.options(self.no_limits()));
        Ok(capeval_files::both_sides(path, [&references, &candidates], ids)?)
    }

    /// Returns true if files may be larger than the limits.
    pub fn no_limits(&self) -> bool {
        self.reading.no_limits
    }

    /// The column of ids, or a template, if it is named.
    pub fn id_column(&self) -> Option<&str> {
        self.reading.id_column()
    }

    /// The references to leave out.
    pub fn dropped(&self) -> &[String] {
        &self.reading.ref_drop
    }

    /// The first of the flags about references on the command line.
    pub fn first_written(&self) -> Option<&str> {
        if self.references.is_empty() { self.reading.first_but(&[]) } else { Some("--references") }
    }
}

/// The choice of metrics.
#[derive(clap::Args)]
#[command(next_help_heading = METRICS)]
pub struct Metrics {
    /// Metrics, separated by commas, with settings such as cider-d:sigma=4; see `capeval metrics`. The path of a TOML
    /// file means a metric that is a program; see docs/guides/programs.md.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = Completion::Metrics, hide_possible_values = true)]
    metrics: Vec<String>,
    /// Suite of metrics; see `capeval metrics` [default: coco].
    #[arg(short, long, value_name = "NAME", value_parser = Completion::Suites, hide_possible_values = true)]
    suite: Option<String>,
    /// Tokenizer for all metrics with the setting tok; see `capeval tokenize --list` [default: depends on the metric,
    /// usually ptb].
    #[arg(short, long, value_name = "NAME", value_parser = Completion::Tokenizers, hide_possible_values = true)]
    tokenizer: Option<String>,
    /// Cache of SPICE's parses, at most 64 MB: captions in it are not parsed again, and new ones are added; `none` for
    /// no cache [default: a file in your cache folder, which `capeval data list` shows].
    #[arg(long, value_name = "FILE|none")]
    spice_cache: Option<String>,
}

impl Metrics {
    /// The options of the library, with CIDEr's document frequencies from `idf`.
    pub fn options(&self, idf: Option<IdfSource>) -> MetricOptions {
        MetricOptions {
            names: self.metrics.clone(),
            suite: self.suite.clone(),
            tokenizer: self.tokenizer.clone(),
            idf,
            ..MetricOptions::default()
        }
    }

    /// The files with data of these metrics.
    pub fn files(&self) -> DataFiles {
        DataFiles { spice_cache: self.spice_cache.clone(), uses_cache_folder: true, ..DataFiles::default() }
    }
}

/// How candidates are read.
#[derive(clap::Args)]
#[command(next_help_heading = READING_CANDIDATES)]
pub struct Candidates {
    /// Format of the candidates, instead of detecting it from their content; see `capeval convert --help`.
    #[arg(long, value_name = "FORMAT", value_parser = choices::<Format>(), hide_possible_values = true)]
    input_format: Option<Format>,
    /// Column or key of the image id in the candidates; `{scene}|{object}` makes ids of columns, and `v_{}` puts
    /// letters before those of the file.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column or key of the caption in the candidates.
    #[arg(long, value_name = "NAME")]
    caption_column: Option<String>,
    /// Leave out candidates whose key is true or has a value, as in valid=false; may be repeated.
    #[arg(long, value_name = "KEY[=VALUE]")]
    pub drop: Vec<String>,
}

impl Candidates {
    /// The column of ids, or a template, if it is named.
    pub fn id_column(&self) -> Option<&str> {
        self.id_column.as_deref()
    }

    /// The options for the reader.
    pub fn options(&self, no_limits: bool) -> ReadOptions {
        ReadOptions {
            no_limits,
            format: self.input_format,
            id_column: self.id_column.clone(),
            caption_columns: self.caption_column.clone().map(|column| vec![column]),
            drop: self.drop.clone(),
            ..ReadOptions::candidates()
        }
    }
}

/// Policies for mismatches between candidates and references.
#[derive(clap::Args)]
#[command(next_help_heading = MISMATCHES)]
pub struct Policies {
    /// Images without a candidate.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = choices::<Missing>())]
    missing: Missing,
    /// Candidates for images without references.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = choices::<Surplus>())]
    surplus: Surplus,
    /// Several candidates for one image: `error`, `first`, `last`, `best:MEASURE` for the one with the best score, as
    /// an oracle would choose, `mean` for means over them, or `each` to count each as a segment.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = several)]
    several: Several,
    /// Candidates without any words.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = choices::<Empty>())]
    empty: Empty,
    /// How to look at pairs of captions and references.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = choices::<PairingCheck>())]
    pairing: PairingCheck,
    /// Score these kinds of texts that are no captions all the same.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = choices::<NonCaption>())]
    accept: Vec<NonCaption>,
    /// Remove these kinds of text from candidates and references before they are scored; the signature says it.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = choices::<Cleaning>())]
    clean: Vec<Cleaning>,
    #[command(flatten)]
    matching: Matching,
}

fn several(text: &str) -> Result<Several, String> {
    text.parse().map_err(|unknown: UnknownName| sentence(&unknown.into()))
}

impl Policies {
    /// The way to compare ids.
    pub fn ids(&self) -> Ids {
        self.matching.ids
    }

    /// `options` with these policies.
    pub fn apply(&self, options: ScoreOptions) -> ScoreOptions {
        let Self { missing, surplus, several, empty, pairing, accept, clean, matching } = self;
        ScoreOptions {
            missing: *missing,
            surplus: *surplus,
            several: several.clone(),
            empty: *empty,
            pairing: *pairing,
            accept: accept.clone(),
            clean: clean.clone(),
            ids: matching.ids,
            ..options
        }
    }
}

/// How ids are compared.
#[derive(Clone, Copy, clap::Args)]
pub struct Matching {
    /// How to compare ids.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = choices::<Ids>())]
    pub ids: Ids,
}

/// The order of systems.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Order {
    /// Sort the systems by a measure such as cider-d, best first, with their ranks; `compare` ranks with --all-pairs
    /// only.
    #[arg(long, value_name = "KEY", value_parser = Completion::Measures, hide_possible_values = true)]
    sort: Option<String>,
    /// Rank the systems over several measures, with what breaks ties behind it, such as 'points(cider-d, meteor,
    /// bleu-4), cider-d': ranks (their sum), mean-rank, points (3, 2 and 1) or wins (less losses).
    #[arg(long, value_name = "RULE", conflicts_with = "sort")]
    rank_by: Option<String>,
    /// Ranks of systems with equal scores by a measure.
    #[arg(long, value_name = "HOW", default_value = "least", requires = "rank_by", value_parser = choices::<RankTies>())]
    rank_ties: RankTies,
}

impl Order {
    /// Sorts or ranks the systems of a result, if that is requested.
    pub fn apply(&self, study: &mut dyn Study) -> Result<()> {
        if let Some(text) = &self.rank_by {
            let Some(report) = study.details().report() else {
                let message = format!("--rank-by: there are no systems in a {}", study.kind().name);
                return Err(fault(message, "leave it out"));
            };
            let rule = report.rank_rule(text, self.rank_ties)?;
            study.rank_by(&rule);
            return Ok(());
        }
        let Some(key) = &self.sort else { return Ok(()) };
        if study.sort_by(key).is_some() {
            return Ok(());
        }
        match study.details().report() {
            Some(report) => Err(unknown_measure("--sort", key, &report.head.measures)),
            None => {
                Err(fault(format!("--sort: there are no systems in a {}", study.kind().name), "leave it out"))
            }
        }
    }
}

/// The first of `flags` that is set.
pub fn first_set(flags: &[(bool, &'static str)]) -> Option<&'static str> {
    flags.iter().find(|(is_set, _)| *is_set).map(|(_, flag)| *flag)
}

/// An error that `flag` names no measure of `known`.
pub fn unknown_measure(flag: &str, key: &str, known: &[Measure]) -> anyhow::Error {
    let known = suggest(key, known.iter().map(|measure| measure.key.as_str()));
    fault(format!("{flag}: no measure is called '{key}'"), known.to_string())
}

/// Names that shells complete. The parser takes any text, since the library reads it: names have settings.
#[derive(Clone, Copy)]
pub enum Completion {
    /// Metrics and suites.
    Metrics,
    /// Metrics of whole systems.
    CorpusMetrics,
    AllMetrics,
    /// Measures of metrics by their default settings.
    Measures,
    Suites,
    Tokenizers,
}

impl TypedValueParser for Completion {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let named = |is_wanted: fn(Family) -> bool| {
            cards().iter().filter(move |card| is_wanted(card.family)).map(|card| (card.name, card.summary))
        };
        let metrics = || named(|family| family != Family::Systems);
        let of_systems = || named(|family| family == Family::Systems);
        let suites = || SUITES.iter().map(|suite| (suite.name, suite.summary));
        let known: Vec<(&str, &str)> = match self {
            Self::Metrics => {
                let is_new = |(name, _): &(&str, &str)| metrics().all(|(metric, _)| metric != *name);
                metrics().chain(suites().filter(is_new)).collect()
            }
            Self::CorpusMetrics => of_systems().collect(),
            Self::AllMetrics => metrics().chain(of_systems()).collect(),
            Self::Measures => MEASURES.iter().map(|(key, label)| (key.as_str(), label.as_str())).collect(),
            Self::Suites => suites().collect(),
            Self::Tokenizers => tokenizers::ALL
                .iter()
                .chain(tokenizers::WITH_DICTIONARY)
                .map(|(_, name, summary)| (*name, *summary))
                .collect(),
        };
        Some(Box::new(known.into_iter().map(|(name, summary)| PossibleValue::new(name).help(summary))))
    }
}

/// The keys and labels of all measures of captions by the default settings of their metrics.
static MEASURES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let of_captions = cards().iter().filter(|card| card.family != Family::Systems);
    of_captions.flat_map(|card| &card.parts).map(|part| (part.key.clone(), part.label.clone())).collect()
});

/// A parser for a closed set of names, which help and shells list with their summaries.
pub fn choices<T: Choice>() -> impl TypedValueParser<Value = T> {
    listed(T::ALL.iter().copied())
}

fn listed<T: Choice>(choices: impl Iterator<Item = T>) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(choices.map(|choice| PossibleValue::new(choice.name()).help(choice.summary())))
        .try_map(|word| word.parse::<T>())
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, CommandFactory};

    use crate::Cli;

    /// Calls `visit` with every command and each of its arguments that takes values.
    fn visit(command: &Command, visitor: &mut impl FnMut(&Command, &Arg)) {
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            visitor(command, arg);
        }
        command.get_subcommands().for_each(|command| visit(command, visitor));
    }

    /// Commands for shells, not people: clap_complete's list of shells has no summaries.
    const WITHOUT_SUMMARIES: &[&str] = &["completions", "help"];

    #[test]
    fn help_lists_every_value_of_a_closed_choice_with_a_summary() {
        let mut n_choices = 0;
        visit(&Cli::command(), &mut |command, arg| {
            let values = arg.get_possible_values();
            if arg.is_hide_possible_values_set() {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let says_where =
                    ["see ", "Metrics", "Suite", "Measures", "measure", "compare all tokenizers"];
                assert!(
                    says_where.iter().any(|word| help.contains(word)),
                    "{}: {arg}: {help}",
                    command.get_name()
                );
            } else if !WITHOUT_SUMMARIES.contains(&command.get_name()) {
                n_choices += usize::from(!values.is_empty());
                for value in values {
                    let name = value.get_name();
                    assert!(
                        value.get_help().is_some(),
                        "{}: {arg} {name} has no summary",
                        command.get_name()
                    );
                }
            }
        });
        assert!(n_choices > 20, "only {n_choices}");
    }

    #[test]
    fn prose_of_flags_does_not_retell_their_values() {
        visit(&Cli::command(), &mut |command, arg| {
            let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
            let is_word = |c: char| c.is_alphanumeric() || c == '-';
            let words: Vec<&str> = help.split(|c| !is_word(c)).collect();
            let values = arg.get_possible_values();
            let retold = values.iter().filter(|value| words.contains(&value.get_name())).count();
            let is_open = arg.is_hide_possible_values_set();
            assert!(is_open || retold == 0, "{}: {}: {help}", command.get_name(), arg.get_id());
        });
    }
}
