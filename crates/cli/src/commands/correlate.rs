//! `capeval correlate`: whether metrics agree with people.

use anyhow::{Result, bail};
use capeval::corpus::Ids;
use capeval::corpus::Surplus;
use capeval::corpus::ratings::{self, RatingOptions, Ratings};
use capeval::report::{HumanTies, MetricTies, Protocol, Unit};
use capeval::{CorrelateRequest, OwnReference, PreferenceRequest};

use super::score::What;
use crate::html::Html;
use crate::input;
use crate::options::{self, Intervals, References};
use crate::progress::Bar;
use crate::shown::Shown;

/// Tell how well metrics agree with human ratings
///
/// Captions are scored against references and correlated with what people said of them: Pearson, Spearman, Kendall's
/// τ-b and τ-c, how often a metric prefers the caption of an image that people prefer, agreement between raters, and
/// Williams' test of the difference between metrics.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, mut_arg("segments", |arg| arg.help(SEGMENTS)))]
pub struct Args {
    /// File of ratings, `-` for standard input: Flickr8k's ExpertAnnotations.txt and CrowdFlowerAnnotations.txt,
    /// CLIPScore's JSON form of the former, or a table (CSV, TSV, JSON, JSON Lines, Parquet) with raters in rows or
    /// columns.
    #[arg(value_name = "RATINGS", required_unless_present = "pairs")]
    ratings: Option<String>,
    /// File of pairs of captions of one image and what people preferred, instead of ratings: tells how often each metric
    /// prefers the same, as for PASCAL-50S (CSV, TSV, JSON, JSON Lines).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["ratings", "html", "unit", "id_column", "caption_column", "system_column", "rating_columns"]
    )]
    pairs: Option<String>,
    /// File of references, unless the ratings hold them; may be repeated.
    #[arg(short, long = "references", value_name = "FILE")]
    references: Vec<String>,
    /// Scores that were computed before, instead of captions and metrics: JSON Lines as `capeval score --segments`
    /// writes them, or a table with a column image_id and a column per metric; with --pairs there must be a column
    /// caption. Flags about references, metrics and draws would change nothing beside them, and are refused.
    #[arg(long, value_name = "FILE", conflicts_with_all = WITHOUT_EFFECT)]
    scores: Option<String>,
    /// The keys of these scores that are error rates, so that less is better; `ter` and the like are known.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "scores")]
    lower_is_better: Vec<String>,
    #[command(flatten)]
    reading: Columns,
    #[command(flatten)]
    reading_references: References,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    protocol: Preferences,
    #[command(flatten)]
    intervals: Intervals,
    #[command(flatten)]
    shown: Shown,
    /// Write a page with the tables, and charts of scores against ratings, to this file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<String>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Reading ratings")]
struct Columns {
    /// Column or key of the image's id.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column or key of the rated caption.
    #[arg(long, value_name = "NAME")]
    caption_column: Option<String>,
    /// Column or key of the system that wrote it.
    #[arg(long, value_name = "NAME")]
    system_column: Option<String>,
    /// Columns or keys of the ratings, one or one per rater.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    rating_columns: Vec<String>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "What is correlated")]
struct Rules {
    /// What a point is: every rating, or every item with the mean of its ratings.
    #[arg(long, value_name = "WHAT", default_value = "rating", value_parser = options::choices(Unit::ALL, Unit::name))]
    unit: Unit,
    /// A rated caption that is itself a reference of its image: keep it, remove it from the references of that image,
    /// or skip its ratings.
    #[arg(long, value_name = "WHAT", default_value = "keep", value_parser = options::choices(OwnReference::ALL, OwnReference::name))]
    own_reference: OwnReference,
    /// Ratings of images without references.
    #[arg(long, value_name = "POLICY", default_value_t, value_parser = options::choices(Surplus::ALL, Surplus::name))]
    surplus: Surplus,
    /// Whether the number 1 and the text "1" are one id: `text` says so.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = options::ids())]
    ids: Ids,
}

#[derive(clap::Args)]
#[command(next_help_heading = "What is preferred (with --pairs)")]
struct Preferences {
    /// How many references are drawn from those of a pair, or `all` [default: 5].
    #[arg(long, value_name = "N", value_parser = references_per_pair)]
    references_per_pair: Option<Pool>,
    /// How many times references are drawn; accuracies are means over the draws [default: 5].
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    /// What the drawing of references starts from [default: 12345].
    #[arg(long, value_name = "N")]
    draw_seed: Option<u64>,
    /// Pairs of which people prefer neither caption: leave them out, or count them as half right [default: half].
    #[arg(long, value_name = "RULE", value_parser = options::choices(HumanTies::ALL, HumanTies::name))]
    human_ties: Option<HumanTies>,
    /// Pairs to whose captions a metric gives the same score: half right, wrong, or as if it preferred the first
    /// [default: half].
    #[arg(long, value_name = "RULE", value_parser = options::choices(MetricTies::ALL, MetricTies::name))]
    metric_ties: Option<MetricTies>,
}

/// How many references are drawn; `None` for all.
#[derive(Clone, Copy)]
struct Pool(Option<usize>);

fn references_per_pair(text: &str) -> Result<Pool, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(Pool(Some(n))),
        _ if text == "all" => Ok(Pool(None)),
        _ => Err("give a whole number such as 5, or all".to_owned()),
    }
}

impl Preferences {
    /// Whether any of them is given.
    fn is_given(&self) -> bool {
        let Self { references_per_pair, draws, draw_seed, human_ties, metric_ties } = self;
        references_per_pair.is_some()
            || draws.is_some()
            || draw_seed.is_some()
            || human_ties.is_some()
            || metric_ties.is_some()
    }

