//! `capeval correlate`: correlates metrics with human ratings.

use anyhow::Result;
use capeval::corpus::ratings::{self, RatedCaption, RatingOptions};
use capeval::report::Unit;
use capeval::{CorrelateOptions, CorrelateRequest, PairingCheck};

use crate::data;
use crate::options;
use crate::progress::Bar;
use crate::scoring::{ResultArgs, Rules, Scoring, ScoringInputs};

/// Correlate metrics with human ratings
///
/// Captions are scored against references, and their scores are correlated with their ratings: Pearson, Spearman,
/// Kendall's τ-b and τ-c, how often a metric prefers the caption of an image that people prefer, agreement between
/// raters, and Williams' test of the difference between metrics.
#[derive(clap::Args)]
#[command(
    after_help = AFTER_HELP,
    mut_arg("segments", |arg| arg.help(SEGMENTS))
)]
pub struct Args {
    /// File of ratings, `-` for standard input: Flickr8k's ExpertAnnotations.txt or CrowdFlowerAnnotations.txt,
    /// CLIPScore's JSON version of the former, or a table (CSV, TSV, JSON, JSON Lines, Parquet) with raters in rows or
    /// columns.
    #[arg(value_name = "RATINGS")]
    ratings: String,
    #[command(flatten)]
    scoring: Scoring,
    #[command(flatten)]
    reading: Columns,
    /// Points to correlate.
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = options::choices::<Unit>())]
    unit: Unit,
    /// How to look at pairs of captions and references.
    #[arg(long, value_name = "HOW", default_value_t, value_parser = options::choices::<PairingCheck>())]
    pairing: PairingCheck,
    #[command(flatten)]
    result: ResultArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Reading ratings")]
struct Columns {
    /// Column or key of the image id.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column or key of the rated caption.
    #[arg(long, value_name = "NAME")]
    caption_column: Option<String>,
    /// Column or key of the system that wrote the caption.
    #[arg(long, value_name = "NAME")]
    system_column: Option<String>,
    /// Columns or keys of the ratings: one, or one per rater.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    rating_columns: Vec<String>,
}

impl Columns {
    fn options(&self) -> RatingOptions {
        let Self { id_column, caption_column, system_column, rating_columns } = self;
        RatingOptions {
            id_column: id_column.clone(),
            caption_column: caption_column.clone(),
            system_column: system_column.clone(),
            rating_columns: rating_columns.clone(),
        }
    }
}

const SEGMENTS: &str =
    "Write every rated caption with its scores to this file, as JSON Lines; `-` for standard output";

const AFTER_HELP: &str = "\
To reproduce published coefficients (times 100; see CLIPScore, EMNLP 2021):
  Flickr8k-Expert:
    capeval correlate expert_clipscore_form.json --digits 5
    capeval correlate ExpertAnnotations.txt -r Flickr8k.token.txt \\
      --own-reference skip
  Flickr8k-CF:
    capeval correlate CrowdFlowerAnnotations.txt -r Flickr8k.token.txt \\
      --own-reference remove --digits 5

Other examples:
  capeval correlate ratings.csv -r refs.json --unit item --ci
  capeval correlate ratings.csv --scores per_image.jsonl --format json
  capeval correlate ratings.csv -r refs.json -m cider-d,spice --scores clip.csv";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let intervals = args.result.intervals.resampling()?;
    let chosen = args.scoring.choose(&[])?;
    let (output, groups) = args.scoring.open(&args.ratings, &chosen, &args.result)?;
    let ScoringInputs { references, scores, lower_is_better, metrics, resources, caches } =
        args.scoring.read(chosen)?;
    let ratings = ratings::read_ratings(
        &capeval_files::open_or_stdin(&args.ratings)?,
        &args.ratings,
        &args.reading.options(),
    )?;
    let rated = ratings.items.iter().filter_map(|item| match &item.caption {
        Some(RatedCaption::Text(text)) => Some(text.as_str()),
        // It is among the references.
        Some(RatedCaption::Reference { .. }) | None => None,
    });
    let captions = references.iter().chain(&ratings.references);
    data::announce_parses(&resources, data::texts(captions).chain(rated));
    let Rules { own_reference, surplus, matching } = args.scoring.rules;
    let bar = Bar::new();
    let mut correlation = capeval::correlate(CorrelateRequest {
        references,
        scores,
        groups,
        options: CorrelateOptions {
            metrics,
            lower_is_better,
            unit: args.unit,
            own_reference,
            surplus,
            ids: matching.ids,
            pairing: args.pairing,
            intervals,
            group_df: args.result.groups.group_df,
        },
        resources,
        progress: &bar,
        ..CorrelateRequest::new(ratings)
    })?;
    let saved = data::save(caches);
    output.write(&mut correlation, bar)?;
    saved
}
