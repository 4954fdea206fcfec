//! Rules for longer texts and objects: paragraphs, stories, captions of 3D objects, and repetition. Each rule makes the
//! texts of a candidate and of its references, which the metrics then score like any captions, without a tokenizer.

use capeval_evaluate::registry;
use capeval_evaluate::{ReferenceSet, System, evaluate};
use capeval_metric::{AnyMetric, Refusal};
use indexmap::{IndexMap, IndexSet};

use crate::event::Video;
use crate::run::SharedScores;
use crate::scores::mean;
use crate::{Event, EventFile, Form, FormScores, Measure, Program, Stop, WordMetric, WordMetrics};

/// An item with its candidate and references.
pub(crate) struct Item {
    pub id: String,
    pub candidate: String,
    pub references: Vec<String>,
}

/// The ids that were scored, with a value of each measure for all of them and for each.
#[derive(Clone, Debug)]
pub struct TextScores {
    /// The ids, in order.
    pub ids: Vec<String>,
    /// The measures; `videos` has a value for each id.
    pub measures: Vec<Measure>,
}

/// METEOR as most programs call it.
pub(crate) const USUAL_METEOR: &str = "meteor:tok=none";
/// METEOR as VIST's evaluation calls it.
const STORY_METEOR: &str = "meteor:tok=none:task=hter:text=verbatim";

/// The scores of a form of texts; the captions of a reference file's events are one text.
pub(crate) fn form(form: Form, shared: &SharedScores<'_>) -> FormScores {
    let SharedScores { references, predictions, metrics, .. } = shared;
    let paragraph =
        |events: &Vec<Event>| events.iter().map(|event| event.caption.as_str()).collect::<Vec<_>>().join(" ");
    let found = match form.program {
        Program::MartParagraph => {
            let file = |file: &EventFile| {
                file.videos.iter().map(|(id, events)| (id.clone(), paragraph(events))).collect()
            };
            let references: Vec<IndexMap<String, String>> = references.iter().map(file).collect();
            paragraphs(&references, predictions, metrics).map_err(Stop::NoScores)
        }
        Program::ScenicParagraph | Program::TimeChatParagraph => {
            let separator = if form.program == Program::ScenicParagraph { " " } else { ". " };
            joined_paragraphs(references, predictions, separator, metrics).map_err(Stop::NoScores)
        }
        Program::MartRepetition => {
            let mut all = EventFile::default();
            all.videos.extend(references.iter().flat_map(|file| file.videos.clone()));
            repetition(&all, predictions)
        }
        _ => {
            let captions = |events: &[Event]| events.iter().map(|event| event.caption.clone()).collect();
            let album = |video: Video<'_>| {
                Some(Album {
                    id: video.id.to_owned(),
                    stories: video.references.into_iter().flatten().map(captions).collect(),
                    prediction: captions(video.predictions?),
                })
            };
            let albums: Vec<Album> =
                Video::all(references, predictions).into_iter().filter_map(album).collect();
            stories(&albums, metrics).map_err(Stop::NoScores)
        }
    };
    let mut scores = FormScores { form, videos: Vec::new(), measures: Vec::new(), stops: Vec::new() };
    match found {
        Ok(found) if found.ids.is_empty() => scores.stops.push(Stop::NoVideos),
        Ok(TextScores { ids, measures }) => (scores.videos, scores.measures) = (ids, measures),
        Err(stop) => scores.stops.push(stop),
    }
    scores
}

/// Scores paragraphs as MART and PDVC do: the captions of a video as one text, against one paragraph from each
/// reference file that has the video, of both of which only letters are left. A video without predictions is an empty
/// text, and counts.
///
/// Quirk kept on purpose: if the first key of a file has no `v_`, it is put before all keys of that file.
///
/// # Errors
/// When METEOR cannot be built.
pub fn paragraphs(
    references: &[IndexMap<String, String>],
    predictions: &EventFile,
    metrics: &WordMetrics,
) -> Result<TextScores, Refusal> {
    let files: Vec<IndexMap<String, &str>> =
        references.iter().map(|file| prefixed(file, String::as_str)).collect();
    let predictions = prefixed(&predictions.videos, Vec::as_slice);
    let ids: IndexSet<&String> = files.iter().flat_map(IndexMap::keys).collect();
    let items = ids.into_iter().map(|id| {
        let events = predictions.get(id).copied().unwrap_or_default();
        let whole: String = events.iter().map(|event| format!("{}. ", event.caption)).collect();
        let references = files.iter().filter_map(|file| Some(letters(file.get(id)?))).collect();
        Item { id: id.clone(), candidate: letters(&whole), references }
    });
    score(items.collect(), USUAL_METEOR, metrics)
}

