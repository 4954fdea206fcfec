//! Karpathy's `dataset_*.json`: images with their sentences and the split they belong to.

use std::collections::HashMap;

use capeval_choice::{Argument, Code};

use crate::SegmentId;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::json::{Fault, Json, RawStr, Result, What};
use crate::options::ReadOptions;
use crate::{Notice, Remedy, Role, notice::list_ids};

/// Keys of the image id, in order of preference. `imgid` counts the images of the file and is used only on request.
const ID_KEYS: &[&str] = &["cocoid", "filename"];

/// Keys of ids that candidates may have instead.
const OTHER_IDS: &[&str] = &["imgid", "cocoid", "filename"];

/// The requested splits, and the splits of the file in order of first appearance, with their numbers of images.
pub(crate) struct Splits {
    wanted: Option<Vec<String>>,
    met: HashMap<String, usize>,
    in_order: Vec<String>,
    role: Role,
}

impl Splits {
    pub fn new(options: &ReadOptions) -> Self {
        let wanted = options.split.clone();
        Self { wanted, met: HashMap::new(), in_order: Vec::new(), role: options.role }
    }

    /// Counts an image of `split`; returns whether the split was requested.
    fn admit(&mut self, split: &str) -> bool {
        match self.met.get_mut(split) {
            Some(count) => *count += 1,
            None => {
                self.met.insert(split.into(), 1);
                self.in_order.push(split.into());
            }
        }
        self.wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|wanted| wanted == split))
    }

    /// Refuses splits that the file does not have, and notes what `train` leaves out.
    pub fn check(&self, name: &str, captions: &mut Captions) -> std::result::Result<(), Error> {
        let Some(wanted) = &self.wanted else {
            return Ok(());
        };
        if let Some(unknown) = wanted.iter().find(|wanted| !self.met.contains_key(*wanted)) {
            let known: Vec<SegmentId> = self.in_order.iter().map(|met| SegmentId::from(&**met)).collect();
            let message =
                format!("there is no split {:?}; this file has {}", unknown, list_ids(&known, known.len()));
            let remedy = Remedy::give(Argument::Split(self.role)).to("name one of them");
            return Err(Error::new(ErrorKind::Split, name, message).with_remedy(remedy));
        }
        let asked = |split: &str| wanted.iter().any(|wanted| wanted == split);
        if let (true, false, Some(count)) = (asked("train"), asked("restval"), self.met.get("restval")) {
            let message = format!(
                "the split train leaves out the {count} images of restval, which most papers train on as well"
            );
            let remedy = Remedy::set(Argument::Split(self.role), "train,restval").to("read both");
            captions.notice(Notice::new(Code::RestvalLeftOut, message).count(*count).remedy(remedy));
        }
        Ok(())
    }
}

/// Reads `{"images": [{"cocoid" or "filename", "split", "sentences": [{"raw"}]}]}`. Uses the raw sentences, not the
/// tokens in the file.
pub(crate) fn read(
    json: &mut Json<'_>,
    splits: &mut Splits,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<()> {
    let start = json.at();
    json.open(b'{', "an object with \"images\", as Karpathy's files are")?;
    let mut first = true;
    let mut seen = false;
    while let Some(key) = json.next_key(&mut first)? {
        if !key.is("images") {
            json.skip()?;
            continue;
        }
        if std::mem::replace(&mut seen, true) {
            return duplicate(key, "images");
        }
        json.open(b'[', "an array of images")?;
        let mut first = true;
        while json.next_element(&mut first)? {
            read_image(json, splits, options, captions)?;
        }
    }
    if !seen {
        let what = What::Shape("there is no \"images\" in this object".into());
        return Fault::err(start, what);
    }
    Ok(())
}

fn read_image(
    json: &mut Json<'_>,
    splits: &mut Splits,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<()> {
    json.peek();
    let start = json.at();
    json.open(b'{', "an image object with \"sentences\"")?;
    let (mut sentences, mut split, mut id) = (None, None, None);
    let mut others: Vec<(&str, SegmentId)> = Vec::new();
    let named = options.id_column.as_deref();
    let mut first = true;
    while let Some(key) = json.next_key(&mut first)? {
        let text = key.decoded()?;
        let rank = match named {
            Some(named) => (text == named).then_some(0),
            None => ID_KEYS.iter().position(|known| *known == text),
        };
        if let Some(known) = OTHER_IDS.iter().find(|known| **known == text)
            && let Ok(other) = json.clone().id()
        {
            others.push((known, other));
        }
        match (rank, &*text) {
            (Some(rank), name) => {
                let value = json.id()?;
                match &id {
                    Some((best, _)) if *best == rank => return duplicate(key, name),
                    Some((best, _)) if *best < rank => {}
                    _ => id = Some((rank, value)),
                }
            }
            (None, "split") => split = Some(json.string()?.decoded()?),
            (None, "sentences") if sentences.is_some() => return duplicate(key, "sentences"),
            (None, "sentences") => sentences = Some(read_sentences(json)?),
            (None, _) => json.skip()?,
        }
    }
    if !splits.admit(split.as_deref().unwrap_or("")) {
        return Ok(());
    }
    let (Some((_, id)), Some(sentences)) = (id, sentences) else {
        let message = "this image lacks \"sentences\" or an id (\"cocoid\" or \"filename\")";
        return Fault::err(start, What::Shape(message.into()));
    };
    // Names of files take memory, so the first one has to do.
    others.retain(|(column, other)| {
        let is_known = captions.other_ids().iter().any(|(known, _)| known == column);
        matches!(other, SegmentId::Integer(_)) || !is_known
    });
    others.into_iter().for_each(|(column, other)| captions.add_other_id(column, other));
    if let Some(split) = split.filter(|_| splits.wanted.is_none()) {
        captions.add_to_split(&split, id.clone());
    }
    if sentences.is_empty() {
        captions.declare(id);
        return Ok(());
    }
    for sentence in sentences {
        sentence.push_into(captions.arena())?;
        captions.close_row(id.clone());
    }
    Ok(())
}

fn read_sentences<'a>(json: &mut Json<'a>) -> Result<Vec<RawStr<'a>>> {
    let mut sentences = Vec::new();
    json.open(b'[', "an array of sentences")?;
    let mut first = true;
    while json.next_element(&mut first)? {
        json.peek();
        let start = json.at();
        json.open(b'{', "a sentence object with \"raw\"")?;
        let mut raw = None;
        let mut first = true;
        while let Some(key) = json.next_key(&mut first)? {
            match (key.is("raw"), raw.is_some()) {
                (true, true) => return duplicate(key, "raw"),
                (true, false) => raw = Some(json.string()?),
                (false, _) => json.skip()?,
            }
        }
        match raw {
            Some(raw) => sentences.push(raw),
            None => {
                let what = What::Shape("this sentence has no \"raw\"".into());
                return Fault::err(start, what);
            }
        }
    }
    Ok(sentences)
}

fn duplicate<T>(key: RawStr<'_>, name: &str) -> Result<T> {
    let what = What::Duplicate(format!("the key {name:?} appears twice in one object"));
    Fault::err(key.start(), what)
}
