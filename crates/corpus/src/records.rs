//! Which keys of an object name an image, and which hold captions?

use capeval_choice::Argument;

use crate::SegmentId;
use crate::captions::Captions;
use crate::json::{Fault, Json, RawStr, Result, ValueKind, What};
use crate::options::ReadOptions;
use crate::{Remedy, Role};

/// Keys and columns that hold an id, the best one first.
pub(crate) const ID_KEYS: &[&str] =
    &["image_id", "id", "image", "file_name", "filename", "name", "image_name"];

/// Keys that hold references, the best one first.
const REFERENCE_KEYS: &[&str] = &["references", "refs", "captions", "caption", "text"];

/// Keys that hold a candidate, the best one first.
const CANDIDATE_KEYS: &[&str] = &[
    "prediction",
    "predicted_caption",
    "caption_predicted",
    "hypothesis",
    "hyp",
    "candidate",
    "caption",
    "text",
    "captions",
];

/// Whether a key is one of those that records have, so that an object with it is a record.
pub(crate) fn means_something(key: &str) -> bool {
    [ID_KEYS, REFERENCE_KEYS, CANDIDATE_KEYS].iter().any(|keys| keys.contains(&key))
}

/// Reads records one by one and numbers them where they have no id.
pub(crate) struct Records<'o> {
    id_keys: Vec<&'o str>,
    caption_keys: Vec<&'o str>,
    /// Whether every caption key counts, as those do that the user named, or only the best one.
    all_captions: bool,
    options: &'o ReadOptions,
    /// Where the current record has a value for each of `id_keys`.
    id_places: Vec<Option<usize>>,
    /// Where the current record has a value for each of `caption_keys`.
    caption_places: Vec<Option<usize>>,
    /// How many records have been read.
    count: usize,
    numbered: bool,
}

impl<'o> Records<'o> {
    pub fn new(options: &'o ReadOptions) -> Self {
        let id_keys = match &options.id_column {
            Some(column) => vec![column.as_str()],
            None => ID_KEYS.to_vec(),
        };
        let caption_keys = match (&options.caption_columns, options.role) {
            (Some(columns), _) => columns.iter().map(String::as_str).collect(),
            (None, Role::Candidates) => CANDIDATE_KEYS.to_vec(),
            (None, _) => REFERENCE_KEYS.to_vec(),
        };
        Self {
            id_places: vec![None; id_keys.len()],
            caption_places: vec![None; caption_keys.len()],
            id_keys,
            caption_keys,
            all_captions: options.caption_columns.is_some(),
            options,
            count: 0,
            numbered: false,
        }
    }

    /// Reads one object, which begins on `line` if its format has lines.
    pub fn read(&mut self, json: &mut Json<'_>, line: Option<u64>, captions: &mut Captions) -> Result<()> {
        json.peek();
        let start = json.clone();
        json.open(b'{', "an object with an id and a caption")?;
        self.id_places.fill(None);
        self.caption_places.fill(None);
        let mut first = true;
        while let Some(key) = json.next_key(&mut first)? {
            note(&self.id_keys, &mut self.id_places, key, json.at())?;
            note(&self.caption_keys, &mut self.caption_places, key, json.at())?;
            json.skip()?;
        }
        self.count += 1;
        let id = self.id(&start)?;
        let limit = if self.all_captions { self.caption_places.len() } else { 1 };
        let mut found = false;
        let mut any = false;
        for place in self.caption_places.iter().flatten().take(limit) {
            found = true;
            any |= push_texts(&mut start.moved_to(*place), &id, line, captions)?;
        }
        if !found {
            let message = format!("record {} has no caption: its keys are {}", self.count, list_keys(&start));
            let remedy = Remedy::give(Argument::CaptionColumns(self.options.role)).to("name one");
            return Fault::with_remedy(start.at(), What::Shape(message), remedy);
        }
        if !any {
            captions.declare(id);
        }
        Ok(())
    }

