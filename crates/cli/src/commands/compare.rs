//! `capeval compare`: tests whether systems differ.

use anyhow::Result;
use capeval::choice::counted;
use capeval::report::{Comparison, Contrast, Measure, Report, Verdict};
use capeval::stats::Resampling;
use capeval::stats::correction::Correction;
use capeval::{CompareOptions, CompareReportsRequest, ScoreOptions};
use capeval_files as files;
use clap::{Arg, ValueEnum};

use super::score::Inputs;
use crate::data;
use crate::fault::fault;
use crate::image_args::{ImageArgs, WITH_IMAGES};
use crate::messages;
use crate::names::SystemFile;
use crate::options::{self, Completion, Draws, METRICS, Order, READING_REFERENCES};
use crate::output_args::{OutputArgs, Target};
use crate::progress::Bar;
use crate::results;

/// Test systems for significant differences by every metric
///
/// The first system is the baseline. Resampling draws images and sums their statistics, so tests of BLEU, METEOR,
/// TER and so on apply to corpus scores, not to averages over sentences.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, mut_arg("html", |arg| arg.help(WITH_IMAGES)))]
#[command(mut_args(refuse_beside_reports))]
#[command(mut_arg("references", |arg| arg.required_unless_present("reports")))]
pub struct Args {
    #[command(flatten)]
    inputs: Inputs,
    /// The files are reports, written with --save: compare the systems in them by image scores. Measures that are not
    /// means of these, such as BLEU, are not tested.
    #[arg(long, help_heading = options::READING_CANDIDATES)]
    reports: bool,
    #[command(flatten)]
    tests: Tests,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    order: Order,
    #[command(flatten)]
    images: ImageArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Tests")]
struct Tests {
    /// Confidence level of intervals and verdicts, in percent.
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "95",
        default_missing_value = "95",
        value_parser = options::level
    )]
    ci: f64,
    #[command(flatten)]
    draws: Draws,
    /// Correction of p-values for the number of measures and pairs.
    #[arg(long, value_name = "HOW", default_value = "holm", value_parser = options::choices::<Correction>())]
    correction: Correction,
    /// Compare every system with every other one, not only with the first.
    #[arg(long)]
    all_pairs: bool,
    /// Exit with code 1 unless this holds for every system but the baseline.
    #[arg(long, value_enum, value_name = "WHAT")]
    require: Option<Requirement>,
    /// Measures that --require applies to, such as bleu-4,cider-d [default: all].
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "require", value_parser = Completion::Measures, hide_possible_values = true)]
    on: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Requirement {
    /// It is significantly better than the baseline.
    Better,
    /// It is not significantly worse than the baseline.
    NotWorse,
}

const AFTER_HELP: &str = "\
Tests: `randomisation` swaps the captions of two systems at random, image by image (paired approximate \
randomisation). `bootstrap` resamples images; its p-value is that of sacreBLEU. If a score is a mean over images, \
`sign` is the exact sign test, and `exact` the exact permutation test if at most 40 images differ. The verdict is \
based on the corrected p-value of `exact` if there is one, and of `randomisation` otherwise.

The table of three or more systems has one row per system. With --all-pairs, systems that share a letter do not differ \
significantly; otherwise + and - are better and worse than the baseline. With --all-pairs --sort KEY, it is a \
leaderboard: the rank of a system is 1 plus the number of systems that are significantly better. Other formats also \
have the differences of all pairs, with intervals and p-values.

Exit codes: 0 success, 1 --require does not hold, 2 error.

Examples:
  capeval compare -r refs.json base.json new.json
  capeval compare -r refs.json a.json b.json c.json --all-pairs --sort cider-d
  capeval compare -r refs.json base.json new.json --require not-worse --on ter
  capeval compare --scores a.csv --scores b.csv
  capeval compare --reports monday.json tuesday.json";

