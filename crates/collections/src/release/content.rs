//! The content of a release, as plain data: pictures with their captions and ratings, and what was withdrawn.

use std::collections::{BTreeSet, HashMap};

use capeval_choice::SegmentId;
use capeval_site::{ids, store};
use serde::{Deserialize, Deserializer};

use super::split::{Shares, Split};

/// The content of a release.
#[derive(Clone, Debug)]
pub struct Content {
    /// The id of the release.
    pub id: String,
    /// The collection's part of addresses.
    pub slug: String,
    /// The title of the collection.
    pub title: String,
    /// Its subject.
    pub summary: String,
    /// The licence of what contributors write and grade.
    pub licence: String,
    /// The number of the release, from 1.
    pub number: i64,
    /// The time when it was made.
    pub created_at: i64,
    /// The questions to contributors about a picture.
    pub details: Vec<String>,
    /// The shares of pictures that were asked for.
    pub shares: Shares,
    /// The split whose captions are kept back for a benchmark.
    pub withheld: Option<Split>,
    /// The pictures, by their number.
    pub pictures: Vec<Picture>,
    /// The sources of imported parts.
    pub sources: Vec<Source>,
    /// The things in earlier releases that this one lacks.
    pub withdrawn: Vec<WithdrawnItem>,
}

/// The source of imported pictures and captions.
#[derive(Clone, Debug, Deserialize)]
pub struct Source {
    pub name: String,
    pub licence: String,
    /// Whom the licence asks to name; may be empty.
    pub attribution: String,
}

/// The name of an imported picture at its source.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of the source.
    pub source: String,
    /// The id of the image.
    pub id: SegmentId,
    pub file_name: String,
}

/// A picture.
#[derive(Clone, Debug, Deserialize)]
pub struct Picture {
    /// Its number in all releases.
    pub number: i64,
    /// The hash of the file, which is its name among the blobs.
    pub blob: String,
    /// The size of the file in bytes.
    #[serde(deserialize_with = "store::or_default")]
    pub size: u64,
    /// The end of the file's name, such as `png`.
    #[serde(rename = "kind", deserialize_with = "extension")]
    pub extension: String,
    /// The width in pixels.
    #[serde(deserialize_with = "store::or_default")]
    pub width: i64,
    /// The height in pixels.
    #[serde(deserialize_with = "store::or_default")]
    pub height: i64,
    /// The contributor's first answer about it, such as the title of a game; empty for none.
    pub game: String,
    /// Their second answer.
    pub platform: String,
    pub licence: String,
    pub split: Split,
    /// Its name at its source, if it was imported.
    #[serde(skip)]
    pub origin: Option<Origin>,
    /// Its accepted captions, by their number.
    #[serde(skip)]
    pub captions: Vec<Caption>,
}

/// The end of the names of files with a media type.
fn extension<'de, D: Deserializer<'de>>(kind: D) -> Result<String, D::Error> {
    let kind = Option::<String>::deserialize(kind)?;
    Ok(if kind.as_deref() == Some("image/jpeg") { "jpg" } else { "png" }.to_owned())
}

/// A caption.
#[derive(Clone, Debug, Deserialize)]
pub struct Caption {
    /// Its number in all releases.
    pub number: i64,
    /// The tag of its language.
    pub language: String,
    /// The text, as it was written.
    pub text: String,
    /// `hans` for simplified Chinese, `hant` for traditional, or `mixed`; empty if it cannot be said.
    pub script: String,
    /// The account of its author. All people whose data were deleted are one, without a name.
    #[serde(deserialize_with = "store::or_default")]
    pub author: String,
    /// The source that it was imported from, instead of an author.
    pub source: Option<String>,
    #[serde(skip)]
    pub ratings: Vec<Rating>,
}

/// A rating.
#[derive(Clone, Debug, Deserialize)]
pub struct Rating {
    /// The account of the rater.
    #[serde(rename = "account")]
    pub rater: String,
    /// The grade, 1 to 4.
    pub grade: i64,
    /// The errors that the rater marked.
    #[serde(deserialize_with = "store::json")]
    pub tags: Vec<String>,
}

/// A thing that left the collection after a release.
#[derive(Clone, Debug, Deserialize)]
pub struct WithdrawnItem {
    /// `image` or `caption`.
    pub kind: String,
    /// Its number in earlier releases.
    pub number: i64,
    /// The reason, as a code such as `takedown`.
    pub reason: String,
    /// The time.
    #[serde(rename = "withdrawn_at")]
    pub at: i64,
}

impl Picture {
    /// The path in the release.
    pub fn path(&self) -> String {
        format!("images/{}", self.file_name())
    }

    /// The name of the file, with the number at a fixed width as in COCO.
    pub fn file_name(&self) -> String {
        format!("{:012}.{}", self.number, self.extension)
    }
}

impl Content {
    /// The pictures of a split.
    pub fn of(&self, split: Split) -> impl Iterator<Item = &Picture> {
        self.pictures.iter().filter(move |picture| picture.split == split)
    }

    /// The numbers of captions in a language of the pictures of a split that have some.
    pub fn counts(&self, split: Split, language: &str) -> Vec<usize> {
        let own = |picture: &Picture| {
            picture.captions.iter().filter(|caption| caption.language == language).count()
        };
        self.of(split).map(own).filter(|n| *n > 0).collect()
    }

