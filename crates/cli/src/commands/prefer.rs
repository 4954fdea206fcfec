//! `capeval prefer`: measures how often metrics prefer what people prefer.

use anyhow::Result;
use capeval::corpus::ratings;
use capeval::report::{HumanTies, MetricTies};
use capeval::{PreferOptions, PreferRequest};

use crate::data;
use crate::options;
use crate::progress::Bar;
use crate::scoring::{ResultArgs, Rules, Scoring, ScoringInputs};

/// Measure how often metrics agree with people's choice between two captions
///
/// This is the protocol of PASCAL-50S: both captions of a pair are scored against references drawn for it, and a metric
/// is right if the caption that people prefer has the better score.
#[derive(clap::Args)]
#[command(
    after_help = AFTER_HELP,
    mut_arg("segments", |arg| arg.help(SEGMENTS))
)]
pub struct Args {
    /// File of pairs of captions with the votes of people, `-` for standard input (CSV, TSV, JSON, JSON Lines,
    /// Parquet).
    #[arg(value_name = "PAIRS")]
    pairs: String,
    #[command(flatten)]
    scoring: Scoring,
    #[command(flatten)]
    draws: DrawsAndTies,
    #[command(flatten)]
    result: ResultArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Draws and ties")]
struct DrawsAndTies {
    /// Number of references to draw for each pair, or `all` [default: 5].
    #[arg(long, value_name = "N", value_parser = references_per_pair)]
    references_per_pair: Option<Pool>,
    /// Number of draws of references; accuracies are means over the draws [default: 5].
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    /// Seed of the draws of references [default: 12345].
    #[arg(long, value_name = "N")]
    draw_seed: Option<u64>,
    /// Pairs in which people prefer neither caption.
    #[arg(long, value_name = "RULE", default_value_t, value_parser = options::choices::<HumanTies>())]
    human_ties: HumanTies,
    /// Pairs whose captions have equal scores.
    #[arg(long, value_name = "RULE", default_value_t, value_parser = options::choices::<MetricTies>())]
    metric_ties: MetricTies,
}

/// The number of references to draw; `None` for all.
#[derive(Clone, Copy)]
struct Pool(Option<usize>);

fn references_per_pair(text: &str) -> Result<Pool, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(Pool(Some(n))),
        _ if text == "all" => Ok(Pool(None)),
        _ => Err("must be a whole number such as 5, or all".to_owned()),
    }
}

const SEGMENTS: &str =
    "Write every pair with its scores to this file, as JSON Lines; `-` for standard output";

const AFTER_HELP: &str = "\
A pair is a row with image_id, two captions (captions, or caption_a and caption_b), and votes (two numbers) or winner \
(a, b or tie; or numbers: 0 and 1 are the first and the second, as are 1 and 2, and 1 and -1 with 0 for a tie). A \
category and references (a list, or reference_1 ...) are optional. A row with one reference and a winner is a single \
vote, as in PASCAL-50S. See docs/guides/pairs.md for all formats.

Examples:
  capeval prefer pascal50s.jsonl --references-per-pair 5 --draws 5
  capeval prefer pairs.csv -r refs.json --metrics cider-d,meteor --ci
  capeval prefer pairs.csv --scores caption_scores.csv --format json";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let intervals = args.result.intervals.resampling()?;
    let DrawsAndTies { references_per_pair, draws, draw_seed, human_ties, metric_ties } = args.draws;
    let chosen = args.scoring.choose(&[
        (references_per_pair.is_some(), "--references-per-pair"),
        (draws.is_some(), "--draws"),
        (draw_seed.is_some(), "--draw-seed"),
    ])?;
    let (output, groups) = args.scoring.open(&args.pairs, &chosen, &args.result)?;
    let ScoringInputs { references, scores, lower_is_better, metrics, resources, caches } =
        args.scoring.read(chosen)?;
    let choices = ratings::read_pairs(&capeval_files::open_or_stdin(&args.pairs)?, &args.pairs)?;
    let judged = choices.items.iter().flat_map(|choice| choice.captions.iter().map(String::as_str));
    data::announce_parses(&resources, data::texts(&references).chain(judged));
    let usual = PreferOptions::default();
    let Rules { own_reference, surplus, matching } = args.scoring.rules;
    let bar = Bar::new();
    let mut found = capeval::prefer(PreferRequest {
        references,
        scores,
        groups,
        options: PreferOptions {
            metrics,
            lower_is_better,
            references_per_pair: references_per_pair.map_or(usual.references_per_pair, |Pool(n)| n),
            draws: draws.unwrap_or(usual.draws),
            draw_seed: draw_seed.unwrap_or(usual.draw_seed),
            human_ties,
            metric_ties,
            own_reference,
            surplus,
            ids: matching.ids,
            intervals,
            group_df: args.result.groups.group_df,
        },
        resources,
        progress: &bar,
        ..PreferRequest::new(choices)
    })?;
    let saved = data::save(caches);
    output.write(&mut found, bar)?;
    saved
}
