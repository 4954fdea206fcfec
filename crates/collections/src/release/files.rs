//! The files of a release besides its pictures: COCO's annotations, ratings, what was withdrawn, licence, sums.

use std::collections::BTreeSet;
use std::fmt::Write;

use capeval_site::prelude::*;
use serde_json::{Value, json};

use super::card;
use super::content::{Content, Origin, Picture, Source};
use super::split::Split;
use crate::settings;

/// A file of a release with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl TextFile {
    fn json(path: impl Into<String>, value: &Value) -> Self {
        let mut bytes = value.to_string().into_bytes();
        bytes.push(b'\n');
        Self { path: path.into(), bytes }
    }
}

/// All files besides the pictures, in the order of the archive; the last one has the sums of all others.
pub fn all(content: &Content) -> Vec<TextFile> {
    let mut files = vec![
        TextFile { path: "README.md".to_owned(), bytes: card::card(content, Language::English).into_bytes() },
        TextFile {
            path: "README.zh.md".to_owned(),
            bytes: card::card(content, Language::Chinese).into_bytes(),
        },
        TextFile { path: "LICENSE.txt".to_owned(), bytes: licence(content).into_bytes() },
    ];
    for split in Split::ALL {
        if content.of(*split).next().is_none() {
            continue;
        }
        let is_open = content.withheld != Some(*split);
        let name = if is_open { "captions" } else { "image_info" };
        files.push(TextFile::json(
            format!("annotations/{name}_{split}.json"),
            &annotations(content, *split, None, is_open),
        ));
        let languages = content.languages();
        if is_open && languages.len() > 1 {
            // Metrics compare captions of one language.
            files.extend(languages.iter().map(|language| {
                TextFile::json(
                    format!("annotations/captions_{split}_{language}.json"),
                    &annotations(content, *split, Some(language), true),
                )
            }));
        }
    }
    files.push(TextFile::json("ratings.json", &ratings(content, None)));
    let languages = content.languages();
    if languages.len() > 1 {
        files.extend(languages.iter().map(|language| {
            TextFile::json(format!("ratings_{language}.json"), &ratings(content, Some(language)))
        }));
    }
    files.push(TextFile::json("withdrawn.json", &withdrawn(content)));
    files.push(TextFile { path: "SHA256SUMS".to_owned(), bytes: sums(content, &files).into_bytes() });
    files
}

/// The captions of a split in COCO's form: all, or those of one language; without them if they are withheld.
pub fn annotations(content: &Content, split: Split, language: Option<&str>, with_captions: bool) -> Value {
    let names = content.pseudonyms();
    let licences: BTreeSet<&str> = content.pictures.iter().map(|picture| picture.licence.as_str()).collect();
    let licence_of =
        |picture: &Picture| licences.iter().position(|one| *one == picture.licence).map(|k| k + 1);
    let image = |picture: &Picture| {
        let mut value = json!({
            "id": picture.number, "file_name": picture.file_name(), "width": picture.width, "height": picture.height,
            "license": licence_of(picture), "game": picture.game, "platform": picture.platform, "sha256": picture.blob,
        });
        if let Some(Origin { source, id, file_name }) = &picture.origin {
            value["source"] = json!(source);
            value["source_id"] = json!(id);
            value["source_file_name"] = json!(file_name);
        }
        value
    };
    let is_wanted = |of: &str| language.is_none_or(|wanted| wanted == of);
    let pictures: Vec<&Picture> = content
        .of(split)
        .filter(|picture| {
            language.is_none() || picture.captions.iter().any(|caption| is_wanted(&caption.language))
        })
        .collect();
    let captions = pictures.iter().flat_map(|picture| {
        let own = picture.captions.iter().filter(|caption| is_wanted(&caption.language));
        own.map(|caption| {
            let mut value = json!({
                "id": caption.number, "image_id": picture.number, "caption": caption.text, "lang": caption.language,
            });
            match &caption.source {
                Some(source) => value["source"] = json!(source),
                None => value["author"] = json!(names.get(caption.author.as_str())),
            }
            if !caption.script.is_empty() {
                value["script"] = json!(caption.script);
            }
            value
        })
    });
    let mut value = json!({
        "info": {
            "description": content.title, "version": content.number.to_string(),
            "year": clock::day(content.created_at)[..4].parse::<i64>().unwrap_or(0),
            "date_created": clock::day(content.created_at), "split": split.name(),
        },
        "licenses": licences.iter().zip(1..).map(|(name, id)| json!({
            "id": id, "name": name, "url": settings::address(name).unwrap_or_default(),
        })).collect::<Vec<_>>(),
        "images": pictures.iter().map(|picture| image(picture)).collect::<Vec<_>>(),
    });
    if with_captions {
        value["annotations"] = captions.collect::<Vec<_>>().into();
    }
    value
}

