//! `capeval compare`: whether systems differ.

use std::process::ExitCode;

use anyhow::Result;
use capeval::choice::suggest;
use capeval::report::{Comparison, Verdict};
use capeval::stats::Resampling;
use capeval::stats::correction::Correction;
use capeval::{CompareOptions, ScoreOptions};
use clap::ValueEnum;

use super::score::Inputs;
use crate::fault::fault;
use crate::html::Pages;
use crate::options::{self, Draws};
use crate::progress::Bar;
use crate::shown::Shown;

/// Tell whether systems differ: tests of significance by every metric
///
/// The first system is the baseline. Images are resampled through their statistics, so that tests of BLEU, METEOR,
/// TER and the like are about the score of the corpus, not about an average over sentences.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    tests: Tests,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    pages: Pages,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Tests")]
struct Tests {
    /// Level of confidence of intervals and verdicts, in percent.
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
    /// Correct p-values for the number of measures and pairs: none, bonferroni, holm or bh.
    #[arg(long, value_name = "HOW", default_value = "holm", value_parser = options::choices(Correction::ALL, Correction::name))]
    correction: Correction,
    /// Compare every system with every other one, not only with the first.
    #[arg(long)]
    all_pairs: bool,
    /// Exit with code 1 unless every other system is this.
    #[arg(long, value_enum, value_name = "WHAT")]
    require: Option<Requirement>,
    /// Measures that --require is about, such as bleu-4,cider-d [default: all].
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "require")]
    on: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Requirement {
    /// Significantly better than the baseline.
    Better,
    /// Not significantly worse than the baseline.
    NotWorse,
}

const AFTER_HELP: &str = "\
Tests: `randomisation` exchanges the captions of two systems image by image (paired approximate
randomisation); `bootstrap` draws images anew, and its p is that of sacreBLEU; where a score is a
mean over images, `sign` and, if at most 40 images differ, `exact` count all cases instead.
A verdict goes by `exact` where there is one, else by `randomisation`, corrected.

Exit codes: 0 fine, 1 what --require asks for does not hold, 2 error.

Examples:
  capeval compare -r refs.json base.json new.json
  capeval compare -r refs.json a.json b.json c.json --all-pairs --correction bh --format csv
  capeval compare -r refs.json base.json new.json --require not-worse --on cider-d";

/// Runs the command.
pub fn run(args: &Args) -> Result<ExitCode> {
    let tests = &args.tests;
    args.inputs.refuse_levels()?;
    let chosen = args.inputs.choose()?;
    let output = args.inputs.open(&chosen, &args.shown)?;
    let page = args.inputs.open_page(&chosen, &args.pages, &args.shown)?;
    let bar = Bar::new();
    let request = args.inputs.read(chosen, &bar)?.map(|score| CompareOptions {
        score: ScoreOptions { segments: output.wants_segments(), gallery: page.is_some(), ..score },
        resampling: Resampling { level: tests.ci, ..tests.draws.resampling() },
        correction: tests.correction,
        all_pairs: tests.all_pairs,
    });
    let comparison = capeval::compare(request)?;
    drop(bar);
    let code = if tests.hold(&comparison)? { ExitCode::SUCCESS } else { ExitCode::from(1) };
    if let Some(page) = page {
        page.write_comparison(&comparison)?;
    }
    output.write(&comparison)?;
    Ok(code)
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

impl Tests {
    /// Whether what is required holds for every pair with the baseline.
    fn hold(&self, comparison: &Comparison) -> Result<bool> {
        let Some(requirement) = self.require else { return Ok(true) };
        let measures = &comparison.report.head.measures;
        if let Some(unknown) = self.on.iter().find(|key| comparison.report.measure(key).is_none()) {
            let known = suggest(unknown, measures.iter().map(|measure| measure.key.as_str()));
            return Err(fault(format!("--on: no measure is called '{unknown}'"), known.to_string()));
        }
        let contrasts = || {
            comparison.pairs.iter().filter(|pair| pair.baseline == 0).flat_map(|pair| {
                let asked = pair.contrasts.iter().zip(measures);
                asked.filter(|(_, m)| self.on.is_empty() || self.on.contains(&m.key))
            })
        };
        if let Some((_, end)) = contrasts().find(|(c, m)| !c.has_test && self.on.contains(&m.key)) {
            return Err(fault(
                format!("--on: {} is the end of an interval, which has no test", end.key),
                "leave it out",
            ));
        }
        let contrasts = || contrasts().filter(|(contrast, _)| contrast.has_test);
        if let Some((_, measure)) = contrasts().find(|(contrast, _)| contrast.randomisation.value.is_nan()) {
            return Err(fault(
                format!("--require cannot be decided by {}: a score is not finite", measure.key),
                "pass --segments FILE to see the images behind it, or --on KEYS to name the measures that decide",
            ));
        }
        let contrasts = || contrasts().map(|(contrast, _)| contrast);
        if let Some(few) = comparison.too_few_resamples()
            && contrasts().any(|contrast| contrast.permutation.is_none())
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
        Ok(contrasts().all(|contrast| match requirement {
            Requirement::Better => contrast.verdict == Verdict::Better,
            Requirement::NotWorse => contrast.verdict != Verdict::Worse,
        }))
    }
}
