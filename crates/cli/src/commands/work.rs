//! `capeval work`: scores the submissions to a phase on a machine of its hosts.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use capeval::choice::Refusal;
use capeval::corpus::{Captions, Ids, ReadOptions, Surplus};
use capeval::metric::Resources;
use capeval::report::SystemReport;
use capeval::{MetricOptions, ScoreOptions, ScoreRequest};
use capeval_api::client::Kind;
use capeval_api::{Claim, GivenScores, GivenValues};
use capeval_files as files;
use capeval_outside::judges::Plan;

use crate::commands::submit::{PhaseArgs, shown};
use crate::fault::fault;
use crate::metrics::MetricArgs;
use crate::options::ReferenceFiles;
use crate::output::Output;
use crate::{data, messages};

/// The time between two looks for submissions.
const PAUSE: Duration = Duration::from_secs(30);

/// The share by which the mean over images may differ from a score for the score to be that mean.
const TOLERANCE: f64 = 1e-6;

const TOKEN: &str =
    "Token of your account with the scope `host`; prefer CAPEVAL_TOKEN, since other users can see arguments";

/// The most characters of a version.
const VERSION: usize = 500;

/// Score submissions to a phase that you run, on this machine
///
/// The phase declares measures that your machines give (`given`), and waits for them; name the metrics that have them,
/// such as a judge or a program. capeval claims a submission, scores it and posts the scores, again and again. A
/// submission that is not scored, such as after a limit was reached, waits for the next run.
#[derive(clap::Args)]
#[command(mut_arg("token", |arg| arg.help(TOKEN)), after_help = "\
Examples:
  export CAPEVAL_TOKEN=cev_…    # with the scope `host`
  capeval work --to https://captions.example.org --phase coco/test -r c5.json -m ./metric.toml
  capeval work --to https://captions.example.org --phase coco/test -r c5.json -m judge --endpoint http://localhost:11434/v1 \\
      --judge-model qwen3:8b --judgements judgements.jsonl --max-tokens 5000000 --yes
  capeval work … --estimate 200    # what judges would ask about 200 submissions; nothing is sent")]
pub struct Args {
    #[command(flatten)]
    place: PhaseArgs,
    /// Minutes after which another machine may take over a submission that this one has claimed.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1440))]
    minutes: u32,
    /// End when no submission waits.
    #[arg(long)]
    once: bool,
    /// Only print what the judges would ask about so many submissions, with the first reference of each image as its
    /// caption.
    #[arg(long, value_name = "N")]
    estimate: Option<usize>,
    #[command(flatten)]
    files: ReferenceFiles,
    #[command(flatten)]
    metrics: MetricArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    if let Some(n) = args.estimate {
        return estimate(args, n);
    }
    let chosen = args.metrics.choose_from(args.metrics.options(), |sources| {
        // This may be killed and started again, and goes on within the same limits.
        sources.judging.iter_mut().for_each(|judging| judging.limits.over_all_runs = true);
    })?;
    let (metrics, resources, caches) = chosen.read()?;
    let server = args.place.server()?;
    let phase = args.place.phase(&server)?;
    loop {
        let claim = match server.claim(&phase, args.minutes) {
            Ok(Some(claim)) => claim,
            Ok(None) if args.once => break,
            Ok(None) => {
                std::thread::sleep(PAUSE);
                continue;
            }
            Err(error) if error.kind == Kind::Connection && !args.once => {
                messages::note(&format!("{error}; trying again in {} s", PAUSE.as_secs()));
                std::thread::sleep(PAUSE);
                continue;
            }
            Err(error) => return Err(shown(error)),
        };
        let captions = server.captions(&claim).map_err(shown)?;
        let captions = files::captions_in("the submission", &captions, &ReadOptions::candidates())?;
        let scores = score(args, (&metrics, &resources), captions, &claim)?;
        match server.give(&claim, &scores) {
            Ok(()) => messages::say(&format!("scored: {}", claim.submission)),
            // Such as one that was cancelled, or that another machine has claimed since then.
            Err(error) if error.kind != Kind::Denied => {
                messages::note(&format!("{} has no scores of this run: {error}", claim.submission));
            }
            Err(error) => return Err(shown(error)),
        }
    }
    data::save(caches)
}

