//! `capeval meta`: benchmarks of metrics by name.

use std::io::{self, Write};

use anyhow::Result;
use capeval::report::{fixed, wrapped};
use capeval::stats::Resampling;
use capeval_meta::{self as meta, Benchmark, Form, MetaOptions, MetaRequest, Task};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::metrics::Format;
use crate::data;
use crate::external_scores::GivenArgs;
use crate::fault::sentence;
use crate::messages;
use crate::metrics::{ChosenMetrics, MetricArgs};
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::progress::Bar;
use crate::resampling_args;
use crate::written_flags::WrittenFlags;

/// Evaluate metrics on benchmarks of human ratings, by name
#[derive(clap::Subcommand)]
pub enum Args {
    /// List the benchmarks
    List {
        /// Output format.
        #[arg(short, long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show details of benchmarks: their files, how they are read, and published values
    Show {
        /// Names of benchmarks; see `capeval meta list`.
        #[arg(value_name = "NAME", required = true, value_parser = names(), hide_possible_values = true)]
        names: Vec<&'static Benchmark>,
        /// Output format.
        #[arg(short, long, value_enum, default_value_t)]
        format: Format,
    },
    Run(Box<Run>),
}

/// Run metrics on benchmarks, and compare them with each other and with published values
///
/// The files of each benchmark are found in a folder, by name or by content, compressed or not, and in archives; see
/// `capeval meta show NAME`. The table shows each metric's customary coefficient with an interval, the published value,
/// and letters: metrics that share a letter do not differ significantly on the same ratings.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, mut_arg("segments", |arg| arg.help(SEGMENTS)), mut_arg("scores", |arg| arg.help(SCORES)), mut_arg("percent", |arg| arg.hide(true)), mut_arg("digits", |arg| arg.help(DIGITS)))]
pub struct Run {
    /// Names of benchmarks; see `capeval meta list`.
    #[arg(value_name = "NAME", required = true, value_parser = names(), hide_possible_values = true)]
    names: Vec<&'static Benchmark>,
    /// Folder with the files of the benchmarks.
    #[arg(long, value_name = "DIR")]
    data: String,
    /// Run even if files contain other numbers of captions than the published ones.
    #[arg(long)]
    subset: bool,
    /// Exit with code 1 if a published value is not met.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    metrics: WrittenFlags<MetricArgs>,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    tests: Tests,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Confidence intervals and tests")]
struct Tests {
    /// Level of intervals and tests in percent [default: 95].
    #[arg(long, value_name = "LEVEL", value_parser = resampling_args::level)]
    ci: Option<f64>,
    /// Number of resamples of the images [default: 1000].
    #[arg(long, value_name = "N", value_parser = resampling_args::resamples)]
    resamples: Option<usize>,
    /// Seed of the resamples; the same seed gives the same digits on every machine [default: 12345].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Show every pair of metrics: their difference with its interval, p-values, and Williams' test.
    #[arg(long)]
    differences: bool,
}

const SEGMENTS: &str = "Write every rated caption and pair with its scores to this file, as JSON Lines; `-` for standard \
                        output";

const SCORES: &str = "File of scores that were computed before, with columns image_id and caption; may be repeated. NAME is a \
                      benchmark if they are only of that one; see docs/guides/own-scores.md";

const DIGITS: &str = "Digits after the decimal point in table, markdown and latex; the other formats write all digits \
                      [default: 1]";

const AFTER_HELP: &str = "\
Coefficients are multiplied by 100 in tables, markdown and latex.

Examples:
  capeval meta run flickr8k-expert flickr8k-cf --data flickr8k \\
    -m bleu,meteor,rouge-l,cider-d,spice
  capeval meta run composite --data DIR --scores clip.csv --html page.html
  capeval meta run pascal-50s thumb --data DIR -m cider-d,spice -f latex
  capeval meta run flickr8k-cf --data DIR -m meteor --check";

/// A parser for the names of benchmarks.
fn names() -> impl TypedValueParser<Value = &'static Benchmark> {
    PossibleValuesParser::new(meta::names())
        .try_map(|name| meta::benchmark(&name).map_err(|refusal| sentence(&refusal)))
}

/// Runs the command; the exit code.
pub fn run(args: &Args) -> Result<u8> {
    match args {
        Args::List { format } => list(*format)?,
        Args::Show { names, format } => show(names, *format)?,
        Args::Run(args) => return args.run(),
    }
    Ok(0)
}

/// An error of a benchmark, in whose place the one behind it is shown with its remedy.
fn failed(error: meta::Error) -> anyhow::Error {
    match error {
        meta::Error::Files(error) => error.into(),
        meta::Error::Engine(error) => error.into(),
    }
}

impl Run {
    fn run(&self) -> Result<u8> {
        let chosen = self.choose()?;
        let mut inputs: Vec<&str> = self.given.paths().collect();
        inputs.extend(chosen.files.paths());
        let output = self.output.open(&inputs)?;
        let (metrics, resources, caches) = chosen.read()?;
        let is_benchmark = |name: &str| meta::benchmark(name).ok().map(|benchmark| benchmark.name.clone());
        let scores = self.given.read_of(is_benchmark)?;
        let usual = MetaOptions::default();
        let Tests { ci, resamples, seed, differences } = &self.tests;
        let Resampling { resamples: usual_resamples, seed: usual_seed, level } = usual.intervals;
        let bar = Bar::new();
        let mut report = meta::run(MetaRequest {
            benchmarks: self.names.clone(),
            data: self.data.clone(),
            scores: scores
                .into_iter()
                .map(|(benchmark, scores)| meta::BenchmarkScores { benchmark, scores })
                .collect(),
            options: MetaOptions {
                metrics,
                lower_is_better: self.given.lower_is_better.clone(),
                intervals: Resampling {
                    resamples: resamples.unwrap_or(usual_resamples),
                    seed: seed.unwrap_or(usual_seed),
                    level: ci.unwrap_or(level),
                },
                subset: self.subset,
                differences: *differences,
            },
            resources,
            progress: &bar,
        })
        .map_err(failed)?;
        let saved = data::save(caches);
        let unmet = report.unmet();
        output.write(&mut report, bar)?;
        saved?;
        if !self.check || unmet.is_empty() {
            return Ok(0);
        }
        for words in unmet {
            messages::say(&format!("not met: {words}"));
        }
        Ok(1)
    }