    /// The pictures whose captions are part of the release.
    pub fn open(&self) -> impl Iterator<Item = &Picture> {
        self.pictures.iter().filter(|picture| Some(picture.split) != self.withheld)
    }

    /// The languages of all captions.
    pub fn languages(&self) -> BTreeSet<&str> {
        self.pictures
            .iter()
            .flat_map(|picture| &picture.captions)
            .map(|caption| caption.language.as_str())
            .collect()
    }

    /// Returns true if people have contributed captions or grades to it.
    pub fn has_contributions(&self) -> bool {
        let mut captions = self.pictures.iter().flat_map(|picture| &picture.captions);
        captions.any(|caption| caption.source.is_none() || !caption.ratings.is_empty())
    }

    /// The licences of captions and grades: that of contributors, if they have added some, and those of the sources.
    pub fn caption_licences(&self) -> String {
        let is_of = |caption: &Caption, source: &Source| caption.source.as_ref() == Some(&source.name);
        let captions = || self.pictures.iter().flat_map(|picture| &picture.captions);
        let imported = self.sources.iter().filter(|source| captions().any(|caption| is_of(caption, source)));
        let own = self.has_contributions().then_some(self.licence.as_str());
        let all: BTreeSet<&str> =
            imported.map(|source| source.licence.as_str()).filter(|one| Some(*one) != own).collect();
        own.into_iter().chain(all).collect::<Vec<_>>().join(", ")
    }

    /// A name for each account, such as `p3`, which says nothing about names in other releases.
    pub fn pseudonyms(&self) -> HashMap<&str, String> {
        let captions = || self.pictures.iter().flat_map(|picture| &picture.captions);
        let raters = captions().flat_map(|caption| &caption.ratings).map(|rating| rating.rater.as_str());
        let authors = captions().filter(|caption| caption.source.is_none());
        let accounts: BTreeSet<&str> = authors.map(|caption| caption.author.as_str()).chain(raters).collect();
        let mut shuffled: Vec<(String, &str)> = accounts
            .into_iter()
            .map(|account| (ids::digest(format!("{}\n{account}", self.id)), account))
            .collect();
        shuffled.sort();
        shuffled.into_iter().enumerate().map(|(k, (_, account))| (account, format!("p{}", k + 1))).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use capeval_site::feature::{self, Features};

    use super::*;

    /// A release with three pictures, five captions each, in two languages.
    pub fn example() -> Content {
        // Cards are in two languages.
        static FEATURES: Features = &[&capeval_site::BASE, &capeval_benchmarks::FEATURE, &crate::FEATURE];
        feature::join(FEATURES);
        let caption = |picture: i64, k: i64| Caption {
            number: picture * 10 + k,
            language: if k < 4 { "zh" } else { "en" }.to_owned(),
            text: match k {
                4 => format!("Number {picture}: a knight stands before a \"castle\" gate."),
                3 => format!("城堡门前有骑士{picture}和第{k}位同伴"),
                k => format!("骑士{picture}站在城堡门前等待第{k}位同伴"),
            },
            script: if k < 4 { "hans" } else { "" }.to_owned(),
            author: format!("author {k}"),
            source: None,
            ratings: (0..3)
                .map(|r| Rating {
                    rater: format!("rater {r}"),
                    grade: 4 - (picture + k + r) % 3,
                    tags: if r == 0 { vec!["object".to_owned()] } else { Vec::new() },
                })
                .collect(),
        };
        let picture = |(k, split): (i64, Split)| Picture {
            number: k,
            blob: ids::digest(format!("picture {k}")),
            size: format!("picture {k}").len() as u64,
            extension: "png".to_owned(),
            width: 640,
            height: 360,
            game: "空洞骑士".to_owned(),
            platform: "PC".to_owned(),
            licence: "CC BY 4.0".to_owned(),
            split,
            origin: None,
            captions: (0..5).map(|c| caption(k, c)).collect(),
        };
        Content {
            id: "release".to_owned(),
            slug: "screens".to_owned(),
            title: "Screens".to_owned(),
            summary: "Screenshots of games.".to_owned(),
            licence: "CC BY 4.0".to_owned(),
            number: 2,
            created_at: 1_709_210_096_000,
            details: vec!["Game title".to_owned()],
            shares: Shares { val: 33, test: 33 },
            withheld: Some(Split::Test),
            sources: Vec::new(),
            pictures: [(1, Split::Train), (2, Split::Val), (4, Split::Test)].map(picture).into(),
            withdrawn: vec![WithdrawnItem {
                kind: "image".to_owned(),
                number: 3,
                reason: "takedown".to_owned(),
                at: 1_709_000_000_000,
            }],
        }
    }

    #[test]
    fn pseudonyms_differ_between_releases_and_name_everybody_once() {
        let (one, two) = (example(), Content { id: "another".to_owned(), ..example() });
        let names = one.pseudonyms();
        assert_eq!(names.len(), 8);
        let distinct: BTreeSet<&String> = names.values().collect();
        assert_eq!(distinct.len(), 8);
        assert_eq!(names, example().pseudonyms());
        assert_ne!(names, two.pseudonyms());
        assert!(names.values().all(|name| !name.contains("author") && !name.contains("rater")));
    }
}
