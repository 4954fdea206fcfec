//! Tokenizers of models, with the ids that Hugging Face's library gives.

mod byte_level;
mod clip;
mod pairs;
mod word_piece;

use std::collections::HashMap;

use capeval_choice::Refusal;
use serde_json::Value;

use crate::config;

use byte_level::ByteLevel;
use clip::Clip;
use pairs::Pairs;
use word_piece::WordPiece;

/// A tokenizer with the tokens that it puts around texts.
#[derive(Clone, Debug)]
pub(crate) struct Tokenizer {
    kind: Kind,
    /// Tokens that are found in a text as they are, such as `[MASK]`.
    added: Vec<AddedToken>,
    /// The ids of the first and the last token.
    pub around: [u32; 2],
    /// Tokens by id.
    names: Vec<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    Clip(Clip),
    ByteLevel(ByteLevel),
    WordPiece(WordPiece),
}

#[derive(Clone, Debug)]
struct AddedToken {
    content: String,
    id: u32,
    /// Take the white space before it.
    left: bool,
    right: bool,
}

/// The files of a tokenizer.
pub(crate) struct Files<'f> {
    pub tokenizer: Option<&'f [u8]>,
    pub vocabulary: Option<&'f [u8]>,
    pub merges: Option<&'f [u8]>,
    pub lines: Option<&'f [u8]>,
}

/// The kinds of tokenizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenizerKind {
    Clip,
    ByteLevel,
    /// With what the model's own settings say of case, where there is no tokenizer.json.
    WordPiece {
        lower_case: bool,
    },
}

impl Tokenizer {
    /// Reads the files of a tokenizer.
    pub fn open(files: &Files<'_>, wanted: TokenizerKind) -> Result<Self, Refusal> {
        match (files.tokenizer, files.vocabulary.zip(files.merges), files.lines, wanted) {
            (Some(bytes), ..) => {
                let value = config::parse("tokenizer.json", bytes)?;
                Self::of_json(&value, wanted).map_err(|refusal| refusal.at("tokenizer.json"))
            }
            (None, Some((vocabulary, merges)), _, TokenizerKind::Clip | TokenizerKind::ByteLevel) => {
                let vocabulary = config::parse("vocab.json", vocabulary)?;
                let vocabulary = ids(&vocabulary).map_err(|refusal| refusal.at("vocab.json"))?;
                let merges = String::from_utf8_lossy(merges);
                let merges = merges
                    .lines()
                    .filter(|line| !line.starts_with("#version"))
                    .filter_map(|line| line.split_once(' '));
                let merges: Vec<(String, String)> =
                    merges.map(|(one, other)| (one.to_owned(), other.to_owned())).collect();
                // Those around a text are found in it as well.
                let special: &[&str] = match wanted {
                    TokenizerKind::Clip => &["<|startoftext|>", "<|endoftext|>"],
                    _ => &["<s>", "</s>", "<unk>", "<pad>"],
                };
                let added = special.iter().filter_map(|token| {
                    let id = *vocabulary.get(*token)?;
                    Some(AddedToken { content: (*token).to_owned(), id, left: false, right: false })
                });
                let added = added.collect();
                Self::of_pairs(vocabulary, &merges, added, wanted)
            }
            (None, _, Some(lines), TokenizerKind::WordPiece { lower_case }) => {
                let lines = String::from_utf8_lossy(lines);
                let vocabulary = lines.lines().zip(0..).map(|(token, id)| (token.to_owned(), id)).collect();
                Self::of_words(vocabulary, WordPiece::usual(lower_case), Vec::new())
            }
            _ => Err(Refusal::new("there is no tokenizer.json")
                .with_remedy("save the tokenizer beside the weights, with save_pretrained of transformers")),
        }
    }

