//! Reads texts without times, for the forms that score whole texts: paragraphs of videos, and stories of albums.

use capeval_choice::Refusal;
use indexmap::IndexMap;

use super::time::events_in_text;
use super::{Json, ReadOptions, json, read_json, shape};
use crate::{Event, EventFile};

/// The sentences of each text of each video or album.
type Texts = IndexMap<String, Vec<Vec<String>>>;

/// Reads reference files of a text: one file, or as many as there are texts of one video.
///
/// # Errors
/// As [`super::read`].
pub fn read_references(text: &str, name: &str, options: &ReadOptions) -> Result<Vec<EventFile>, Refusal> {
    if !options.takes_texts || !text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) {
        return Ok(vec![super::read(text, name, options)?]);
    }
    let whole = json(text, name)?;
    match stories(&whole).or_else(|| texts(&whole)) {
        Some(texts) => Ok(files(&texts, name)),
        None => Ok(vec![read_json(&whole, name, options)?]),
    }
}

/// Reads the results of one system.
///
/// # Errors
/// As [`super::read`], and when a video has several texts.
pub fn read_results(text: &str, name: &str, options: &ReadOptions) -> Result<EventFile, Refusal> {
    let mut files = read_references(text, name, options)?;
    match files.len() {
        1 => Ok(files.remove(0)),
        n => Err(Refusal::new(format!("{name} has up to {n} texts of one video"))
            .with_remedy("give one text for each video, and each system in a file of its own")),
    }
}

fn files(texts: &Texts, name: &str) -> Vec<EventFile> {
    let n = texts.values().map(Vec::len).max().unwrap_or(0).max(1);
    let event = |sentence: &String| Event { start: 0.0, end: 0.0, caption: sentence.clone() };
    let file = |k: usize| {
        let of = |(id, texts): (&String, &Vec<Vec<String>>)| match texts.get(k) {
            Some(sentences) => Some((id.clone(), sentences.iter().map(event).collect())),
            None => (k == 0).then(|| (id.clone(), Vec::new())),
        };
        EventFile {
            name: name.to_owned(),
            videos: texts.iter().filter_map(of).collect(),
            ..EventFile::default()
        }
    };
    (0..n).map(file).collect()
}

/// The stories of VIST's annotations, each a list of one sentence with its album, story and place.
fn stories(whole: &Json) -> Option<Texts> {
    let list = whole.get("annotations")?.list()?;
    let mut albums: IndexMap<String, IndexMap<String, Vec<(f64, String)>>> = IndexMap::new();
    for entry in list {
        let sentence = entry.list().and_then(<[Json]>::first).unwrap_or(entry);
        let id = |key: &str| sentence.get(key).and_then(shape::id_text);
        let place = match sentence.get("worker_arranged_photo_order") {
            Some(Json::Number(place)) => *place,
            _ => 0.0,
        };
        let text = sentence.get("text")?.text()?.to_owned();
        albums.entry(id("album_id")?).or_default().entry(id("story_id")?).or_default().push((place, text));
    }
    let story = |mut sentences: Vec<(f64, String)>| {
        sentences.sort_by(|a, b| a.0.total_cmp(&b.0));
        sentences.into_iter().map(|(_, text)| text).collect()
    };
    Some(albums.into_iter().map(|(id, stories)| (id, stories.into_values().map(story).collect())).collect())
}

/// Texts by id, or entries of an id and a text; `None` if the values are something else, or have times.
fn texts(whole: &Json) -> Option<Texts> {
    let videos = ["results", "output_stories"].iter().find_map(|key| whole.get(key)).unwrap_or(whole);
    let mut all = Texts::new();
    match videos {
        Json::Object(fields) if !fields.is_empty() => {
            for (id, value) in fields {
                all.insert(id.clone(), of_video(value)?);
            }
        }
        Json::List(list) if !list.is_empty() => {
            for entry in list {
                let (id, text) = entry_text(entry)?;
                let texts = all.entry(id).or_insert_with(|| vec![Vec::new()]);
                texts.iter_mut().for_each(|sentences| sentences.push(text.clone()));
            }
        }
        _ => return None,
    }
    let mut sentences = all.values().flatten().flatten().peekable();
    let have_times = sentences.peek().is_some()
        && sentences.all(|text| events_in_text(text).is_ok() || shape::written(text).is_some());
    (!have_times).then_some(all)
}

