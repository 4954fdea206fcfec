//! COCO's two formats: annotations (references, with a list of images) and results (one caption per image).
//!
//! This is a hot path, so each record is read in one pass: the caption is borrowed from the text and copied once into
//! the arena, and all other values are skipped.

use std::borrow::Cow;

use crate::Role;
use crate::captions::Captions;
use crate::error::Error;
use crate::formats::rows::{CaptionRows, EXPECTED};
use crate::json::{Fault, Json, RawStr, Result as Read, ValueKind, What};
use crate::options::ReadOptions;
use crate::reading::{Kinds, Truths, is_mark, rejected_notice, says_yes};
use crate::table::{Origin, read_array};

/// Reads `{"images": [{"id"}], "annotations": [{"image_id", "caption"}]}`; other keys are skipped. Keys that the user
/// names are those of the annotations.
pub(crate) fn read_annotations(
    json: &mut Json<'_>,
    origin: &Origin<'_>,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    let start = json.at();
    origin.check(json.open(b'{', "an object with \"annotations\", as COCO's caption files are"))?;
    let mut first = true;
    let (mut annotations_seen, mut images_seen) = (false, false);
    while let Some(key) = origin.check(json.next_key(&mut first))? {
        match &*origin.check(key.decoded())? {
            "annotations" => {
                origin.check(once(&mut annotations_seen, key, "annotations"))?;
                read_records(json, origin, options, captions, "annotations")?;
            }
            "images" => {
                origin.check(once(&mut images_seen, key, "images"))?;
                origin.check(read_images(json, captions))?;
            }
            _ => origin.check(json.skip())?,
        }
    }
    if !annotations_seen {
        let what = What::Shape("there is no \"annotations\" in this object, so there are no captions".into());
        return origin.check(Fault::err(start, what));
    }
    Ok(())
}

/// Reads `[{"image_id", "caption"}]`; other keys are skipped.
pub(crate) fn read_results(
    json: &mut Json<'_>,
    origin: &Origin<'_>,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    read_records(json, origin, options, captions, "results")
}

fn read_records(
    json: &mut Json<'_>,
    origin: &Origin<'_>,
    options: &ReadOptions,
    captions: &mut Captions,
    list: &str,
) -> Result<(), Error> {
    if options.names_columns() {
        let mut rows = CaptionRows::new(options, captions);
        read_array(json, origin, EXPECTED, &mut rows)?;
        rows.finish();
        return Ok(());
    }
    origin.check(read_plain(json, captions, list, options.role))
}

fn read_plain(json: &mut Json<'_>, captions: &mut Captions, list: &str, role: Role) -> Read<()> {
    json.open(b'[', "an array of objects with \"image_id\" and \"caption\"")?;
    let (mut first, mut marks) = (true, Marks::default());
    while json.next_element(&mut first)? {
        read_record(json, captions, list, &mut marks)?;
    }
    if marks.count > 0 {
        let notice = rejected_notice(captions.source(), marks.count, &marks.keys);
        captions.notice(notice);
    }
    if role != Role::Candidates {
        let mut notices = marks.truths.notices(marks.records, captions.source(), role);
        notices.extend(marks.kinds.notices(captions, role));
        notices.into_iter().for_each(|notice| captions.notice(notice));
    }
    Ok(())
}

/// The records that their own data set marks as unusable, as VizWiz marks spam: they are no captions.
#[derive(Default)]
struct Marks {
    count: usize,
    /// The number of the others.
    records: usize,
    /// What their other keys say of them.
    truths: Truths,
    kinds: Kinds,
    /// The other keys of the current record, and their values; those of a text are marked.
    current: Vec<(String, String, bool)>,
    /// The keys that mark them.
    keys: Vec<String>,
}

