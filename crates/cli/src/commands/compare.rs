//! `capeval compare`: tests whether systems differ.

use anyhow::Result;
use capeval::report::{Comparison, Report};
use capeval::stats::Resampling;
use capeval::stats::correction::Correction;
use capeval::{CompareOptions, CompareReportsRequest, Requirements, ScoreOptions};
use clap::Arg;

use super::score::Inputs;
use crate::data;
use crate::image_args::{ImageArgs, WITH_IMAGES};
use crate::options::{self, Completion, METRICS, Order, READING_REFERENCES};
use crate::output_args::{OutputArgs, ResultTarget};
use crate::progress::Bar;
use crate::requirements::{ConditionArgs, REQUIREMENTS, exit_code, saved_report};
use crate::resampling_args::{self, Draws};

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
    conditions: ConditionArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    order: Order,
    #[command(flatten)]
    images: ImageArgs,
}

/// The tests of a comparison.
#[derive(clap::Args)]
#[command(next_help_heading = "Tests")]
pub(super) struct Tests {
    /// Confidence level of intervals and verdicts, in percent.
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "95",
        default_missing_value = "95",
        value_parser = resampling_args::level
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
    /// Measures that --require better and not-worse apply to, such as bleu-4,cider-d [default: all].
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "require", help_heading = REQUIREMENTS, value_parser = Completion::Measures, hide_possible_values = true)]
    on: Vec<String>,
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
  capeval compare -r refs.json base.json new.json --require 'spice>=base-0.001'
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
                    | options::GROUPS
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
    let requirements = args.requirements()?;
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
    let code = finish(&requirements, comparison, &args.order, output, bar)?;
    saved?;
    Ok(code)
}

/// Compares systems of saved reports.
fn run_reports(args: &Args) -> Result<u8> {
    let (tests, named) = (&args.tests, args.inputs.name()?);
    let paths: Vec<&str> = named.iter().map(|named| named.path.as_str()).collect();
    let requirements = args.requirements()?;
    let output = args.output.open(&paths)?;
    let bar = Bar::new();
    let reports = named.iter().map(saved_report).collect::<Result<_>>()?;
    let comparison = tests.compare(reports, &bar)?;
    finish(&requirements, comparison, &args.order, output, bar)
}

/// Writes a comparison, and returns the exit code.
pub(super) fn finish(
    requirements: &Requirements,
    mut comparison: Comparison,
    order: &Order,
    output: ResultTarget,
    bar: Bar,
) -> Result<u8> {
    let failures = requirements.unmet_by_comparison(&comparison)?;
    order.apply(&mut comparison)?;
    output.write(&mut comparison, bar)?;
    Ok(exit_code(&failures))
}

impl Args {
    fn requirements(&self) -> Result<Requirements> {
        self.tests.requirements(&self.conditions)
    }
}

impl Tests {
    /// What is required of the comparison.
    pub(super) fn requirements(&self, conditions: &ConditionArgs) -> Result<Requirements> {
        conditions.read(&self.on)
    }

    /// Compares the systems of reports.
    pub(super) fn compare(&self, reports: Vec<Report>, bar: &Bar) -> Result<Comparison> {
        Ok(capeval::compare_reports(CompareReportsRequest {
            resampling: self.resampling(),
            correction: self.correction,
            all_pairs: self.all_pairs,
            progress: bar,
            ..CompareReportsRequest::new(reports)
        })?)
    }

    fn resampling(&self) -> Resampling {
        Resampling { level: self.ci, ..self.draws.resampling() }
    }
}
