//! `capeval boxes`: scores captions of boxes, of objects in scenes and of regions in images.

use anyhow::Result;
use capeval_dense::boxes::{BoxForm, BoxOptions, forms, predictions, references, score};
use clap::Subcommand;

use super::dense::{Systems, input, list};
use crate::output_args::OutputArgs;
use crate::progress::Bar;
use crate::resampling_args::Intervals;

/// Score captions of boxes: objects in 3D scenes, and regions of images
///
/// 3D captions are scored as Scan2Cap's m@kIoU, or by its benchmark; regions by DenseCap's mean average precision.
#[derive(clap::Args)]
#[command(
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    mut_arg("segments", |arg| arg.help(SEGMENTS))
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// File of reference objects or regions.
    #[arg(short, long, value_name = "FILE", required = true)]
    references: Option<String>,
    /// Form of the scores, or several, or all that fit the files; see `capeval boxes forms` [default: scan2cap for
    /// objects, densecap-scenic for regions]; densecap-scenic takes settings, as in densecap-scenic:keep-empty:in-720.
    #[arg(long = "form", visible_alias = "forms", value_name = "NAME", value_delimiter = ',')]
    forms: Vec<String>,
    #[command(flatten)]
    systems: Systems,
    #[command(flatten)]
    intervals: Intervals,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Subcommand)]
enum Command {
    /// List the forms: which program each one is, who uses it, and what differs
    Forms,
}

const SEGMENTS: &str =
    "Write the scores of every object to this file, as JSON Lines; `-` for standard output";

const AFTER_HELP: &str = "\
References are ScanRefer's list of objects (scene_id, object_id, object_name, token, bbox), or regions: COCO's JSON with \
bbox and caption, or Visual Genome's. Predictions are captions by object (scene|object|name) with the overlap iou of \
their box, boxes by scene (caption, box of eight corners), or regions (image_id, bbox, caption, score).

Examples:
  capeval boxes -r ScanRefer_val.json matched.json
  capeval boxes -r ScanRefer_val.json boxes.json --form all --percent
  capeval boxes -r regions.json predicted.json --form densecap-scenic,densecap-scenic:keep-empty
  capeval boxes forms";

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let (None, Some(path)) = (&args.command, &args.references) else {
        let told = |of: &BoxForm| [of.name(), of.summary(), of.users(), of.differences()];
        return list(BoxForm::ALL.iter().map(told));
    };
    let systems = args.systems.named()?;
    let mut inputs: Vec<&str> = systems.iter().map(|system| system.path.as_str()).collect();
    inputs.push(path);
    let target = args.output.open(&inputs)?;
    let intervals = args.intervals.resampling()?;
    let references = references(&input(path)?, path)?;
    let forms = forms(&args.forms, &references)?;
    let metrics = args.systems.metrics(true)?;
    let systems = systems.into_iter().map(|system| {
        let read = predictions(&input(&system.path)?, &system.path)?;
        Ok((system.name, read))
    });
    let systems = systems.collect::<Result<Vec<_>>>()?;
    let options = BoxOptions { forms, segments: target.wants_items(), intervals };
    target.write(&mut score((path, &references), systems, &options, &metrics)?, Bar::new())
}