fn scored(
    args: &Args,
    (metrics, resources): (&MetricOptions, &Resources),
    captions: Captions,
) -> Result<capeval::report::Report> {
    let request = ScoreRequest::new(args.files.open()?, [("submission", captions)]);
    Ok(capeval::score(ScoreRequest {
        options: ScoreOptions {
            metrics: metrics.clone(),
            images: args.files.images()?,
            // The site keeps them so.
            ids: Ids::Text,
            // A phase may have sets with references of other images.
            surplus: Surplus::Ignore,
            segments: true,
            ..ScoreOptions::default()
        },
        resources: resources.clone(),
        ..request
    })?)
}

/// The scores for a claim: of each measure, and of each image where the score is the mean over them.
fn score(
    args: &Args,
    metrics: (&MetricOptions, &Resources),
    captions: Captions,
    claim: &Claim,
) -> Result<GivenScores> {
    let report = scored(args, metrics, captions)?;
    let measures = &report.head.measures;
    let [SystemReport { scores, segments: Some(segments), signatures, .. }] = &report.systems[..] else {
        return Err(fault("the engine gave no scores of images", "report this"));
    };
    let rows = || segments.ids.iter().zip(segments.values.chunks_exact(measures.len()));
    // A bar would end a part of the signature on the site.
    let version =
        signatures.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ").replace('|', ";");
    let version = version.chars().take(VERSION).collect();
    let mut given = GivenScores { scores: GivenValues::new(), images: Default::default(), version };
    for key in &claim.measures {
        let Some(k) = measures.iter().position(|measure| measure.key == *key) else {
            let known: Vec<&str> = measures.iter().map(|measure| measure.key.as_str()).collect();
            let problem = format!("the phase declares {key}, and the metrics have {}", known.join(", "));
            return Err(fault(problem, "name a metric with this measure, too"));
        };
        given.scores.insert(key.clone(), scores[k]);
        let mean = rows().map(|(_, values)| values[k]).sum::<f64>() / segments.ids.len() as f64;
        if (mean - scores[k]).abs() <= TOLERANCE * mean.abs().max(scores[k].abs()).max(1.0) {
            for (id, values) in rows() {
                given.images.entry(id.to_string()).or_default().insert(key.clone(), values[k]);
            }
        }
    }
    Ok(given)
}

/// Prints what judges would ask about so many submissions.
fn estimate(args: &Args, n: usize) -> Result<()> {
    let references = args.files.open()?;
    let (mut captions, mut known) = (Captions::new("references"), HashSet::new());
    for (id, text) in references.captions().into_iter().flat_map(Captions::iter) {
        if known.insert(id) {
            captions.push(id.clone(), text);
        }
    }
    let (mut text, mut failure) = (String::new(), None);
    let options = args.metrics.options();
    for name in &options.names {
        let plans = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&plans);
        let only = MetricOptions { names: vec![name.clone()], ..options.clone() };
        let asked = args.metrics.choose_from(only, |sources| {
            sources.consent = Some(Arc::new(move |plan: &Plan| {
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(plan.clone());
                Err(Refusal::new("nothing was asked"))
            }));
        });
        let asked = asked.and_then(|chosen| {
            let (metrics, resources, _) = chosen.read()?;
            scored(args, (&metrics, &resources), captions.clone()).map(drop)
        });
        for plan in plans.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            text.push_str(&format!("{n} submissions: {}\n", plan.times(n)));
        }
        failure = failure.or(asked.err());
    }
    match failure {
        Some(failure) if text.is_empty() => Err(failure),
        None if text.is_empty() => Err(fault("the metrics ask no one", "name a judge")),
        _ => Output::open(None, &[])?.write(|out| out.write_all(text.as_bytes())),
    }
}