    /// Chooses the metrics: beside given scores none, unless some are named.
    fn choose(&self) -> Result<ChosenMetrics> {
        let chosen = self.choose_metrics()?;
        self.metrics.refuse_unseen(chosen.looks, false)?;
        Ok(chosen)
    }

    fn choose_metrics(&self) -> Result<ChosenMetrics> {
        let options = self.metrics.options();
        if self.given.any() && !options.are_chosen() {
            crate::external_scores::refuse_without_metrics([self.metrics.first_of_data()])?;
            return Ok(ChosenMetrics::default());
        }
        let chosen = self.metrics.choose(options)?;
        chosen.check_early()?;
        Ok(chosen)
    }
}

fn list(format: Format) -> Result<()> {
    let output = Output::open(None, &[])?;
    if format == Format::Json {
        return output.write(|out| json(meta::benchmarks(), out));
    }
    let width = output.width().unwrap_or(usize::MAX);
    let longest = meta::benchmarks().iter().map(|benchmark| benchmark.name.len()).max().unwrap_or(0);
    output.write(|out| {
        for benchmark in meta::benchmarks() {
            let Benchmark { name, title, coefficient, rated, read, .. } = benchmark;
            let head = format!("{name:longest$}  ");
            let text = format!("{title}, {}: {rated} (read: {read})", coefficient.label());
            writeln!(out, "{}", wrapped(&head, &text, &" ".repeat(longest + 2), width))?;
        }
        Ok(())
    })
}

fn json(value: &(impl serde::Serialize + ?Sized), out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

fn show(benchmarks: &[&'static Benchmark], format: Format) -> Result<()> {
    let output = Output::open(None, &[])?;
    if format == Format::Json {
        return output.write(|out| json(benchmarks, out));
    }
    let width = output.width().unwrap_or(usize::MAX);
    output.write(|out| {
        for (k, benchmark) in benchmarks.iter().enumerate() {
            if k > 0 {
                writeln!(out)?;
            }
            describe(benchmark, width, out)?;
        }
        Ok(())
    })
}

/// The width of the names of fields.
const FIELD: usize = 13;

fn describe(benchmark: &Benchmark, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut field = |name: &str, text: &str| {
        let head = format!("  {name:FIELD$}");
        writeln!(out, "{}", wrapped(&head, text, &" ".repeat(FIELD + 2), width))
    };
    let Benchmark { name, title, rated, paper, coefficient, origin, read, .. } = benchmark;
    let address = |url: &Option<String>| url.as_ref().map_or_else(String::new, |url| format!(", {url}"));
    field(name, title)?;
    field("rated", rated)?;
    field("paper", &format!("{}{}", paper.cite, address(&paper.url)))?;
    field("coefficient", coefficient.label())?;
    if benchmark.task == Task::Pairs {
        let pairs = &benchmark.pairs;
        let references = pairs.references.map_or_else(|| "all".to_owned(), |n| n.to_string());
        let rules = format!(
            "references for each pair: {references}, draws: {}, human ties: {}, metric ties: {}",
            pairs.draws, pairs.human_ties, pairs.metric_ties
        );
        field("pairs", &rules)?;
    } else {
        field("points", &format!("one for each {}", benchmark.unit))?;
    }
    field("from", origin)?;
    field("read", &read.to_string())?;
    for note in &benchmark.notes {
        field("note", note)?;
    }
    for reading in &benchmark.readings {
        field("files", &files(reading))?;
        field("", &rules(benchmark, reading))?;
    }
    for published in &benchmark.published {
        let place = published.r#where.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
        let of = published.category.as_ref().map_or_else(String::new, |category| format!(" {category}"));
        let values = published.values.iter().map(|(metric, value)| {
            let settings =
                published.settings.get(metric).map_or_else(String::new, |spec| format!(" (-m {spec})"));
            format!("{} {value}{settings}", meta::label(metric))
        });
        let scale = if published.scale == 100 { " times 100" } else { "" };
        let values: Vec<String> = values.collect();
        let head = format!("{}{of}{scale}, {}{place}: ", published.coefficient.label(), published.source);
        field("published", &format!("{head}{}", values.join(", ")))?;
    }
    for known in &benchmark.known {
        let text = format!(
            "{} {}, {}: {} is measured, since {}",
            meta::label(&known.metric),
            known.coefficient.label(),
            known.source,
            known.measured,
            known.why
        );
        field("known", &text)?;
    }
    for (name, source) in &benchmark.sources {
        field("source", &format!("{name}: {}{}", source.cite, address(&source.url)))?;
    }
    Ok(())
}

/// The files of a reading with their roles and checksums.
fn files(reading: &meta::Reading) -> String {
    let file = |file: &meta::File| {
        let names = file.names.join(if file.all { ", " } else { " or " });
        let role = serde_json::to_value(file.role).ok();
        let role = role.and_then(|role| role.as_str().map(str::to_owned)).unwrap_or_default();
        let sum = file.sha256.first().map_or_else(String::new, |sum| format!(", sha256 {}…", &sum[..12]));
        let optional = if file.optional { ", optional" } else { "" };
        format!("{names} ({role}{optional}{sum})")
    };
    let files: Vec<String> = reading.files.iter().map(file).collect();
    format!("{}: {}", reading.name, files.join("; "))
}

/// How a reading is read.
fn rules(benchmark: &Benchmark, reading: &meta::Reading) -> String {
    let columns = &reading.columns;
    let named = [
        ("image", &columns.image),
        ("caption", &columns.caption),
        ("references", &columns.references),
        ("system", &columns.system),
        ("rating", &columns.rating),
    ];
    let named = named.iter().filter(|(_, names)| !names.is_empty());
    let named: Vec<String> = named.map(|(what, names)| format!("{what} in {}", names.join(" or "))).collect();
    let mut parts = vec![format!("own references: {}", reading.own_reference)];
    if !named.is_empty() {
        parts.push(named.join(", "));
    }
    if let Some(out) = &reading.leave_out {
        parts.push(format!("without rows whose {} is {}", out.column, out.value));
    }
    if reading.form == Form::Objects
        && let Some(pick) = reading.pick
    {
        parts.push(format!("number {} of each list is the rating", fixed((pick + 1) as f64, 0)));
    }
    let tried = reading.read.unwrap_or(benchmark.read);
    parts.push(format!("read: {tried}"));
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use capeval::choice::Dialect as _;
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;
    use crate::fault::Flags;

    #[test]
    fn every_benchmark_can_be_described_in_a_narrow_terminal() {
        for benchmark in meta::benchmarks() {
            let mut text = Vec::new();
            describe(benchmark, 60, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains(&benchmark.title) && text.contains("own references"), "{text}");
        }
    }

    #[test]
    fn a_run_has_every_argument_that_its_errors_may_advise() {
        let mut all = Cli::command();
        all.build();
        let run = all.find_subcommand("meta").and_then(|meta| meta.find_subcommand("run")).unwrap();
        for argument in meta::ARGUMENTS {
            let flag = Flags::Usual.name(*argument);
            let has = run.get_arguments().any(|arg| arg.get_long() == flag.strip_prefix("--"));
            assert!(has, "{flag}");
        }
    }
}
