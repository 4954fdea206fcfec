//! Prepares references, and samples them.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::PathBuf;

use anyhow::Context;
use capeval::choice::SegmentId;
use capeval::corpus::{Captions, Ids, ReadOptions};
use capeval::{PrepareOptions, PrepareRequest};
use capeval_files as files;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::dense;
use crate::half::ImageHalf;
use crate::input::open;
use crate::metrics::{MeasureInfo, Metrics, described, with_groups};

/// Prepares references.
#[derive(Serialize, Deserialize)]
pub struct Prepare {
    /// The file of references, in any format that the engine reads.
    pub source: PathBuf,
    /// The ids of the images to keep; `None` for all.
    pub images: Option<Vec<SegmentId>>,
    /// The half of these to keep; `None` for both.
    pub half: Option<ImageHalf>,
    /// Metrics and data.
    pub metrics: Metrics,
    /// The path of the prepared references to write.
    pub prepared: PathBuf,
    /// The path of the ids of their images to write.
    pub ids: PathBuf,
}

/// The prepared references.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReferenceSummary {
    /// The number of images.
    pub n_images: usize,
    /// The number of references.
    pub n_references: usize,
    /// The fewest references of an image.
    pub fewest: usize,
    /// The measures that the metrics give, in order.
    pub measures: Vec<MeasureInfo>,
    /// What the reader noticed about the file, and what makes one doubt that it has references, in sentences.
    pub notices: Vec<String>,
}

/// Takes a reference of each image, for people to judge.
#[derive(Serialize, Deserialize)]
pub struct Sample {
    /// The file of references, in any format that the engine reads.
    pub source: PathBuf,
    /// The images.
    pub images: Vec<SegmentId>,
    /// The seed that decides which reference is taken.
    pub seed: String,
}

impl Prepare {
    pub(crate) fn perform(self) -> anyhow::Result<ReferenceSummary> {
        let forms = dense::forms(&self.metrics.names)?;
        if !forms.is_empty() {
            return dense::prepare(self, &forms);
        }
        let Self { source, images, half, metrics, prepared, ids } = self;
        let bytes = open(&source, "the file of references cannot be opened")?;
        let options = ReadOptions { no_limits: true, ..ReadOptions::references() };
        // The name in errors, which hosts see.
        let mut captions = files::captions_in("references", &bytes, &options)?;
        if let Some(images) = images {
            captions = only(&captions, &images)?;
        }
        let mut notice = None;
        if let Some(half) = half {
            let kept = half.of(captions.ids().iter().map(ToString::to_string).collect())?;
            captions = captions.only(|id| kept.ids.contains(&id.to_string()));
            notice = kept.notice;
        }
        let n_references = captions.len();
        let notices = doubts(&captions)?.into_iter().chain(notice).collect();
        let resources = metrics.resources()?;
        if let Some(program) = &metrics.program {
            program.try_out(&captions, metrics.resources()?)?;
        }
        let selection = capeval::select_metrics(&metrics.options(), &resources)?;
        let derived = capeval::derived_metrics(&metrics.derive, &selection.metrics)?;
        let (_, measures) = capeval::entries(&[selection.metrics, derived].concat());
        let done = capeval::prepare(PrepareRequest {
            references: captions,
            sources: Vec::new(),
            options: PrepareOptions {
                metrics: metrics.options(),
                ids: Ids::Text,
                ..PrepareOptions::default()
            },
            resources,
            progress: &(),
        })?;
        metrics.check_images(&done.ids)?;
        let groups = metrics.groups.as_ref().map(|groups| groups.names(&done.ids)).transpose()?;
        let groups: Vec<&str> = groups.iter().flatten().map(String::as_str).collect();
        done.write(File::create(prepared)?)?;
        serde_json::to_writer(File::create(ids)?, &done.ids)?;
        let counts = (0..u32::try_from(done.n_images())?).map(|image| done.n_references([image]));
        Ok(ReferenceSummary {
            n_images: done.ids.len(),
            n_references,
            fewest: counts.min().unwrap_or(0),
            measures: with_groups(described(&measures), &groups),
            notices,
        })
    }
}

