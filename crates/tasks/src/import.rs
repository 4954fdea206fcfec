//! Reads a file of captions that are imported into a collection, in any format that the engine reads as references.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Context;
use capeval::choice::{Remedy, SegmentId};
use capeval::corpus::{Captions, Format, ReadOptions, Standing, unpack};
use capeval_files as files;
use serde::{Deserialize, Serialize};

use crate::input::open;
use crate::submission::in_words;

/// Columns and keys that tell the language of a caption.
const LANGUAGE: [&str; 2] = ["lang", "language"];

/// Reads the captions of a file, with the images that it lists.
#[derive(Serialize, Deserialize)]
pub struct ReadImport {
    pub file: PathBuf,
    /// The name of the file in errors.
    pub name: String,
    /// The column or key of the ids of images, if it has no usual name.
    pub id_column: Option<String>,
    /// The columns or keys of captions, if they have no usual names.
    pub caption_columns: Option<Vec<String>>,
}

/// An image with its captions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedImage {
    pub id: SegmentId,
    /// The name of its file, if the list of images has one.
    pub file_name: Option<String>,
    pub captions: Vec<ImportedCaption>,
}

/// A caption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedCaption {
    pub text: String,
    /// Its language, if the file says so.
    pub language: Option<String>,
    /// Its place: a line, or else the number of the caption.
    pub line: Option<u64>,
    pub record: Option<u64>,
}

/// The statements of COCO's and Karpathy's files about their images.
#[derive(Deserialize)]
struct ImageList {
    #[serde(default)]
    images: Vec<ListedImage>,
}

#[derive(Deserialize)]
struct ListedImage {
    id: Option<SegmentId>,
    cocoid: Option<SegmentId>,
    file_name: Option<String>,
    filename: Option<String>,
}

impl ReadImport {
    pub(crate) fn perform(self) -> anyhow::Result<Vec<ImportedImage>> {
        let bytes = open(&self.file, "the captions cannot be opened")?;
        let options = ReadOptions {
            id_column: self.id_column.clone(),
            caption_columns: self.caption_columns.clone(),
            ..ReadOptions::references()
        };
        let captions = files::captions_in(&self.name, &bytes, &options)
            .map_err(|error| in_words(&error, error.remedy().as_ref()))?;
        if matches!(captions.keys().standing(), Standing::Numbered | Standing::InOrder) {
            let fault = format!("{}: the captions have no ids of images", self.name);
            let remedy = Remedy::say(
                "give each caption the id or the file name of its image in a column or key that is called image_id, or \
                 name the column",
            );
            return Err(in_words(&fault, Some(&remedy)));
        }
        let languages = self.languages(&bytes, &captions);
        let mut images: Vec<ImportedImage> = Vec::new();
        let mut places: HashMap<SegmentId, usize> = HashMap::new();
        let mut place = |images: &mut Vec<ImportedImage>, id: &SegmentId| {
            *places.entry(id.clone()).or_insert_with(|| {
                images.push(ImportedImage { id: id.clone(), file_name: None, captions: Vec::new() });
                images.len() - 1
            })
        };
        for (row, (id, text)) in captions.iter().enumerate() {
            let at = captions.position(row);
            let language = languages.get(&(at.line, at.record)).cloned();
            let caption =
                ImportedCaption { text: text.to_owned(), language, line: at.line, record: at.record };
            let at = place(&mut images, id);
            images[at].captions.push(caption);
        }
        for id in captions.declared() {
            place(&mut images, id);
        }
        if let Some(Format::CocoAnnotations | Format::Karpathy) = captions.format() {
            let list = self.listed(&bytes)?;
            for ListedImage { id, cocoid, file_name, filename } in list.images {
                let Some(name) = file_name.or(filename) else { continue };
                if let Some(at) = cocoid.or(id).and_then(|id| places.get(&id)) {
                    images[*at].file_name = Some(name);
                }
            }
        }
        Ok(images)
    }