/// Scores paragraphs as scenic does, which joins the captions of events by `separator`: a blank in scenic, and `. ` in
/// TimeChat. They print METEOR and CIDEr-D alone.
///
/// # Errors
/// When METEOR cannot be built.
pub fn joined_paragraphs(
    references: &[EventFile],
    predictions: &EventFile,
    separator: &str,
    metrics: &WordMetrics,
) -> Result<TextScores, Refusal> {
    let joined = |events: &[Event], separator: &str| {
        letters(&events.iter().map(|event| event.caption.as_str()).collect::<Vec<_>>().join(separator))
    };
    let items = Video::all(references, predictions).into_iter().map(|video| Item {
        id: video.id.to_owned(),
        candidate: joined(video.predictions.unwrap_or_default(), separator),
        references: video.references.iter().flatten().map(|events| joined(events, " ")).collect(),
    });
    let mut scores = score(items.collect(), USUAL_METEOR, metrics)?;
    scores.measures.retain(|measure| measure.name == "meteor" || measure.name == "cider-d");
    Ok(scores)
}

fn prefixed<'f, V, T>(file: &'f IndexMap<String, V>, of: impl Fn(&'f V) -> T) -> IndexMap<String, T> {
    let is_bare = file.keys().next().is_some_and(|id| !id.starts_with("v_"));
    let id = |id: &String| if is_bare { format!("v_{id}") } else { id.clone() };
    file.iter().map(|(key, value)| (id(key), of(value))).collect()
}

/// The letters of a text in lower case, with one blank between runs of them.
fn letters(text: &str) -> String {
    let runs = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|run| !run.is_empty());
    runs.map(str::to_ascii_lowercase).collect::<Vec<_>>().join(" ")
}

/// An album with the stories that people and a system tell of it.
#[derive(Clone, Debug, Default)]
pub struct Album {
    /// The id.
    pub id: String,
    /// The sentences of each reference story.
    pub stories: Vec<Vec<String>>,
    /// The sentences of the system's story.
    pub prediction: Vec<String>,
}

/// Scores stories as VIST's evaluation does: without a tokenizer and with capitals, so that `Word.` is not `word`, and
/// METEOR by the weights of HTER. Characters beyond ASCII are dropped.
///
/// # Errors
/// When METEOR cannot be built.
pub fn stories(albums: &[Album], metrics: &WordMetrics) -> Result<TextScores, Refusal> {
    let story = |sentences: &Vec<String>| sentences.join(" ").chars().filter(char::is_ascii).collect();
    let items = albums.iter().map(|album| Item {
        id: album.id.clone(),
        candidate: story(&album.prediction),
        references: album.stories.iter().map(story).collect(),
    });
    score(items.collect(), STORY_METEOR, metrics)
}

/// An object of a scene with its descriptions, and what a system says of it.
#[derive(Clone, Debug, Default)]
pub struct SceneObject {
    /// The name, such as `scene|object|name`.
    pub id: String,
    /// The words of each description.
    pub descriptions: Vec<Vec<String>>,
    /// The caption, with `sos` and `eos`, and the overlap of its box with the object's; `None` if it was not found.
    pub found: Option<(String, f64)>,
}

/// The number of words of a description that Scan2Cap reads.
const MOST_WORDS: usize = 30;

/// Scores captions of 3D objects as Scan2Cap's m@kIoU: an object whose box overlaps by no more than `threshold`, or
/// that was not found, has the caption `sos eos`, which still earns points, over all objects of the references.
///
/// # Errors
/// When METEOR cannot be built.
pub fn objects(
    objects: &[SceneObject],
    threshold: f64,
    metrics: &WordMetrics,
) -> Result<TextScores, Refusal> {
    let items = objects.iter().map(|object| {
        let found = object.found.as_ref().filter(|(_, overlap)| *overlap > threshold);
        let description = |words: &Vec<String>| {
            let words = words.iter().take(MOST_WORDS).map(String::as_str);
            ["sos"].into_iter().chain(words).chain(["eos"]).collect::<Vec<_>>().join(" ")
        };
        Item {
            id: object.id.clone(),
            candidate: found.map_or_else(|| "sos eos".to_owned(), |(caption, _)| caption.clone()),
            references: object.descriptions.iter().map(description).collect(),
        }
    });
    score(items.collect(), USUAL_METEOR, metrics)
}

