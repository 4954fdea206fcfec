//! The things that an import leaves out, and why: counts of all of it, and the first of each kind in words.

use serde::{Deserialize, Serialize};

use super::source::Item;

/// The number of each kind that are listed in words.
const TOLD: usize = 20;

capeval_choice::named! {
    /// The reason why something is left out.
    pub enum Reason ("reason") {
        MissingPicture = "missing-picture", "Images without a file";
        NotAPicture = "not-a-picture", "Files that are not JPEG, PNG or WebP pictures";
        Unnamed = "unnamed", "Files that the captions do not name";
        Unfit = "unfit", "Pictures that cannot be used";
        SamePicture = "same-picture", "Pictures that are there twice";
        Removed = "removed", "Pictures that were rejected or withdrawn before";
        WithoutPicture = "without-picture", "Captions of images that are left out";
        OtherLanguage = "other-language", "Captions in a language that the collection does not have";
        Rule = "rule", "Captions that break a rule";
        SameCaption = "same-caption", "Captions that their picture has twice";
        Surplus = "surplus", "Captions beyond the number that a picture can have";
    }
}

impl Reason {
    /// Advice to a host; empty if there is nothing to do.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::MissingPicture => {
                "name the files after the ids, such as 42.jpg or COCO_val2014_000000000042.jpg, or say `file_name` in \
                 the list of images"
            }
            Self::NotAPicture => "convert them to JPEG, PNG or WebP, if they are pictures",
            Self::Unnamed => "to import them too, run the command again without --captions",
            Self::Unfit => "get the files again, or make the pictures smaller",
            Self::OtherLanguage => "add the language to the settings of the collection",
            Self::Rule => {
                "if they are too short, lower the fewest words in the settings of the collection, and run the command \
                 again; other rules hold for all captions"
            }
            Self::Surplus => {
                "raise the number of captions in the settings of the collection, and run the command again"
            }
            Self::SamePicture | Self::Removed | Self::WithoutPicture | Self::SameCaption => "",
        }
    }
}

/// Something that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutItem {
    /// The file with a line or a number, and the image.
    pub place: String,
    pub why: String,
}

/// The things that are left out, in the order of [`Reason::ALL`].
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    counts: Vec<Count>,
}

#[derive(Clone, Debug)]
struct Count {
    reason: Reason,
    n: usize,
    first: Vec<LeftOutItem>,
}

/// A number of things that were left out for a reason, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Number {
    pub reason: Reason,
    pub n: usize,
}

impl LeftOut {
    /// Notes one thing.
    pub(super) fn add(&mut self, reason: Reason, place: impl Into<String>, why: impl Into<String>) {
        let count = self.of(reason);
        count.n += 1;
        if count.first.len() < TOLD {
            count.first.push(LeftOutItem { place: place.into(), why: why.into() });
        }
    }

    /// Notes a picture, with its captions.
    pub(super) fn picture(&mut self, item: &Item, reason: Reason, why: &str) {
        self.add(reason, format!("{}, image {}", item.file, item.id), why);
        self.captions_of(item);
    }

    /// Notes the captions of an image that is left out.
    pub(super) fn captions_of(&mut self, item: &Item) {
        if !item.captions.is_empty() {
            self.of(Reason::WithoutPicture).n += item.captions.len();
        }
    }

    fn of(&mut self, reason: Reason) -> &mut Count {
        let at = match self.counts.iter().position(|count| count.reason == reason) {
            Some(at) => at,
            None => {
                self.counts.push(Count { reason, n: 0, first: Vec::new() });
                self.counts.len() - 1
            }
        };
        &mut self.counts[at]
    }

    /// The number of things that are left out for a reason.
    pub fn n(&self, reason: Reason) -> usize {
        self.counts.iter().find(|count| count.reason == reason).map_or(0, |count| count.n)
    }

    /// The first things that are left out for a reason.
    pub fn first(&self, reason: Reason) -> &[LeftOutItem] {
        self.counts.iter().find(|count| count.reason == reason).map_or(&[], |count| &count.first)
    }

    /// All numbers, in the order of the reasons.
    pub fn numbers(&self) -> Vec<Number> {
        let number = |reason: &Reason| Number { reason: *reason, n: self.n(*reason) };
        Reason::ALL.iter().map(number).filter(|number| number.n > 0).collect()
    }
}
