//! The JSON version of Flickr8k-Expert by CLIPScore's authors: an object per image with its references and the ratings
//! of captions.

use serde::Deserialize;

use super::{Gatherer, RatedCaption};
use crate::{Captions, Error, ErrorKind, Position, SegmentId};

/// The content of the file.
pub(super) struct ClipScoreFile {
    pub gathered: Gatherer,
    pub references: Captions,
}

#[derive(Deserialize)]
struct Image {
    ground_truth: Vec<String>,
    human_judgement: Vec<Judgement>,
}

#[derive(Deserialize)]
struct Judgement {
    caption: String,
    rating: Option<f64>,
}

/// Reads the file; `None` if it has another format. Runs of white space in captions become one space, as in CLIPScore's
/// program.
pub(super) fn read(text: &str, name: &str) -> Result<Option<ClipScoreFile>, Error> {
    if !text.trim_start().starts_with('{') || !text.contains("\"human_judgement\"") {
        return Ok(None);
    }
    let images: Pairs = serde_json::from_str(text).map_err(|error| {
        let position = Position { line: Some(error.line() as u64), ..Position::default() };
        Error::new(ErrorKind::Syntax, name, format!("not the JSON form of CLIPScore's ratings: {error}"))
            .at(position)
    })?;
    let mut gathered = Gatherer::default();
    let mut references = Captions::new(name);
    for (id, image) in &images.0 {
        let id = SegmentId::from(id.as_str());
        for reference in &image.ground_truth {
            references.push(id.clone(), &joined(reference));
        }
        for judgement in &image.human_judgement {
            let caption = Some(RatedCaption::Text(joined(&judgement.caption)));
            gathered.add(id.clone(), caption, None, judgement.rating.as_slice());
        }
    }
    Ok(Some(ClipScoreFile { gathered, references }))
}

fn joined(caption: &str) -> String {
    caption.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A JSON object in the order of the file.
struct Pairs(Vec<(String, Image)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with one entry per image")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