impl Marks {
    /// Reads the value of a key that could be a mark; returns true if it is set.
    fn read(&mut self, key: RawStr<'_>, json: &mut Json<'_>) -> Read<bool> {
        let name = key.decoded()?;
        let kind = json.kind()?;
        let value = match kind {
            ValueKind::Number | ValueKind::Other => json.clone().scalar()?.into(),
            ValueKind::String => json.clone().string()?.decoded()?,
            _ => Cow::Borrowed(""),
        };
        let is_set = is_mark(&name) && says_yes(&value);
        self.current.push((name.to_string(), value.into_owned(), kind == ValueKind::String));
        json.skip()?;
        if is_set && !self.keys.iter().any(|known| *known == name) {
            self.keys.push(name.into_owned());
        }
        Ok(is_set)
    }

    /// Ends the current record, which has caption number `row` if it is used.
    fn end_record(&mut self, row: Option<usize>) {
        let Some(row) = row else {
            self.current.clear();
            return;
        };
        self.records += 1;
        for (name, value, is_text) in self.current.drain(..) {
            self.truths.add(&name, &value);
            if is_text {
                self.kinds.add(&name, row, &value);
            }
        }
    }
}

#[inline]
fn read_record(json: &mut Json<'_>, captions: &mut Captions, list: &str, marks: &mut Marks) -> Read<()> {
    json.peek();
    let start = json.at();
    json.open(b'{', "an object with \"image_id\" and \"caption\"")?;
    let (mut id, mut caption, mut is_marked) = (None, None, false);
    let mut first = true;
    while let Some(key) = json.next_key(&mut first)? {
        if key.is("image_id") {
            if id.is_some() {
                return duplicate(key, "image_id");
            }
            id = Some(json.id()?);
        } else if key.is("caption") {
            if caption.is_some() {
                return duplicate(key, "caption");
            }
            if json.peek() != Some(b'"') {
                return json.no_caption("a caption in quotes", id.as_ref());
            }
            caption = Some(json.string()?);
        } else if key.is("id") {
            json.skip()?;
        } else {
            is_marked |= marks.read(key, json)?;
        }
    }
    match (id, caption) {
        (Some(id), Some(_)) if is_marked => {
            marks.count += 1;
            marks.end_record(None);
            captions.declare(id);
            Ok(())
        }
        (Some(id), Some(caption)) => {
            marks.end_record(Some(captions.len()));
            caption.push_into(captions.arena())?;
            captions.close_row(id);
            Ok(())
        }
        (id, _) => {
            let missing = if id.is_none() { "image_id" } else { "caption" };
            let record = captions.len() + 1;
            let what = What::Shape(format!("record {record} of the {list} has no \"{missing}\""));
            Fault::err(start, what)
        }
    }
}

/// Declares the ids of COCO's `images`. Entries without an id are skipped, since nothing can refer to them.
fn read_images(json: &mut Json<'_>, captions: &mut Captions) -> Read<()> {
    json.open(b'[', "an array of images")?;
    let (mut first, mut is_first) = (true, true);
    while json.next_element(&mut first)? {
        json.open(b'{', "an image object with \"id\"")?;
        // What else identifies images is known from the first one.
        let is_sample = std::mem::replace(&mut is_first, false);
        let mut first = true;
        let mut id = None;
        while let Some(key) = json.next_key(&mut first)? {
            if key.is("id") {
                if id.is_some() {
                    return duplicate(key, "id");
                }
                id = Some(json.id()?);
            } else {
                if is_sample && let Ok(other) = json.clone().id() {
                    captions.add_other_id(&key.decoded()?, other);
                }
                json.skip()?;
            }
        }
        if let Some(id) = id {
            captions.declare(id);
        }
    }
    Ok(())
}

fn once(seen: &mut bool, key: RawStr<'_>, name: &str) -> Read<()> {
    if std::mem::replace(seen, true) { duplicate(key, name) } else { Ok(()) }
}

#[cold]
fn duplicate<T>(key: RawStr<'_>, name: &str) -> Read<T> {
    let what = What::Duplicate(format!("the key \"{name}\" appears twice in one object"));
    Fault::err(key.start(), what)
}
