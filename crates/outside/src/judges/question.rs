//! Builds the queries of a judge about captions.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capeval::corpus::SegmentId;
use capeval::{OutsideRow, Picture};
use capeval_choice::Refusal;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::judges::judge::{Judge, Role, hex};
use crate::judges::record::{Judgement, Key, Record};
use crate::judges::template::{MessagePart, Values};

/// The largest file of a picture. Servers refuse larger ones, too.
const LARGEST: usize = 20 << 20;

/// The estimated number of tokens of a picture.
const TOKENS_OF_PICTURE: u64 = 1_000;

/// The tokens of an answer whose length is not limited, as an estimate.
const TOKENS_OF_ANSWER: u64 = 150;

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    pub messages: Vec<(Role, Vec<MessagePart>)>,
    /// A hash of the messages, with the id of the image in the place of its picture.
    pub hash: String,
    pub image: Option<SegmentId>,
    /// The file of its picture, if it shows one.
    pub picture: Option<String>,
    /// The captions in question, in the order in which it shows them.
    pub captions: Vec<String>,
    pub n_items: usize,
    /// Its subject, in words.
    pub told: String,
}

/// A picture as it is sent.
pub struct SentPicture {
    /// Its address, with its data.
    pub address: String,
    /// The hash of its file.
    pub hash: String,
}

impl Question {
    /// About a caption.
    pub fn of(judge: &Judge, row: &OutsideRow<'_>) -> Self {
        let values = Values { candidate: row.candidate, references: &row.references, pair: ["", ""] };
        Self::filled(judge, row, &values, vec![row.candidate.to_owned()])
    }

    /// About two captions, in this order.
    pub fn of_pair(judge: &Judge, row: &OutsideRow<'_>, pair: [&str; 2]) -> Self {
        let values = Values { candidate: "", references: &row.references, pair };
        Self::filled(judge, row, &values, pair.map(str::to_owned).to_vec())
    }

    fn filled(judge: &Judge, row: &OutsideRow<'_>, values: &Values<'_>, captions: Vec<String>) -> Self {
        let messages: Vec<(Role, Vec<MessagePart>)> = judge
            .messages
            .iter()
            .map(|message| (message.role, message.text.fill(values, &judge.references, &judge.items)))
            .collect();
        let shows = messages.iter().flat_map(|(_, parts)| parts).any(|part| *part == MessagePart::Image);
        let image = row.image.cloned();
        let part = |part: &MessagePart| match part {
            MessagePart::Text(text) => json!(text),
            MessagePart::Image => json!({"image": image}),
        };
        let hashed: Vec<_> = messages
            .iter()
            .map(|(role, parts)| json!([role, parts.iter().map(part).collect::<Vec<_>>()]))
            .collect();
        let picture = match row.picture {
            Some(Picture::File { path, .. }) if shows => Some(path.clone()),
            _ => None,
        };
        Self {
            hash: hex(&Sha256::digest(json!(hashed).to_string()), 16),
            messages,
            image,
            picture,
            captions,
            n_items: row.references.len(),
            told: row.told(),
        }
    }

    /// The answers to it in the record, in their order, but those about another picture.
    pub fn answers(
        &self,
        judge: &Judge,
        model: &str,
        record: &Record,
    ) -> Result<Vec<Arc<Judgement>>, Refusal> {
        let (asks, asked, question) = (judge.asks.clone(), model.to_owned(), self.hash.clone());
        let mut answers = record.answers(&Key { asks, asked, question });
        if !answers.is_empty()
            && let Some(shown) = self.shown()?
        {
            answers.retain(|answer| answer.picture.as_ref() == Some(&shown.hash));
        }
        Ok(answers)
    }

    /// Reads its picture, if it shows one.
    pub fn shown(&self) -> Result<Option<SentPicture>, Refusal> {
        let Some(path) = &self.picture else { return Ok(None) };
        let bytes = capeval_files::read(path).map_err(Refusal::from)?;
        if bytes.len() > LARGEST {
            return Err(Refusal::new(format!("{path}: this picture is larger than {} MB", LARGEST >> 20))
                .with_remedy("make it smaller: models see no more of it"));
        }
        let kind = match &bytes[..] {
            [0xff, 0xd8, 0xff, ..] => "jpeg",
            [0x89, b'P', b'N', b'G', ..] => "png",
            [b'G', b'I', b'F', b'8', ..] => "gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "webp",
            _ => {
                return Err(Refusal::new(format!("{path}: this is no picture that servers take"))
                    .with_remedy("use JPEG, PNG, WebP or GIF"));
            }
        };
        let address = format!("data:image/{kind};base64,{}", STANDARD.encode(&bytes[..]));
        Ok(Some(SentPicture { address, hash: hex(&Sha256::digest(&bytes[..]), 16) }))
    }

    /// About how many tokens it and its answer take: a token for four letters of ASCII, or for any other letter.
    pub fn tokens(&self, judge: &Judge) -> [u64; 2] {
        let of_text = |text: &str| {
            let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
            ascii.div_ceil(4) + (text.chars().count() as u64).saturating_sub(ascii)
        };
        let parts = self.messages.iter().flat_map(|(_, parts)| parts);
        let question = parts.map(|part| match part {
            MessagePart::Text(text) => of_text(text),
            MessagePart::Image => TOKENS_OF_PICTURE,
        });
        let limit = ["max_completion_tokens", "max_tokens"].into_iter();
        let limit = limit.filter_map(|key| judge.parameters.get(key)?.as_u64()).next();
        [question.sum(), limit.unwrap_or(TOKENS_OF_ANSWER)]
    }
}