/// A row for each rating of a caption that is part of the release, in all languages or in one.
fn ratings(content: &Content, language: Option<&str>) -> Value {
    let names = content.pseudonyms();
    let captions =
        content.open().flat_map(|picture| picture.captions.iter().map(move |caption| (picture, caption)));
    let captions = captions.filter(|(_, caption)| language.is_none_or(|wanted| wanted == caption.language));
    let rows = captions.flat_map(|(picture, caption)| {
        caption.ratings.iter().map(|rating| {
            let mut value = json!({
                "image_id": picture.number, "annotation_id": caption.number, "caption": caption.text,
                "lang": caption.language, "system": "human",
                "rater": names.get(rating.rater.as_str()), "rating": rating.grade,
            });
            if !rating.tags.is_empty() {
                value["errors"] = json!(rating.tags.join(" "));
            }
            value
        })
    });
    rows.collect()
}

fn withdrawn(content: &Content) -> Value {
    let of = |one: &super::content::WithdrawnItem| json!({ "kind": one.kind, "id": one.number, "reason": one.reason, "date": clock::day(one.at) });
    content.withdrawn.iter().map(of).collect()
}

fn licence(content: &Content) -> String {
    let mut text = format!("{}, release {}\n\n", content.title, content.number);
    // Writing to a string cannot fail.
    if content.has_contributions() {
        let _ = writeln!(text, "Captions and ratings of contributors: {}", content.licence);
    }
    let own = content.pictures.iter().filter(|picture| picture.origin.is_none());
    let mut licences: Vec<&str> = own.map(|picture| picture.licence.as_str()).collect();
    licences.sort_unstable();
    if !licences.is_empty() {
        text.push_str("Pictures, as their contributors declared:\n");
    }
    for same in licences.chunk_by(|a, b| a == b) {
        let _ = writeln!(text, "  {}: {}", same[0], same.len());
    }
    if !content.sources.is_empty() {
        text.push_str("Imported pictures and captions, under the licences of their sources:\n");
    }
    for Source { name, licence, attribution } in &content.sources {
        let naming = if attribution.is_empty() { String::new() } else { format!("; {attribution}") };
        let _ = writeln!(text, "  {name}: {licence}{naming}");
    }
    text.push_str("Rights in what the pictures show remain with their owners.\n");
    text
}

/// The sums of all files, as `sha256sum --check` reads them.
fn sums(content: &Content, files: &[TextFile]) -> String {
    let mut lines: Vec<(String, String)> =
        files.iter().map(|file| (file.path.clone(), ids::digest(&file.bytes))).collect();
    lines.extend(content.pictures.iter().map(|picture| (picture.path(), picture.blob.clone())));
    lines.sort();
    lines.iter().fold(String::new(), |mut text, (path, hash)| {
        let _ = writeln!(text, "{hash}  {path}");
        text
    })
}

#[cfg(test)]
mod tests {
    use capeval::corpus::ratings::{RatingOptions, read_ratings};
    use capeval::corpus::{ReadOptions, SegmentId};
    use capeval::{
        CorrelateOptions, CorrelateRequest, MetricOptions, OwnReference, ScoreOptions, ScoreRequest,
    };
    use capeval_files as files;

    use super::super::content::tests::example;
    use super::*;

