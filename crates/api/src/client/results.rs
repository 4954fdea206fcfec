//! The captions of a system as the server takes them.

use std::collections::HashMap;
use std::io::Write;

use capeval_choice::{Argument, Refusal, Remedy, SegmentId};
use capeval_corpus::Captions;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::{Error, Kind};
use crate::Phase;

/// The most ids that an error lists.
const LISTED: usize = 5;

/// Captions as compressed JSON, ready to be sent.
pub struct Results {
    bytes: Vec<u8>,
    count: usize,
}

#[derive(Serialize)]
struct Line<'a> {
    image_id: &'a SegmentId,
    caption: &'a str,
}

impl Results {
    /// Checks captions and writes them as JSON. Their images must differ, and none may be empty.
    pub fn new(captions: &Captions) -> Result<Self, Error> {
        let mut seen = HashMap::with_capacity(captions.len());
        let (mut repeated, mut empty) = (Vec::new(), Vec::new());
        for (id, text) in captions.iter() {
            if seen.insert(id, ()).is_some() {
                repeated.push(id);
            }
            if text.trim().is_empty() {
                empty.push(id);
            }
        }
        for (what, ids) in [("images have several captions", repeated), ("captions are empty", empty)] {
            if !ids.is_empty() {
                let listed: Vec<String> = ids.iter().take(LISTED).map(|id| id.quoted().to_string()).collect();
                let more = if ids.len() > LISTED { ", …" } else { "" };
                let refusal = Refusal::new(format!("{} {what}: {}{more}", ids.len(), listed.join(", ")));
                let remedy = "give exactly one caption for each image; nothing was sent";
                return Err(Error::new(Kind::Refused, refusal.at(captions.source()).with_remedy(remedy)));
            }
        }
        let lines: Vec<Line<'_>> =
            captions.iter().map(|(image_id, caption)| Line { image_id, caption }).collect();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let bytes = serde_json::to_writer(&mut encoder, &lines)
            .map_err(std::io::Error::from)
            .and_then(|()| encoder.flush())
            .and_then(|()| encoder.finish())
            .map_err(|error| Error::new(Kind::Refused, Refusal::new(error.to_string())))?;
        Ok(Self { bytes, count: captions.len() })
    }

    /// Checks the number of captions against that of a phase's images, as far as it is known.
    pub fn fit(&self, phase: &Phase) -> Result<(), Error> {
        // Reference sets may have different images.
        let images = phase.reference_sets.iter().map(|set| set.images).max().unwrap_or(0);
        let is_exact = phase.reference_sets.len() == 1 && phase.halves.is_none();
        if self.count < images || is_exact && self.count > images && images > 0 {
            let text = format!("there are {} captions, but {} has {images} images", self.count, phase.path());
            let remedy = Remedy::give(Argument::Check).to("see which images are missing or unknown");
            return Err(Error::new(Kind::Refused, Refusal::new(text).with_remedy(remedy)));
        }
        Ok(())
    }

    /// The number of captions.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
