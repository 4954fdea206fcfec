//! Reads a file of captions that someone submits, in any format that the engine reads.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::anyhow;
use capeval::choice::{Argument, Dialect, Plain, Remedy, SegmentId, Task};
use capeval::corpus::{Format, Ids, Opposite, ReadOptions, agree};
use capeval_files as files;
use serde::{Deserialize, Serialize, Serializer as _};

use crate::dense;
use crate::input::open;

/// The name in errors of a file without a name.
const NAME: &str = "the file";

/// Reads the captions of a file, and writes them as a list of results.
#[derive(Serialize, Deserialize)]
pub struct ReadCaptions {
    /// The file.
    pub file: PathBuf,
    /// The name that it had, which errors call it and whose ending counts where the content could be several formats;
    /// `None` if it is not known.
    pub name: Option<String>,
    /// The lists of the images that are to be described, as [`Prepare`](crate::Prepare) writes them. They tell which
    /// column has the ids. For dense captions, the prepared references themselves, which have the durations of videos.
    pub images: Vec<PathBuf>,
    /// The metrics of the phase, which tell what its captions are.
    pub metrics: Vec<String>,
    /// The most captions.
    pub most: usize,
    /// The list, with ids as text.
    pub results: PathBuf,
}

#[derive(Serialize)]
struct Line<'a> {
    image_id: String,
    caption: &'a str,
}

/// Terms for people who submit a file: they have no options to set.
struct Submitting;

impl Dialect for Submitting {
    fn has(&self, _: Argument) -> bool {
        false
    }

    fn name(&self, argument: Argument) -> String {
        Plain.name(argument)
    }

    fn argument(&self, argument: Argument, value: Option<&str>) -> String {
        Plain.argument(argument, value)
    }

    fn task(&self, task: &Task) -> String {
        Plain.task(task)
    }
}

pub(crate) fn in_words(error: &dyn Display, remedy: Option<&Remedy>) -> anyhow::Error {
    match remedy.and_then(|remedy| remedy.in_words(&Submitting)) {
        Some(remedy) => anyhow!("{error}; {remedy}"),
        None => anyhow!("{error}"),
    }
}

impl ReadCaptions {
    pub(crate) fn perform(self) -> anyhow::Result<()> {
        let name = self.name.as_deref().unwrap_or(NAME);
        if dense::is_dense(&self.metrics) {
            let events = dense::submitted(&self.file, name, &self.images, &self.metrics)?;
            return self.write(events.len(), events.iter().map(|(id, events)| (id, events.as_str())));
        }
        let mut images: Vec<SegmentId> = Vec::new();
        for list in &self.images {
            images.extend(serde_json::from_slice::<Vec<SegmentId>>(&std::fs::read(list)?)?);
        }
        // Refusals quote some of them, which must not tell which are in one list.
        images.sort_unstable();
        let bytes = open(&self.file, "it cannot be opened")?;
        if bytes.starts_with(b"PAR1") {
            // Who submits cannot choose another build, which is what the reader would advise.
            let remedy = Remedy::say("save the table as CSV");
            return Err(in_words(&format!("{name}: this is Parquet, which is not read here"), Some(&remedy)));
        }
        let captions = files::captions_in(name, &bytes, &ReadOptions::candidates());
        let captions = captions.map_err(|error| in_words(&error, error.remedy().as_ref()))?;
        let mut systems = [(name.to_owned(), captions)];
        agree(Opposite::Ids(&images, "the images of the phase"), &mut systems, Ids::Text)
            .map_err(|error| in_words(&error, Some(&Remedy::say("call the column with the ids image_id"))))?;
        let [(_, captions)] = systems;
        if let Some(format @ (Format::Lines | Format::Tokens)) = captions.format() {
            let fault =
                format!("{name} has captions without the ids of their images (its format is {format})");
            let remedy =
                Remedy::say("give each caption the id of its image, as JSON, JSON Lines, CSV or TSV");
            return Err(in_words(&fault, Some(&remedy)));
        }
        self.write(captions.len(), captions.iter())
    }

    /// Writes the list of so many results.
    fn write<'a>(
        &self,
        n: usize,
        captions: impl Iterator<Item = (&'a SegmentId, &'a str)>,
    ) -> anyhow::Result<()> {
        anyhow::ensure!(n <= self.most, "more than {} captions", self.most);
        let mut results = BufWriter::new(File::create(&self.results)?);
        let lines = captions.map(|(id, caption)| Line { image_id: id.to_string(), caption });
        serde_json::Serializer::new(&mut results).collect_seq(lines)?;
        Ok(results.flush()?)
    }
}
