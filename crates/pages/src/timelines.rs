//! The data of a page's videos, in the blocks that `assets/timeline.js` reads.
//!
//! Videos, systems and reference files are numbered in the order of the result; `S` is the number of a system, `F` that
//! of a reference file, and `C` that of a chunk of [`CHUNK`] videos. An event is `[start, end, caption]`.
//!
//! | block | content |
//! |---|---|
//! | `meta` | [`Meta`] |
//! | `ids` | the id of each video |
//! | `sums-S-F` | for each video, SODA_c, `null` if nothing was matched, and the number of events with each error;
//! `null` for one that the file lacks |
//! | `events-C` | for each video of the chunk, its [`VideoEvents`] |

use std::fmt;

use capeval_report::{
    EventError, EventLink, PredictedEvents, RoundedNumber, TimedCaption, Timeline, Timelines,
};
use rayon::prelude::*;
use serde::Serialize;

use crate::block::Blocks;

/// The number of videos whose events share a block.
const CHUNK: usize = 64;

/// All blocks of a page.
pub(crate) struct TimelineData<'r> {
    /// The videos.
    pub timelines: &'r Timelines,
    /// Compresses long blocks.
    pub compress: bool,
}

/// The block that the script reads first.
#[derive(Serialize)]
struct Meta<'r> {
    /// Says that the page shows videos, not images.
    of: &'static str,
    /// The number of videos.
    n: usize,
    /// The number of videos that share a block of events.
    chunk: usize,
    /// The names of the reference files.
    references: &'r [String],
    /// The names of the systems.
    systems: &'r [String],
    /// Each error with what it means, in the order of their bits.
    errors: Vec<(&'static str, String)>,
}

/// The events of a video.
#[derive(Serialize)]
struct VideoEvents<'r> {
    duration: Option<f64>,
    /// By reference file; `null` if it lacks the video.
    references: &'r [Option<Vec<TimedCaption>>],
    systems: Vec<Option<SystemEvents<'r>>>,
}

/// The events of a system in a video.
#[derive(Serialize)]
struct SystemEvents<'r> {
    events: &'r [TimedCaption],
    /// By reference file: for each event its [`Link`], and the references that are missed.
    files: Vec<Option<(Vec<Link>, &'r [usize])>>,
}

/// The reference that an event is matched with or overlaps most, the overlap, the score, whether they match; and the
/// errors of the event as bits. The first four are `null` for an event that overlaps none.
type Link = (Option<usize>, Option<RoundedNumber>, Option<RoundedNumber>, bool, u32);

impl fmt::Display for TimelineData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Timelines { references, systems, videos } = self.timelines;
        let errors = EventError::ALL.map(|error| (error.label(), error.meaning()));
        let meta =
            Meta { of: "videos", n: videos.len(), chunk: CHUNK, references, systems, errors: errors.into() };
        f.write_str(&self.block("meta", &meta)?)?;
        f.write_str(&self.block("ids", &videos.iter().map(|video| &video.id).collect::<Vec<_>>())?)?;
        for s in 0..systems.len() {
            for file in 0..references.len() {
                let sums: Vec<_> = videos.par_iter().map(|video| sums(video, s, file)).collect();
                f.write_str(&self.block(&format!("sums-{s}-{file}"), &sums)?)?;
            }
        }
        let chunks = videos.par_chunks(CHUNK).enumerate().map(|(c, videos)| {
            self.block(&format!("events-{c}"), &videos.iter().map(VideoEvents::of).collect::<Vec<_>>())
        });
        let chunks: Vec<Result<String, fmt::Error>> = chunks.collect();
        chunks.into_iter().try_for_each(|chunk| f.write_str(&chunk?))
    }
}

impl TimelineData<'_> {
    fn block(&self, name: &str, data: &impl Serialize) -> Result<String, fmt::Error> {
        Blocks::new(self.compress).of(name, data)
    }
}

impl<'r> VideoEvents<'r> {
    fn of(video: &'r Timeline) -> Self {
        let of_file = |system: &'r PredictedEvents, file: usize| {
            let (links, references) = (system.files.get(file)?.as_ref()?, references(video, file));
            let of_event = |(link, errors): (&Option<EventLink>, Vec<EventError>)| {
                let bits = errors.into_iter().fold(0, |bits, error| bits | 1 << error as u32);
                match link {
                    Some(link) => (
                        Some(link.reference),
                        Some(RoundedNumber(link.overlap)),
                        Some(RoundedNumber(link.score)),
                        link.is_match,
                        bits,
                    ),
                    None => (None, None, None, false, bits),
                }
            };
            let errors = links.errors(&system.events, references);
            Some((links.links.iter().zip(errors).map(of_event).collect(), &links.missed[..]))
        };
        let of_system = |system: &'r PredictedEvents| SystemEvents {
            events: &system.events,
            files: (0..video.references.len()).map(|file| of_file(system, file)).collect(),
        };
        Self {
            duration: video.duration,
            references: &video.references,
            systems: video.systems.iter().map(|system| system.as_ref().map(of_system)).collect(),
        }
    }
}

fn references(video: &Timeline, file: usize) -> &[TimedCaption] {
    video.references.get(file).and_then(Option::as_deref).unwrap_or_default()
}

/// SODA_c of a video by one file, and the number of its events with each error. A video without predictions misses all.
fn sums(video: &Timeline, system: usize, file: usize) -> Option<(RoundedNumber, [usize; 5])> {
    let references = video.references.get(file)?.as_deref()?;
    let mut counts = [0; 5];
    let Some(system) = video.systems.get(system)? else {
        counts[0] = references.len();
        return Some((RoundedNumber(0.0), counts));
    };
    let Some(links) = system.files.get(file)? else { return Some((RoundedNumber(f64::NAN), counts)) };
    counts[0] = links.missed.len();
    for error in links.errors(&system.events, references).into_iter().flatten() {
        counts[error as usize] += 1;
    }
    Some((RoundedNumber(links.score(references.len())), counts))
}