/// Makes flags about captions, references and metrics conflict with `--reports`, together with which they have no
/// effect.
fn refuse_beside_reports(arg: Arg) -> Arg {
    let about_captions = match arg.get_id().as_str() {
        "names" | "reports" => false,
        "references" | "images" | "rouge_list" | "pictures" | "embed_pictures" => true,
        _ => matches!(
            arg.get_help_heading(),
            Some(
                READING_REFERENCES
                    | METRICS
                    | options::GIVEN_SCORES
                    | options::READING_CANDIDATES
                    | options::MISMATCHES
            )
        ),
    };
    if about_captions { arg.conflicts_with("reports") } else { arg }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8> {
    let tests = &args.tests;
    args.inputs.refuse_levels()?;
    if args.reports {
        return run_reports(args);
    }
    let chosen = args.inputs.choose()?;
    let output = args.inputs.open(&chosen, &args.output, &args.images)?;
    let bar = Bar::new();
    let (request, caches) = args.inputs.read(chosen, &bar)?;
    let request = request.map(|score| CompareOptions {
        score: ScoreOptions { segments: output.wants_items(), gallery: output.has_page(), ..score },
        resampling: tests.resampling(),
        correction: tests.correction,
        all_pairs: tests.all_pairs,
    });
    let comparison = capeval::compare(request)?;
    let saved = data::save(caches);
    let code = show(args, comparison, output, bar)?;
    saved?;
    Ok(code)
}

/// Compares systems of saved reports.
fn run_reports(args: &Args) -> Result<u8> {
    let (tests, named) = (&args.tests, args.inputs.name()?);
    let paths: Vec<&str> = named.iter().map(|named| named.path.as_str()).collect();
    let output = args.output.open(&paths)?;
    let bar = Bar::new();
    let reports = named.iter().map(report);
    let comparison = capeval::compare_reports(CompareReportsRequest {
        resampling: tests.resampling(),
        correction: tests.correction,
        all_pairs: tests.all_pairs,
        progress: &bar,
        ..CompareReportsRequest::new(reports.collect::<Result<_>>()?)
    })?;
    show(args, comparison, output, bar)
}

/// The saved report of a file; if it has a single system, a given name is that of the system.
fn report(SystemFile { name, path, is_given }: &SystemFile) -> Result<Report> {
    let study = files::result(path, results::kinds())?;
    let Some(mut report) = study.details().report().cloned() else {
        return Err(fault(format!("{path}: a {}, not a report", study.kind().name), "name a saved report"));
    };
    match &mut report.systems[..] {
        [system] if *is_given => system.name.clone_from(name),
        systems if *is_given => {
            return Err(fault(
                format!("{path}: one name, {name}, for {}", counted(systems.len(), "system")),
                "leave it out",
            ));
        }
        _ => {}
    }
    Ok(report)
}

/// Writes a comparison, and returns the exit code.
fn show(args: &Args, mut comparison: Comparison, output: Target, bar: Bar) -> Result<u8> {
    let failures = args.tests.failures(&comparison)?;
    args.order.apply(&mut comparison)?;
    output.write(&mut comparison, bar)?;
    failures.iter().for_each(|failure| messages::say(&format!("failed: {failure}")));
    Ok(u8::from(!failures.is_empty()))
}

impl Tests {
    fn resampling(&self) -> Resampling {
        Resampling { level: self.ci, ..self.draws.resampling() }
    }

    /// Where what is required does not hold, in words: by pair with the baseline and by measure.
    fn failures(&self, comparison: &Comparison) -> Result<Vec<String>> {
        let Some(requirement) = self.require else { return Ok(Vec::new()) };
        let measures = &comparison.report.head.measures;
        if let Some(unknown) = self.on.iter().find(|key| comparison.report.measure(key).is_none()) {
            return Err(options::unknown_measure("--on", unknown, measures));
        }
        let contrasts = || {
            comparison.pairs.iter().filter(|pair| pair.baseline == 0).flat_map(|pair| {
                let asked = pair.contrasts.iter().zip(measures);
                let asked = asked.filter(|(_, m)| self.on.is_empty() || self.on.contains(&m.key));
                asked.map(move |(contrast, measure)| (pair.system, contrast, measure))
            })
        };
        if let Some((.., end)) = contrasts().find(|(_, c, m)| !c.has_test && self.on.contains(&m.key)) {
            return Err(fault(
                format!("--on: {} is a bound of an interval, for which there is no test", end.key),
                "leave it out",
            ));
        }
        let contrasts = || contrasts().filter(|(_, contrast, _)| contrast.has_test);
        let is_undecidable =
            |(_, contrast, _): &(usize, &Contrast, &Measure)| contrast.randomisation.value.is_nan();
        if let Some((.., measure)) = contrasts().find(is_undecidable) {
            return Err(fault(
                format!("--require cannot be decided by {}: a score is not finite", measure.key),
                "pass --segments FILE to find the images that cause it, or --on KEYS to name the measures that decide",
            ));
        }
        if let Some(few) = comparison.too_few_resamples()
            && contrasts().any(|(_, contrast, _)| contrast.permutation.is_none())
        {
            return Err(fault(
                format!(
                    "--require cannot be decided with {} and {}",
                    counted(few.resamples, "resample"),
                    counted(few.tests, "test")
                ),
                format!("pass --resamples {} or more, or use fewer metrics", few.enough),
            ));
        }
        let fails = |(_, contrast, _): &(usize, &Contrast, &Measure)| match requirement {
            Requirement::Better => contrast.verdict != Verdict::Better,
            Requirement::NotWorse => contrast.verdict == Verdict::Worse,
        };
        let name = |system: usize| comparison.report.systems.get(system).map_or("", |s| s.name.as_str());
        let in_words = |(system, contrast, measure): (usize, &Contrast, &Measure)| {
            let verdict = match contrast.verdict {
                Verdict::Better => "better than",
                Verdict::Worse => "worse than",
                Verdict::Undecided => "not significantly different from",
            };
            let p = contrast.permutation.unwrap_or(contrast.randomisation).adjusted;
            let (system, baseline, difference) = (name(system), name(0), contrast.difference);
            format!("{system} is {verdict} {baseline} by {}: {difference:+.4}, p = {p:.4}", measure.key)
        };
        Ok(contrasts().filter(fails).map(in_words).collect())
    }
}