    fn id(&mut self, start: &Json<'_>) -> Result<SegmentId> {
        let place = self.id_places.iter().flatten().next();
        match place {
            Some(place) if !self.numbered => start.moved_to(*place).id(),
            None if self.numbered || self.count == 1 => {
                self.numbered = true;
                Ok(SegmentId::Integer(i64::try_from(self.count).unwrap_or(i64::MAX)))
            }
            place => {
                let (has, others) = if place.is_some() { ("an id", "none") } else { ("no id", "one") };
                let message = format!(
                    "record {} has {has}, while those before it have {others}: its keys are {}",
                    self.count,
                    list_keys(start)
                );
                let remedy = Remedy::give(Argument::IdColumn(self.options.role)).to("name one");
                Fault::with_remedy(start.at(), What::Shape(message), remedy)
            }
        }
    }

    /// Says that records were numbered, if they were.
    pub fn finish(&self, captions: &mut Captions) {
        if self.numbered {
            captions.notice(numbered_notice(captions.source(), self.count, self.options));
        }
    }
}

/// The notice that rows have no id and were numbered.
pub(crate) fn numbered_notice(source: &str, count: usize, options: &ReadOptions) -> crate::Notice {
    let message =
        format!("{source} has no id column ({}), so its rows are numbered from 1", ID_KEYS.join(", "));
    let remedy = Remedy::give(Argument::IdColumn(options.role)).to("name one");
    crate::Notice::new("row-numbers", count, [], message).with_remedy(remedy)
}

/// Adds a caption, or a list of captions, and tells whether there was any.
pub(crate) fn push_texts(
    json: &mut Json<'_>,
    id: &SegmentId,
    line: Option<u64>,
    captions: &mut Captions,
) -> Result<bool> {
    let mut push = |json: &mut Json<'_>| -> Result<()> {
        let text = json.string()?;
        if let Some(line) = line {
            captions.push_at(id.clone(), &text.decoded()?, line);
            return Ok(());
        }
        text.push_into(captions.arena())?;
        captions.close_row(id.clone());
        Ok(())
    };
    if json.kind()? == ValueKind::String {
        push(json)?;
        return Ok(true);
    }
    json.open(b'[', "a caption in quotes or a list of captions")?;
    let mut first = true;
    let mut any = false;
    while json.next_element(&mut first)? {
        json.kind()?;
        if json.peek() != Some(b'"') {
            return json.mismatch("a caption in quotes");
        }
        push(json)?;
        any = true;
    }
    Ok(any)
}

/// Notes the place of a value if its key is one of `keys`.
#[inline]
fn note(keys: &[&str], places: &mut [Option<usize>], key: RawStr<'_>, at: usize) -> Result<()> {
    for (name, place) in keys.iter().zip(places) {
        if key.is(name) && place.replace(at).is_some() {
            let what = What::Duplicate(format!("the key {name:?} stands twice in one object"));
            return Fault::err(key.start(), what);
        }
    }
    Ok(())
}

/// The keys of the object that begins at `start`, for an error.
#[cold]
fn list_keys(start: &Json<'_>) -> String {
    const SHOWN: usize = 12;
    let mut json = start.clone();
    let mut names = Vec::new();
    let mut more = false;
    let mut list = || -> Result<()> {
        json.open(b'{', "an object")?;
        let mut first = true;
        while let Some(key) = json.next_key(&mut first)? {
            if names.len() == SHOWN {
                more = true;
                break;
            }
            names.push(SegmentId::from(&*key.decoded()?).quoted().to_string());
            json.skip()?;
        }
        Ok(())
    };
    // The object has been read before, so only a lone surrogate in a key can end the list early.
    more |= list().is_err();
    match (names.is_empty(), more) {
        (true, _) => "none".into(),
        (false, more) => names.join(", ") + if more { ", …" } else { "" },
    }
}