    /// The language of each caption by its place, if a column or a key says so for all of them.
    fn languages(&self, bytes: &[u8], captions: &Captions) -> HashMap<(Option<u64>, Option<u64>), String> {
        let read = |column: &str| {
            let options = ReadOptions {
                format: captions.format(),
                id_column: self.id_column.clone(),
                caption_columns: Some(vec![column.to_owned()]),
                ..ReadOptions::references()
            };
            files::captions_in(&self.name, bytes, &options).ok()
        };
        let Some(found) = LANGUAGE.iter().find_map(|column| read(column)) else { return HashMap::new() };
        let rows = found.iter().enumerate();
        rows.map(|(row, (_, language))| {
            let at = found.position(row);
            ((at.line, at.record), language.to_owned())
        })
        .collect()
    }

    fn listed(&self, bytes: &[u8]) -> anyhow::Result<ImageList> {
        let text = unpack(bytes, &self.name, false).map_err(|error| in_words(&error, error.remedy()))?;
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        serde_json::from_slice(text).with_context(|| format!("{}: the list of images", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &[u8]) -> Result<Vec<ImportedImage>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let task = ReadImport { file, name: name.to_owned(), id_column: None, caption_columns: None };
        task.perform().map_err(|error| format!("{error:#}"))
    }

    /// The images with their file, and the languages, the places and the texts of their captions.
    fn shown(images: &[ImportedImage]) -> Vec<String> {
        let of = |image: &ImportedImage| {
            let captions = image.captions.iter().map(|caption| {
                let language = caption.language.as_deref().unwrap_or("-");
                let place = caption.line.or(caption.record).unwrap_or_default();
                format!(" {language}:{place}:{}", caption.text)
            });
            let name = image.file_name.as_deref().unwrap_or("-");
            format!("{} {name}{}", image.id, captions.collect::<String>())
        };
        images.iter().map(of).collect()
    }

    #[test]
    fn images_have_their_files_captions_and_languages() {
        let coco = br#"{"images": [{"id": 7, "file_name": "a/b.jpg"}, {"id": 8, "file_name": "c.jpg"}],
            "annotations": [{"id": 1, "image_id": 7, "caption": "a dog", "lang": "en"},
            {"id": 2, "image_id": 9, "caption": "a cat", "lang": "en"},
            {"id": 3, "image_id": 7, "caption": "\u4e00\u53ea\u72d7", "lang": "zh"}]}"#;
        let expected = ["7 a/b.jpg en:1:a dog zh:3:一只狗", "9 - en:2:a cat", "8 c.jpg"];
        assert_eq!(shown(&read("coco.json", coco).unwrap()), expected);
        let table = "image,caption,language\nx.jpg,a dog,en\ny.jpg,\"a\ncat\",en\nx.jpg,一只狗,zh\n";
        let expected = ["x.jpg - en:2:a dog zh:5:一只狗", "y.jpg - en:3:a\ncat"];
        assert_eq!(shown(&read("table.csv", table.as_bytes()).unwrap()), expected);
        let lines = b"{\"image_id\": 1, \"captions\": [\"a\", \"b\"], \"lang\": \"en\"}\n{\"image_id\": 2, \"caption\": \"c\", \"lang\": \"zh\"}\n";
        let expected = ["1 - en:1:a en:1:b", "2 - zh:2:c"];
        assert_eq!(shown(&read("lines.jsonl", lines).unwrap()), expected);
        let tokens = b"x.jpg#0\ta dog\nx.jpg#1\tone dog\n";
        assert_eq!(shown(&read("flickr.token", tokens).unwrap()), ["x.jpg - -:1:a dog -:2:one dog"]);
        let karpathy = br#"{"images": [{"cocoid": 5, "filename": "f.jpg", "split": "val", "sentences": [{"raw": "a dog"}]}]}"#;
        assert_eq!(shown(&read("karpathy.json", karpathy).unwrap()), ["5 f.jpg -:1:a dog"]);
    }

    #[test]
    fn files_that_cannot_be_imported_are_refused_in_words() {
        for (name, content, words) in [
            ("empty.json", &b""[..], "empty"),
            ("lines.txt", b"a dog runs\na cat sits\n", "no ids of images"),
            ("cut.json", br#"{"images": [], "annotations": [{"image_id": 1, "cap"#, "cut.json"),
            ("latin.csv", b"image,caption\nx.jpg,caf\xe9\n", "UTF-8"),
            ("picture.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "picture.jpg"),
        ] {
            let refused = read(name, content).unwrap_err();
            assert!(refused.contains(words), "{name}: {refused}");
        }
    }
}