/// Scores items by those of BLEU, METEOR, ROUGE-L and CIDEr-D that are wanted.
pub(crate) fn score(items: Vec<Item>, meteor: &str, wanted: &WordMetrics) -> Result<TextScores, Refusal> {
    let specs = [
        (WordMetric::Bleu, "bleu:tok=none"),
        (WordMetric::Meteor, meteor),
        (WordMetric::Rouge, "rouge-l:tok=none"),
        (WordMetric::Cider, "cider-d:tok=none"),
    ];
    let specs = specs.iter().filter(|(metric, _)| wanted.has(*metric));
    let metrics = specs.map(|(_, spec)| registry::build(spec, &[], &wanted.resources));
    let metrics: Vec<AnyMetric> = metrics.collect::<Result<_, _>>()?;
    let mut set: ReferenceSet = items.iter().map(|item| item.references.iter().map(String::as_str)).collect();
    let system = System {
        name: String::new(),
        images: (0..items.len() as u32).collect(),
        texts: items.iter().map(|item| item.candidate.as_str()).collect(),
    };
    let mut measures = Vec::new();
    for scores in evaluate(&mut set, &[system], &metrics, &()).into_iter().flat_map(|system| system.metrics) {
        let parts = scores.metric.parts();
        let segments = scores.segments();
        for (p, part) in parts.iter().enumerate() {
            let of_items = segments.iter().skip(p).step_by(parts.len());
            measures.push(Measure {
                name: part.key.clone(),
                value: scores.corpus[p],
                at: Vec::new(),
                videos: of_items.map(|value| vec![*value]).collect(),
            });
        }
    }
    Ok(TextScores { ids: items.into_iter().map(|item| item.id).collect(), measures })
}

/// The share of n-grams of one to four words that a video's captions repeat, as MART's evaluation counts them, over the
/// videos of the reference file that have predictions.
///
/// Quirk kept on purpose: one full stop at the end is removed, and a caption without words stops the program.
///
/// # Errors
/// The stop, where a caption has no words.
pub fn repetition(references: &EventFile, predictions: &EventFile) -> Result<TextScores, Stop> {
    let (mut ids, mut videos) = (Vec::new(), vec![Vec::new(); 4]);
    for id in references.videos.keys() {
        let Some(events) = predictions.videos.get(id) else { continue };
        let mut sentences = Vec::new();
        for event in events {
            let blank = || Stop::BlankSentence(id.clone());
            let text = event.caption.strip_suffix('.').unwrap_or(&event.caption).trim_end();
            if text.is_empty() {
                return Err(blank());
            }
            let text = text.replace(',', " ");
            sentences.push(one_blank(&text));
        }
        ids.push(id.clone());
        for (n, values) in videos.iter_mut().enumerate() {
            let mut counts: IndexMap<Vec<&str>, usize> = IndexMap::new();
            for sentence in &sentences {
                let words: Vec<&str> = sentence.split(' ').collect();
                words.windows(n + 1).for_each(|ngram| *counts.entry(ngram.to_vec()).or_default() += 1);
            }
            let all: usize = counts.values().sum();
            let repeated = all - counts.len();
            values.push(vec![if all == 0 { 0.0 } else { repeated as f64 / all as f64 }]);
        }
    }
    let measure = |(n, videos): (usize, Vec<Vec<f64>>)| Measure {
        name: format!("re{}", n + 1),
        value: mean(videos.iter().map(|values| values[0])),
        at: Vec::new(),
        videos,
    };
    Ok(TextScores { ids, measures: videos.into_iter().enumerate().map(measure).collect() })
}

/// The text with one blank for each run of blanks.
fn one_blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != ' ' || !out.ends_with(' ') {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(captions: &[&str]) -> EventFile {
        let event = |caption: &&str| Event { start: 0.0, end: 1.0, caption: (*caption).to_owned() };
        let videos = [("v".to_owned(), captions.iter().map(event).collect())].into_iter().collect();
        EventFile { videos, ..EventFile::default() }
    }

    #[test]
    fn half_of_the_words_of_a_repeated_caption_are_repeated() {
        let scores = repetition(&file(&[]), &file(&["a man runs", "a man runs."])).unwrap();
        let values: Vec<f64> = scores.measures.iter().map(|measure| measure.value).collect();
        assert_eq!(values, [0.5, 0.5, 0.5, 0.0]);
        assert!(repetition(&file(&[]), &file(&["."])).is_err());
    }

    #[test]
    fn paragraphs_keep_letters_only() {
        assert_eq!(letters("Don't run, 3 men! "), "don t run men");
    }
}