    fn file<'f>(files: &'f [TextFile], path: &str) -> &'f [u8] {
        &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}")).bytes
    }

    fn captions(files: &[TextFile], path: &str) -> capeval::corpus::Captions {
        files::captions_in(path, file(files, path), &ReadOptions::references()).unwrap()
    }

    #[test]
    fn the_engine_reads_the_files_as_they_lie() {
        let content = Content { withheld: None, ..example() };
        let made = all(&content);
        let paths: Vec<&str> = made.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "README.md",
                "README.zh.md",
                "LICENSE.txt",
                "annotations/captions_train.json",
                "annotations/captions_train_en.json",
                "annotations/captions_train_zh.json",
                "annotations/captions_val.json",
                "annotations/captions_val_en.json",
                "annotations/captions_val_zh.json",
                "annotations/captions_test.json",
                "annotations/captions_test_en.json",
                "annotations/captions_test_zh.json",
                "ratings.json",
                "ratings_en.json",
                "ratings_zh.json",
                "withdrawn.json",
                "SHA256SUMS",
            ]
        );
        let chinese = captions(&made, "annotations/captions_test_zh.json");
        assert_eq!(chinese.iter().count(), 4);
        assert_eq!(chinese.iter().next().unwrap(), (&SegmentId::from(4), "骑士4站在城堡门前等待第0位同伴"));
        let mut mine = capeval::corpus::Captions::new("mine");
        mine.push(SegmentId::from(4), "骑士4站在城堡门前等待第0位同伴");
        let report = capeval::score(ScoreRequest {
            options: ScoreOptions { metrics: MetricOptions::new(["rouge-l"]), ..ScoreOptions::default() },
            ..ScoreRequest::new(chinese, [("mine", mine)])
        })
        .unwrap();
        assert_eq!(report.systems[0].scores, [1.0]);

        let ratings =
            read_ratings(file(&made, "ratings.json"), "ratings.json", &RatingOptions::default()).unwrap();
        assert_eq!(ratings.items.len(), 15);
        assert!(
            ratings
                .items
                .iter()
                .all(|item| item.ratings.len() == 3 && item.system.as_deref() == Some("human"))
        );
        let ratings =
            read_ratings(file(&made, "ratings_zh.json"), "ratings", &RatingOptions::default()).unwrap();
        let mut references = capeval::corpus::Captions::new("captions");
        for split in Split::ALL {
            for (id, text) in captions(&made, &format!("annotations/captions_{split}_zh.json")).iter() {
                references.push(id.clone(), text);
            }
        }
        let found = capeval::correlate(CorrelateRequest {
            references: Some(references),
            options: CorrelateOptions {
                metrics: MetricOptions {
                    tokenizer: Some("zh".to_owned()),
                    ..MetricOptions::new(["rouge-l"])
                },
                own_reference: OwnReference::HoldOut,
                ..CorrelateOptions::default()
            },
            ..CorrelateRequest::new(ratings)
        })
        .unwrap();
        assert_eq!((found.human.n_items, found.human.n_ratings), (12, 36));
        assert!(found.agreements[0].pearson.value.is_some_and(f64::is_finite));
    }

    #[test]
    fn licences_are_those_of_what_is_in_the_release() {
        let text = licence(&example());
        assert!(text.contains("\nCaptions and ratings of contributors: CC BY 4.0\n"), "{text}");
        assert!(text.contains("\nPictures, as their contributors declared:\n  CC BY 4.0: 3\n"), "{text}");
        let mut imported = example();
        imported.licence = "CC0-1.0".to_owned();
        let source = |name: &str, licence: &str| Source {
            name: name.to_owned(),
            licence: licence.to_owned(),
            attribution: "Ada".to_owned(),
        };
        imported.sources = vec![source("COCO", "CC-BY-4.0"), source("Others", "CC-BY-SA-4.0")];
        for picture in &mut imported.pictures {
            picture.licence = "CC-BY-4.0".to_owned();
            picture.origin =
                Some(Origin { source: "COCO".to_owned(), id: 1.into(), file_name: String::new() });
            for caption in &mut picture.captions {
                caption.source = Some("COCO".to_owned());
                caption.ratings.clear();
            }
        }
        // The licence that the collection offers is that of nothing in it.
        for file in all(&imported) {
            let text = String::from_utf8(file.bytes).unwrap();
            assert!(!text.contains("CC0-1.0"), "{}: {text}", file.path);
        }
        let text = licence(&imported);
        assert!(text.starts_with("Screens, release 2\n\nImported pictures and captions"), "{text}");
        assert_eq!(imported.caption_licences(), "CC-BY-4.0");
        let train = annotations(&imported, Split::Train, None, true);
        assert_eq!(train["licenses"][0]["name"], "CC-BY-4.0");
        assert_eq!(train["images"][0]["license"], 1);
        imported.pictures[0].captions[0].source = None;
        assert_eq!(imported.caption_licences(), "CC0-1.0, CC-BY-4.0");
    }

    #[test]
    fn captions_of_the_withheld_split_are_nowhere() {
        let made = all(&example());
        for file in &made {
            let text = String::from_utf8(file.bytes.clone()).unwrap();
            assert!(!text.contains("骑士4") && !text.contains("Number 4"), "{}", file.path);
        }
        let test: Value = serde_json::from_slice(file(&made, "annotations/image_info_test.json")).unwrap();
        assert_eq!(test["images"][0]["file_name"], "000000000004.png");
        assert_eq!(test.get("annotations"), None);
        let withdrawn: Value = serde_json::from_slice(file(&made, "withdrawn.json")).unwrap();
        assert_eq!(
            withdrawn,
            json!([{ "kind": "image", "id": 3, "reason": "takedown", "date": "2024-02-27" }])
        );
    }

    #[test]
    fn the_sums_are_those_of_all_files() {
        let content = example();
        let made = all(&content);
        let text = String::from_utf8(file(&made, "SHA256SUMS").to_vec()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), made.len() - 1 + content.pictures.len());
        for file in made.iter().filter(|file| file.path != "SHA256SUMS") {
            assert!(lines.contains(&format!("{}  {}", ids::digest(&file.bytes), file.path).as_str()));
        }
        assert!(lines.contains(&format!("{}  images/000000000001.png", ids::digest("picture 1")).as_str()));
        assert_eq!(all(&example()), made);
    }
}