    fn protocol(&self) -> Protocol {
        let Protocol { references, draws, seed, human_ties, metric_ties } = Protocol::default();
        Protocol {
            references: self.references_per_pair.map_or(references, |Pool(n)| n),
            draws: self.draws.unwrap_or(draws),
            seed: self.draw_seed.unwrap_or(seed),
            human_ties: self.human_ties.unwrap_or(human_ties),
            metric_ties: self.metric_ties.unwrap_or(metric_ties),
        }
    }
}

/// What would change nothing where scores are given: nothing is read for references, scored or drawn.
const WITHOUT_EFFECT: [&str; 16] = [
    "references",
    "ref_format",
    "split",
    "ref_id_column",
    "ref_caption_columns",
    "metrics",
    "suite",
    "tokenizer",
    "idf",
    "df",
    "lm",
    "own_reference",
    "surplus",
    "references_per_pair",
    "draws",
    "draw_seed",
];

const SEGMENTS: &str = "Write every rated caption, or with --pairs every pair, with its scores to this file, as JSON \
                        Lines; `-` for standard output";

const AFTER_HELP: &str = "\
The numbers of the literature (times 100, see CLIPScore, EMNLP 2021):
  Flickr8k-Expert:
    capeval correlate expert_clipscore_form.json --digits 5
    capeval correlate ExpertAnnotations.txt -r Flickr8k.token.txt \\
      --own-reference skip
  Flickr8k-CF:
    capeval correlate CrowdFlowerAnnotations.txt -r Flickr8k.token.txt \\
      --own-reference remove --digits 5

Pairs (--pairs) stand in rows with image_id, two captions (captions, or caption_a
and caption_b) and votes (two numbers) or winner (a, b or tie; 0 and 1 are the
first and the second, 1 and 2 as well, 1 and -1 as well with 0 for a tie), perhaps
category and references (a list, or reference_1 ...). A row with one reference
and a winner is a single vote: PASCAL-50S's A, B, C. All forms: docs/pairs.md.

Other examples:
  capeval correlate ratings.csv -r refs.json --unit item --ci
  capeval correlate --pairs pascal50s.jsonl --references-per-pair 5 --draws 5
  capeval correlate ratings.csv --scores per_image.jsonl --format json";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let source = args.pairs.as_deref().or(args.ratings.as_deref()).unwrap_or(input::STDIN);
    let mut inputs: Vec<&str> = vec![source];
    inputs.extend(args.references.iter().map(String::as_str));
    inputs.extend(args.scores.as_deref());
    inputs.extend(args.what.paths());
    if inputs.iter().filter(|path| **path == input::STDIN).count() > 1 {
        bail!("standard input (-) can be read once only; give a file for the others");
    }
    let intervals = args.intervals.resampling()?;
    if args.pairs.is_none() && args.protocol.is_given() {
        bail!(
            "--references-per-pair, --draws, --draw-seed, --human-ties and --metric-ties are about pairs; add --pairs"
        );
    }
    let metrics = &args.what.metrics;
    let mut resources =
        if args.scores.is_none() { args.what.resources(metrics)? } else { Default::default() };
    let selected = args.what.is_ready().then(|| args.what.build(metrics, &resources)).transpose()?;
    let output = args.shown.open(&inputs)?;
    let page = Html::plain(args.html.as_deref(), &inputs, args.shown.digits())?;
    args.what.read(&mut resources)?;
    let selected = selected.map_or_else(|| args.what.build(metrics, &resources), Ok)?;
    let scores = args
        .scores
        .as_deref()
        .map(|path| -> Result<_> { Ok(ratings::read_scores(&input::bytes(path)?, path)?) });
    let scores = scores.transpose()?;
    let references = match &args.references[..] {
        [] => None,
        paths => Some(args.reading_references.read(paths)?),
    };
    let bar = Bar::new();
    let notices = if scores.is_none() { selected.notices } else { Vec::new() };
    if args.pairs.is_some() {
        let found = capeval::prefer(PreferenceRequest {
            references,
            metrics: selected.metrics,
            notices,
            scores,
            lower_is_better: args.lower_is_better.clone(),
            protocol: args.protocol.protocol(),
            own: args.rules.own_reference,
            surplus: args.rules.surplus,
            ids: args.rules.ids,
            intervals,
            progress: &bar,
            ..PreferenceRequest::new(ratings::read_pairs(&input::bytes(source)?, source)?)
        })?;
        drop(bar);
        return output.write(&found);
    }
    let correlation = capeval::correlate(CorrelateRequest {
        references,
        metrics: selected.metrics,
        notices,
        scores,
        lower_is_better: args.lower_is_better.clone(),
        unit: args.rules.unit,
        own: args.rules.own_reference,
        surplus: args.rules.surplus,
        ids: args.rules.ids,
        intervals,
        progress: &bar,
        ..CorrelateRequest::new(read(args, source)?)
    })?;
    drop(bar);
    if let Some(page) = page {
        page.write_correlation(&correlation)?;
    }
    output.write(&correlation)
}

fn read(args: &Args, source: &str) -> Result<Ratings> {
    let Columns { id_column, caption_column, system_column, rating_columns } = &args.reading;
    let options = RatingOptions {
        id_column: id_column.clone(),
        caption_column: caption_column.clone(),
        system_column: system_column.clone(),
        rating_columns: rating_columns.clone(),
    };
    Ok(ratings::read_ratings(&input::bytes(source)?, source, &options)?)
}
