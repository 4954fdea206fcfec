//! The options for the pictures of a page with images.

use anyhow::Result;
use capeval_files::PictureFiles;

use crate::fault::fault;
use crate::html::Place;
use crate::output_args::{OutputArgs, ResultTarget};

/// Options for the pictures of a page with images.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct ImageArgs {
    /// Put the pictures into the page, instead of linking to their files.
    #[arg(long, requires_all = ["pictures", "html"])]
    embed_pictures: bool,
}

/// The help of `--html` where pages show images.
pub const WITH_IMAGES: &str =
    "Write a page with scores, charts and every image to this file; the page needs no network";

impl ImageArgs {
    /// Opens the output files, and looks for the pictures if a page is requested.
    pub fn open(&self, output: &OutputArgs, inputs: &[&str], pictures: &[String]) -> Result<ResultTarget> {
        let target = output.open(inputs)?;
        let Some(page) = output.html() else { return Ok(target) };
        let places: Vec<Place> = pictures
            .iter()
            .zip(PictureFiles::open_all(pictures)?)
            .map(|(source, files)| Place { source: source.clone(), files, page: page.into() })
            .collect();
        if let (Some(place), true) =
            (places.iter().find(|place| place.files.is_address()), self.embed_pictures)
        {
            return Err(fault(
                format!("--embed-pictures reads files, and {} is not a path", place.source),
                "leave it out to link to the pictures",
            ));
        }
        Ok(target.with_pictures(places, self.embed_pictures))
    }
}