fn of_video(value: &Json) -> Option<Vec<Vec<String>>> {
    let sentences =
        |list: &[Json]| list.iter().map(|one| one.text().map(str::to_owned)).collect::<Option<Vec<_>>>();
    match value {
        Json::Text(text) => Some(vec![vec![text.clone()]]),
        Json::List(list) if list.is_empty() => Some(vec![Vec::new()]),
        Json::List(list) => match list.iter().map(|one| one.list().and_then(sentences)).collect() {
            Some(texts) => Some(texts),
            None => Some(vec![sentences(list)?]),
        },
        _ => None,
    }
}

/// The id and the only text of an entry that has no numbers or lists beside them.
fn entry_text(entry: &Json) -> Option<(String, String)> {
    let id = shape::id_of(entry)?;
    let is_text = |value: &&(String, Json)| value.1.text().is_some_and(|text| text != id);
    let fields = entry.fields()?;
    if fields.iter().any(|(_, value)| matches!(value, Json::List(_) | Json::Object(_))) {
        return None;
    }
    let numbers = fields.iter().filter(|(_, value)| matches!(value, Json::Number(_))).count();
    let is_number =
        fields.iter().any(|(_, value)| shape::id_text(value).as_ref() == Some(&id) && value.text().is_none());
    let mut texts = fields.iter().filter(is_text);
    let (one, other) = (texts.next()?, texts.next());
    (other.is_none() && numbers == usize::from(is_number)).then(|| Some((id, one.1.text()?.to_owned())))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<Vec<(String, Vec<String>)>> {
        let options = ReadOptions { takes_texts: true, ..ReadOptions::default() };
        let files = read_references(text, "f", &options).unwrap();
        let of = |file: EventFile| {
            let captions = |events: Vec<Event>| events.into_iter().map(|event| event.caption).collect();
            file.videos.into_iter().map(|(id, events)| (id, captions(events))).collect()
        };
        files.into_iter().map(of).collect()
    }

    #[test]
    fn texts_are_read_from_the_forms_in_use() {
        let one =
            |id: &str, all: &[&str]| (id.to_owned(), all.iter().map(|text| (*text).to_owned()).collect());
        let story: (String, Vec<String>) = one("7", &["a dog.", "it runs."]);
        for text in [
            r#"{"7": ["a dog.", "it runs."]}"#,
            r#"{"version": "1", "results": {"7": ["a dog.", "it runs."]}}"#,
            r#"[{"album_id": 7, "text": "a dog."}, {"album_id": 7, "text": "it runs."}]"#,
            r#"{"results": {"7": [{"timestamp": [0, 1], "sentence": "a dog."}, {"timestamp": [1, 2], "sentence": "it runs."}]}}"#,
            r#"{"annotations": [[{"album_id": "7", "story_id": "1", "text": "it runs.", "worker_arranged_photo_order": 1}],
                [{"album_id": "7", "story_id": "1", "text": "a dog.", "worker_arranged_photo_order": 0}]]}"#,
        ] {
            assert_eq!(sentences(text), [vec![story.clone()]], "{text}");
        }
        let two = sentences(r#"{"7": [["a dog."], ["one cat."]], "8": [["x"]]}"#);
        assert_eq!(two, [vec![one("7", &["a dog."]), one("8", &["x"])], vec![one("7", &["one cat."])]]);
        assert_eq!(
            sentences(r#"{"output_stories": [{"album_id": "7", "pred_story_str": "x"}]}"#),
            [[one("7", &["x"])]]
        );
        let options = ReadOptions { takes_texts: true, ..ReadOptions::default() };
        let refusal = read_results(r#"{"7": [["a"], ["b"]]}"#, "f", &options).unwrap_err();
        assert!(refusal.to_string().contains("up to 2 texts"));
        assert!(read_references(r#"{"7": 1}"#, "f", &options).is_err());
        let untold = ReadOptions::default();
        assert!(read_references(r#"{"7": "a dog."}"#, "f", &untold).is_err(), "a form of events needs times");
    }
}