    fn of_json(value: &Value, wanted: TokenizerKind) -> Result<Self, Refusal> {
        let model = value.get("model").unwrap_or(&Value::Null);
        let vocabulary = ids(model.get("vocab").unwrap_or(&Value::Null))?;
        let added = value.get("added_tokens").and_then(Value::as_array).into_iter().flatten();
        let yes = |value: &Value, key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
        let added: Vec<AddedToken> = added
            .filter_map(|added| {
                Some(AddedToken {
                    content: added.get("content")?.as_str()?.to_owned(),
                    id: u32::try_from(added.get("id")?.as_u64()?).ok()?,
                    left: yes(added, "lstrip"),
                    right: yes(added, "rstrip"),
                })
            })
            .filter(|added| !added.content.is_empty())
            .collect();
        let kind = model.get("type").and_then(Value::as_str);
        match (wanted, kind) {
            (TokenizerKind::WordPiece { lower_case }, Some("WordPiece") | None) => {
                let normalizer = value.get("normalizer").unwrap_or(&Value::Null);
                Self::of_words(vocabulary, WordPiece::of_json(model, normalizer, lower_case), added)
            }
            (TokenizerKind::Clip | TokenizerKind::ByteLevel, Some("BPE") | None) => {
                let merges = model.get("merges").and_then(Value::as_array).into_iter().flatten();
                let pair = |merge: &Value| -> Option<(String, String)> {
                    match merge {
                        Value::String(pair) => {
                            pair.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()))
                        }
                        Value::Array(pair) => {
                            Some((pair.first()?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()))
                        }
                        _ => None,
                    }
                };
                let merges: Vec<(String, String)> = merges.filter_map(pair).collect();
                Self::of_pairs(vocabulary, &merges, added, wanted)
            }
            (_, other) => Err(Refusal::new(format!(
                "its model is {}, which this kind of model does not have here",
                other.unwrap_or("not named")
            ))
            .with_remedy("make vectors with the model's own program, and give these")),
        }
    }

    fn of_pairs(
        vocabulary: HashMap<String, u32>,
        merges: &[(String, String)],
        added: Vec<AddedToken>,
        wanted: TokenizerKind,
    ) -> Result<Self, Refusal> {
        let mut names = names(&vocabulary);
        for token in &added {
            name(&mut names, token.id, &token.content);
        }
        let find = |name: &str| {
            let of_added = added.iter().find(|added| added.content == name).map(|added| added.id);
            of_added.or_else(|| vocabulary.get(name).copied()).ok_or_else(|| lacking(name))
        };
        let (kind, around) = match wanted {
            TokenizerKind::Clip => {
                let around = [find("<|startoftext|>")?, find("<|endoftext|>")?];
                (Kind::Clip(Clip::new(Pairs::new(&vocabulary, merges, around[1]))), around)
            }
            _ => {
                let around = [find("<s>")?, find("</s>")?];
                let unknown = find("<unk>").unwrap_or(around[1]);
                (Kind::ByteLevel(ByteLevel::new(Pairs::new(&vocabulary, merges, unknown))), around)
            }
        };
        Ok(Self { kind, added: sorted(added), around, names })
    }

    fn of_words(
        vocabulary: HashMap<String, u32>,
        pieces: WordPiece,
        added: Vec<AddedToken>,
    ) -> Result<Self, Refusal> {
        let mut names = names(&vocabulary);
        for token in &added {
            name(&mut names, token.id, &token.content);
        }
        // BERT's names, or those of MPNet.
        let find = |one: &str, other: &str| {
            let of_added =
                |name: &str| added.iter().find(|added| added.content == name).map(|added| added.id);
            let found = |name: &str| of_added(name).or_else(|| vocabulary.get(name).copied());
            found(one).or_else(|| found(other)).ok_or_else(|| lacking(one))
        };
        let around = [find("[CLS]", "<s>")?, find("[SEP]", "</s>")?];
        let unknown = find("[UNK]", "<unk>")?;
        Ok(Self {
            kind: Kind::WordPiece(pieces.over(vocabulary, unknown)),
            added: sorted(added),
            around,
            names,
        })
    }

    /// The ids of a text's tokens, without those around it.
    pub fn ids(&self, text: &str, prefix_space: bool) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut rest = text;
        let mut is_first = true;
        while !rest.is_empty() {
            let next = self.next_added(rest);
            let (before, found, after) = match next {
                None => (rest, None, ""),
                Some((at, added)) => {
                    let (before, after) = (&rest[..at], &rest[at + added.content.len()..]);
                    let before = if added.left { before.trim_end() } else { before };
                    (before, Some(added.id), if added.right { after.trim_start() } else { after })
                }
            };
            match &self.kind {
                Kind::Clip(clip) => clip.add(before, &mut ids),
                Kind::ByteLevel(bytes) => bytes.add(before, prefix_space && is_first, &mut ids),
                Kind::WordPiece(pieces) => pieces.add(before, &mut ids),
            }
            is_first &= before.is_empty() && found.is_none();
            ids.extend(found);
            rest = after;
        }
        ids
    }

    /// The first added token in a text, the longest of those that begin there.
    fn next_added(&self, text: &str) -> Option<(usize, &AddedToken)> {
        let found = self.added.iter().filter_map(|added| Some((text.find(&added.content)?, added)));
        found.min_by_key(|(at, added)| (*at, std::cmp::Reverse(added.content.len())))
    }

    /// The ids of a text with those around it, at most `most`.
    pub fn encode(&self, text: &str, prefix_space: bool, most: usize) -> Vec<u32> {
        let [first, last] = self.around;
        let mut ids = self.ids(text, prefix_space);
        ids.truncate(most.saturating_sub(2));
        let mut all = Vec::with_capacity(ids.len() + 2);
        all.push(first);
        all.append(&mut ids);
        all.push(last);
        all
    }

    /// A token as people read it.
    pub fn token(&self, id: u32) -> String {
        let name = self.names.get(id as usize).map_or("", String::as_str);
        match &self.kind {
            Kind::WordPiece(_) => name.to_owned(),
            Kind::Clip(_) => byte_level::readable(name.trim_end_matches("</w>")),
            Kind::ByteLevel(_) => byte_level::readable(name),
        }
    }
}

/// The ids in a vocabulary.
fn ids(vocabulary: &Value) -> Result<HashMap<String, u32>, Refusal> {
    let Some(vocabulary) = vocabulary.as_object() else {
        return Err(Refusal::new("it has no vocabulary").with_remedy("download the file again"));
    };
    vocabulary
        .iter()
        .map(|(token, id)| {
            match id.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|id| *id < 1 << 24) {
                Some(id) => Ok((token.clone(), id)),
                None => Err(Refusal::new(format!("the id of {token:?} is {id}"))
                    .with_remedy("download the file again")),
            }
        })
        .collect()
}

fn names(vocabulary: &HashMap<String, u32>) -> Vec<String> {
    let mut names = Vec::new();
    let mut all: Vec<(&String, &u32)> = vocabulary.iter().collect();
    all.sort_unstable();
    all.into_iter().for_each(|(token, id)| name(&mut names, *id, token));
    names
}

fn name(names: &mut Vec<String>, id: u32, token: &str) {
    let id = id as usize;
    if id < 1 << 24 {
        if names.len() <= id {
            names.resize(id + 1, String::new());
        }
        token.clone_into(&mut names[id]);
    }
}

/// Longer ones first.
fn sorted(mut added: Vec<AddedToken>) -> Vec<AddedToken> {
    added.sort_by_key(|added| std::cmp::Reverse(added.content.len()));
    added
}

fn lacking(token: &str) -> Refusal {
    Refusal::new(format!("the vocabulary has no {token}"))
        .with_remedy("give the tokenizer that belongs to the weights")
}
