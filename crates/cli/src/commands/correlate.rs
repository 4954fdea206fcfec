//! `capeval correlate`: whether metrics agree with people.

use anyhow::{Result, bail};
use capeval::corpus::Ids;
use capeval::corpus::Surplus;
use capeval::corpus::ratings::{self, RatingOptions, Ratings};
use capeval::report::Unit;
use capeval::{CorrelateRequest, OwnReference};

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
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// File of ratings, `-` for standard input: Flickr8k's ExpertAnnotations.txt and CrowdFlowerAnnotations.txt,
    /// CLIPScore's JSON form of the former, or a table (CSV, TSV, JSON, JSON Lines, Parquet) with raters in rows or
    /// columns.
    #[arg(value_name = "RATINGS")]
    ratings: String,
    /// File of references, unless the ratings hold them; may be repeated.
    #[arg(short, long = "references", value_name = "FILE")]
    references: Vec<String>,
    /// Scores that were computed before, instead of captions and metrics: JSON Lines as `capeval score --segments`
    /// writes them, or a table with a column image_id and a column per metric.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["references", "metrics", "suite"])]
    scores: Option<String>,
    #[command(flatten)]
    reading: Columns,
    #[command(flatten)]
    reading_references: References,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    rules: Rules,
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

const AFTER_HELP: &str = "\
The numbers of the literature (times 100, see CLIPScore, EMNLP 2021):
  Flickr8k-Expert:
    capeval correlate expert_clipscore_form.json --digits 5
    capeval correlate ExpertAnnotations.txt -r Flickr8k.token.txt \\
      --own-reference skip
  Flickr8k-CF:
    capeval correlate CrowdFlowerAnnotations.txt -r Flickr8k.token.txt \\
      --own-reference remove --digits 5

Other examples:
  capeval correlate ratings.csv -r refs.json --unit item --ci
  capeval correlate ratings.csv --scores per_image.jsonl --format json";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let mut inputs: Vec<&str> = vec![&args.ratings];
    inputs.extend(args.references.iter().map(String::as_str));
    inputs.extend(args.scores.as_deref());
    inputs.extend(args.what.paths());
    if inputs.iter().filter(|path| **path == input::STDIN).count() > 1 {
        bail!("standard input (-) can be read once only; give a file for the others");
    }
    let intervals = args.intervals.resampling()?;
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
    let correlation = capeval::correlate(CorrelateRequest {
        references,
        metrics: selected.metrics,
        notices: if scores.is_none() { selected.notices } else { Vec::new() },
        scores,
        unit: args.rules.unit,
        own: args.rules.own_reference,
        surplus: args.rules.surplus,
        ids: args.rules.ids,
        intervals,
        progress: &bar,
        ..CorrelateRequest::new(read(args)?)
    })?;
    drop(bar);
    if let Some(page) = page {
        page.write_correlation(&correlation)?;
    }
    output.write_correlation(&correlation)
}

fn read(args: &Args) -> Result<Ratings> {
    let Columns { id_column, caption_column, system_column, rating_columns } = &args.reading;
    let options = RatingOptions {
        id_column: id_column.clone(),
        caption_column: caption_column.clone(),
        system_column: system_column.clone(),
        rating_columns: rating_columns.clone(),
    };
    Ok(ratings::read_ratings(&input::bytes(&args.ratings)?, &args.ratings, &options)?)
}