/// What the reader noticed, and what references seldom are.
///
/// # Errors
/// If none of them has a word.
fn doubts(captions: &Captions) -> anyhow::Result<Vec<String>> {
    let has_word = |text: &str| text.chars().any(char::is_alphanumeric);
    let empty = captions.iter().filter(|(_, text)| !has_word(text)).count();
    anyhow::ensure!(empty < captions.len(), "none of the references has a word");
    let mut doubts: Vec<String> = captions.notices().iter().map(|notice| notice.message.clone()).collect();
    if empty > 0 {
        doubts.push(format!("{empty} of {} references have no word", captions.len()));
    }
    let images: HashSet<String> = captions.iter().map(|(id, _)| id.to_string()).collect();
    if images.len() == captions.len() && images.len() > 1 {
        doubts.push(
            "each image has one reference: make sure that this is no file of results, and that none are missing"
                .to_owned(),
        );
    }
    Ok(doubts)
}

impl Sample {
    pub(crate) fn perform(self) -> anyhow::Result<Vec<String>> {
        let Self { source, images, seed } = self;
        let bytes = open(&source, "the file of references cannot be opened")?;
        let options = ReadOptions { no_limits: true, ..ReadOptions::references() };
        let captions = files::captions_in("references", &bytes, &options)?;
        let mut of_image: HashMap<String, Vec<&str>> = HashMap::new();
        for (id, caption) in captions.iter() {
            of_image.entry(id.to_string()).or_default().push(caption);
        }
        let one = |image: &SegmentId| {
            let image = image.to_string();
            let references = of_image.get(&image).filter(|references| !references.is_empty());
            let references = references.with_context(|| format!("the image {image} has no reference"))?;
            let place = place(&format!("{seed}:{image}")) % references.len() as u64;
            Ok(references[place as usize].to_owned())
        };
        images.iter().map(one).collect()
    }
}

/// A number that a text decides: the first 60 bits of its hash.
fn place(text: &str) -> u64 {
    let digest = Sha256::digest(text);
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)) >> 4
}

/// The captions of the listed images, all of which must have some.
fn only(captions: &Captions, images: &[SegmentId]) -> anyhow::Result<Captions> {
    let listed: HashSet<String> = images.iter().map(ToString::to_string).collect();
    let known: HashSet<String> = captions.ids().iter().map(ToString::to_string).collect();
    if let Some(unknown) = images.iter().find(|id| !known.contains(&id.to_string())) {
        anyhow::bail!("the listed image {} has no reference", unknown.quoted());
    }
    Ok(captions.only(|id| listed.contains(&id.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_that_are_none_raise_doubts() {
        let doubts_of = |rows: &[(i64, &str)]| {
            let mut captions = Captions::new("references");
            for (id, text) in rows {
                captions.push((*id).into(), text);
            }
            doubts(&captions).map_err(|error| error.to_string())
        };
        assert_eq!(doubts_of(&[(1, "a dog"), (1, "one dog"), (2, "a cat"), (2, "cats")]), Ok(Vec::new()));
        assert_eq!(
            doubts_of(&[(1, "a dog"), (1, " "), (2, "..."), (2, "cats")]).unwrap(),
            ["2 of 4 references have no word"]
        );
        let one = doubts_of(&[(1, "a dog"), (2, "cats")]).unwrap();
        assert!(one.len() == 1 && one[0].starts_with("each image has one reference"), "{one:?}");
        assert_eq!(doubts_of(&[(1, ""), (2, "?")]).unwrap_err(), "none of the references has a word");
        let lines = files::captions_in("references", b"a dog\na cat\n", &ReadOptions::references()).unwrap();
        assert!(!doubts(&lines).unwrap().is_empty(), "text without ids");
    }
}
