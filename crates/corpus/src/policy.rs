//! Policies for mismatches between candidates and references, strict by default.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization;

use crate::SegmentId;

capeval_choice::named! {
    /// The policy for images with references but without a candidate.
    #[derive(Default)]
    pub enum Missing ("policy for missing candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Skip = "skip", "exclude these images from all metrics and from document frequencies";
        Empty = "empty", "score the images as if their caption were empty";
    }
}

capeval_choice::named! {
    /// The policy for candidates of images without references.
    #[derive(Default)]
    pub enum Surplus ("policy for surplus candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Ignore = "ignore", "leave them out";
    }
}

capeval_choice::named! {
    /// The policy for several candidates for one image.
    #[derive(Default)]
    pub enum Duplicate ("policy for duplicate candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        First = "first", "use the first one";
        Last = "last", "use the last one";
    }
}

capeval_choice::named! {
    /// The policy for candidates that are empty or only white space.
    #[derive(Default)]
    pub enum Empty ("policy for empty candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Keep = "keep", "score them";
        Skip = "skip", "leave their images out of every metric";
    }
}

capeval_choice::named! {
    /// The rule for comparing ids.
    #[derive(Default)]
    pub enum Ids ("way to compare ids") {
        #[default]
        AsGiven = "as-given", "the number 1 and the text \"1\" are two ids";
        Text = "text", "the number 1 and the text \"1\" are one id";
        FileName = "file-name", "a path is its file's name without the extension, and a COCO name or a number with zeros \
            is its number: val2014/COCO_val2014_000000391895.jpg and 391895 are one id";
        Loose = "loose", "as file-name, also in addresses, without capitals, queries and percent signs: \
            http://x.org/Caf%C3%A9.jpg?w=2 and café are one id";
    }
}

impl Ids {
    /// The form of an id that is compared: two ids are one image if their forms are equal.
    pub fn form(self, id: &SegmentId) -> Cow<'_, SegmentId> {
        match (self, id) {
            (Self::AsGiven, _) | (_, SegmentId::Integer(_)) => Cow::Borrowed(id),
            (Self::Text, SegmentId::Text(text)) => match SegmentId::integer(text) {
                Some(integer) => Cow::Owned(SegmentId::Integer(integer)),
                None => Cow::Borrowed(id),
            },
            (Self::FileName, SegmentId::Text(text)) => Cow::Owned(file_name(text)),
            (Self::Loose, SegmentId::Text(text)) => Cow::Owned(file_name(&loose(text))),
        }
    }
}

/// An address or a name in small letters without its query, with its characters as such and composed.
fn loose(text: &str) -> String {
    let text = text.trim();
    let path = text.split_once('?').map_or(text, |(path, _)| path);
    let path = if path.contains("://") { path.split_once('#').map_or(path, |(path, _)| path) } else { path };
    let decoded = percent_decode_str(path).decode_utf8();
    let composed: String = decoded.map_or_else(|_| path.nfc().collect(), |decoded| decoded.nfc().collect());
    composed.to_lowercase()
}

/// The part that identifies a file within its folder: the name without its extension; of COCO's names and of numbers,
/// the number.
fn file_name(path: &str) -> SegmentId {
    let name = path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path);
    let stem = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => stem,
        _ => name,
    };
    let coco = stem
        .strip_prefix("COCO_")
        .or_else(|| stem.strip_prefix("coco_"))
        .and_then(|rest| rest.rsplit_once('_'))
        .map(|(_, digits)| digits);
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let significant = digits.trim_start_matches('0');
        let written = if significant.is_empty() { "0" } else { significant };
        is_number.then(|| SegmentId::integer(written)).flatten()
    };
    let number = coco.and_then(number).or_else(|| number(stem));
    number.map_or_else(|| SegmentId::from(stem), SegmentId::Integer)
}

/// Returns true if the part of a name after its last dot tells the kind of a file, as `jpg` and `mp4` do.
pub(crate) fn is_extension(part: &str) -> bool {
    (1..=5).contains(&part.len())
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && part.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// The policies for all kinds of mismatches between candidates and references. The default is an error for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Images without a candidate.
    pub missing: Missing,
    /// Candidates without a reference.
    pub surplus: Surplus,
    /// Several candidates for one image.
    pub duplicate: Duplicate,
    /// Candidates without any words.
    pub empty: Empty,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_one_id_with_their_numbers() {
        let number = SegmentId::from(391_895);
        for name in [
            "391895",
            "000000391895",
            "391895.jpg",
            "COCO_val2014_000000391895.jpg",
            "val2014/COCO_val2014_000000391895.jpg",
            r"C:\\images\\000000391895.png",
        ] {
            assert_eq!(*Ids::FileName.form(&SegmentId::from(name)), number, "{name}");
        }
        for (name, form) in
            [("a/b c.wav", "b c"), ("v1.2", "v1.2"), (".jpg", ".jpg"), ("COCO_x", "COCO_x"), ("x/", "x/")]
        {
            assert_eq!(*Ids::FileName.form(&SegmentId::from(name)), SegmentId::from(form), "{name}");
        }
        assert_eq!(*Ids::FileName.form(&SegmentId::from("0000")), SegmentId::from(0));
        for name in ["http://x.org/caf%C3%A9.jpg?w=2", "a/cafe\u{301}.png", "https://y/café#top", " Café "]
        {
            assert_eq!(*Ids::Loose.form(&SegmentId::from(name)), SegmentId::from("café"), "{name}");
        }
        let long = "9".repeat(30);
        assert_eq!(*Ids::FileName.form(&SegmentId::from(&*long)), SegmentId::from(&*long));
        assert_eq!(*Ids::Text.form(&SegmentId::from("0042")), SegmentId::from("0042"));
    }
}
