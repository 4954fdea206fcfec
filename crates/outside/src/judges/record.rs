//! The file of judgements: a line of JSON for each answer, with its query and a checksum.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use capeval::corpus::SegmentId;
use capeval_choice::{Code, Notice, Refusal};
use capeval_files::{Error, Lines};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use twox_hash::XxHash3_64;

use crate::judges::answer::Token;

/// An answer to a question, as a line of the file has it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Judgement {
    /// The judge's name and version.
    pub judge: String,
    pub version: String,
    /// The hash of what it asks.
    pub asks: String,
    /// The model that was asked for.
    pub asked: String,
    /// The hash of the question: the messages, with the id of the image in the place of its picture.
    pub question: String,
    /// The number of this answer to the question, from 1.
    pub answer_number: u32,
    /// The image, and the captions in question.
    pub image: Option<SegmentId>,
    pub captions: Vec<String>,
    /// The hash of the picture's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The parameters that were sent beside the messages.
    pub parameters: Map<String, Value>,
    /// The server's name for the model.
    pub model: Option<String>,
    /// The answer, as it came.
    pub answer: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probabilities: Vec<Token>,
    pub finish: Option<String>,
    /// The tokens of question and answer, as the server counts them.
    pub tokens: Option<[u64; 2]>,
    /// The time at which it came, and the time that it took.
    pub at: String,
    pub seconds: f64,
    /// The value that was read from it, for people: scores are read from the answer again.
    pub read: Value,
}

/// The key of answers: the judge's question, the model, and the question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub asks: String,
    pub asked: String,
    pub question: String,
}

/// The judgements of a file.
#[derive(Debug)]
pub struct Record {
    path: String,
    /// The file to which new ones are added; `None` if there are to be none.
    lines: Option<Lines>,
    known: Mutex<HashMap<Key, Vec<Arc<Judgement>>>>,
    /// The numbers of lines that are damaged.
    damaged: Vec<usize>,
}

/// How every line starts.
const START: &[u8] = b"{\"judge\":\"";

/// The text between a judgement and its checksum.
const SUM: &str = ",\"sum\":\"";

impl Judgement {
    /// The key by which it is found.
    pub fn key(&self) -> Key {
        Key { asks: self.asks.clone(), asked: self.asked.clone(), question: self.question.clone() }
    }

    fn line(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        let json = json.strip_suffix('}').unwrap_or(&json);
        format!("{json}{SUM}{:016x}\"}}", XxHash3_64::oneshot(json.as_bytes()))
    }

    /// Reads a line, if its checksum is right.
    pub fn read(line: &str) -> Option<Self> {
        let (json, sum) = line.strip_suffix("\"}")?.rsplit_once(SUM)?;
        let is_whole = u64::from_str_radix(sum, 16).ok()? == XxHash3_64::oneshot(json.as_bytes());
        if is_whole { serde_json::from_str(&format!("{json}}}")).ok() } else { None }
    }
}

/// Reads a line as it is, and with a right checksum, for fuzz targets.
#[cfg(fuzzing)]
pub fn fuzz(text: &str) {
    Judgement::read(text);
    let json = text.strip_suffix('}').unwrap_or(text);
    let sum = XxHash3_64::oneshot(json.as_bytes());
    if let Some(read) = Judgement::read(&format!("{json}{SUM}{sum:016x}\"}}")) {
        let again = Judgement::read(&read.line()).expect("the written line can be read");
        assert_eq!(again.key(), read.key());
    }
}

/// True for the start of a line that is not whole; a whole line of another program is none.
fn is_begun(line: &[u8]) -> bool {
    let n = line.len().min(START.len());
    n > 0 && line[..n] == START[..n] && serde_json::from_slice::<IgnoredAny>(line).is_err()
}

impl Record {
    /// Opens a file to which judgements are added, and makes it if it is not there. A line that a killed run has begun
    /// is cut off: its question is asked again.
    pub fn open(path: &str) -> Result<Self, Error> {
        let (lines, bytes) = Lines::open(path)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (whole, last) = bytes.split_at(end);
        if !is_begun(last) {
            return Self::of(path, Some(lines), &bytes);
        }
        let record = Self::of(path, Some(lines), whole)?;
        record.lines.iter().try_for_each(Lines::cut_open_line)?;
        Ok(record)
    }

    /// Reads a file.
    pub fn read(path: &str) -> Result<Self, Error> {
        let bytes = capeval_files::read(path)?;
        Self::of(path, None, &bytes)
    }

    fn of(path: &str, lines: Option<Lines>, bytes: &[u8]) -> Result<Self, Error> {
        let mut known: HashMap<Key, Vec<Arc<Judgement>>> = HashMap::new();
        let (mut damaged, mut n) = (Vec::new(), 0);
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match std::str::from_utf8(line).ok().and_then(|line| Judgement::read(line.trim_end())) {
                Some(judgement) => {
                    n += 1;
                    known.entry(judgement.key()).or_default().push(Arc::new(judgement));
                }
                None => damaged.push(number + 1),
            }
        }
        if n == 0 && !damaged.is_empty() {
            return Err(Refusal::new("this is no file of judgements")
                .with_remedy("name one that an earlier run wrote, or one that does not exist")
                .at(path)
                .into());
        }
        known.values_mut().for_each(|answers| answers.sort_by_key(|answer| answer.answer_number));
        Ok(Self { path: path.to_owned(), lines, known: Mutex::new(known), damaged })
    }

    /// The path of the file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The answers to a question, in their order.
    pub fn answers(&self, key: &Key) -> Vec<Arc<Judgement>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned().unwrap_or_default()
    }

    /// The models that were asked what a judge asks, in alphabetical order.
    pub fn asked(&self, asks: &str) -> Vec<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut models: Vec<String> =
            known.keys().filter(|key| key.asks == asks).map(|key| key.asked.clone()).collect();
        models.sort_unstable();
        models.dedup();
        models
    }

    /// All judgements, in an order that does not depend on the file's.
    pub fn all(&self) -> Vec<Arc<Judgement>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<Judgement>> = known.values().flatten().cloned().collect();
        all.sort_by(|one, other| {
            let order =
                |j: &Judgement| (j.asks.clone(), j.asked.clone(), j.question.clone(), j.answer_number);
            order(one).cmp(&order(other))
        });
        all
    }

    /// Adds a judgement to the file.
    pub fn add(&self, judgement: Judgement) -> Result<Arc<Judgement>, Error> {
        if let Some(lines) = &self.lines {
            lines.add(&judgement.line())?;
        }
        let judgement = Arc::new(judgement);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(judgement.key()).or_default().push(Arc::clone(&judgement));
        Ok(judgement)
    }

    /// The notice about damaged lines.
    pub fn notice(&self) -> Option<Notice> {
        let first = self.damaged.first()?;
        let n = self.damaged.len();
        let what = match n {
            1 => format!("line {first} is"),
            _ => format!("{n} lines are, the first of them line {first},"),
        };
        let message = format!("{}: {what} cut or changed, and not used", self.path);
        Some(Notice::new(Code::Judgements, message).count(n))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    pub fn judgement(question: &str, answer: &str) -> Judgement {
        Judgement {
            judge: "grade".to_owned(),
            version: "1".to_owned(),
            asks: "abc".to_owned(),
            asked: "tiny".to_owned(),
            question: question.to_owned(),
            answer_number: 1,
            image: Some(SegmentId::from(7)),
            captions: vec!["a \"dog\",\"sum\":\"0\"}\n".to_owned()],
            picture: None,
            parameters: Map::new(),
            model: Some("tiny-2".to_owned()),
            answer: answer.to_owned(),
            probabilities: Vec::new(),
            finish: None,
            tokens: Some([3, 4]),
            at: String::new(),
            seconds: 0.25,
            read: json!({"score": 0.1}),
        }
    }

    #[test]
    fn lines_come_back_and_damage_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.jsonl").to_string_lossy().into_owned();
        let record = Record::open(&path).unwrap();
        let (one, two) = (judgement("q1", "a\nb"), judgement("q2", "\",\"sum\":\"0\"}"));
        record.add(one.clone()).unwrap();
        record.add(two.clone()).unwrap();
        drop(record);
        let record = Record::read(&path).unwrap();
        assert_eq!(*record.answers(&one.key())[0], one);
        assert_eq!(*record.answers(&two.key())[0], two);
        assert!(record.notice().is_none() && record.all().len() == 2);
        let text = std::fs::read_to_string(&path).unwrap();
        // Every byte is covered, and every cut is known.
        let first = text.lines().next().unwrap();
        for end in 0..first.len() {
            assert_eq!(Judgement::read(&first[..end]), None, "{end}");
        }
        for at in 0..first.len() {
            let mut bytes = first.as_bytes().to_vec();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            let read = Judgement::read(&changed);
            // The checksum may be written with other letters.
            assert!(read.is_none() || read.as_ref() == Some(&one), "{at}: {changed}");
        }
        // A line that a kill has torn is cut off at any byte, even if it is the first; the others stay.
        for kept in ["", &format!("{first}\n")] {
            for end in 0..first.len() {
                std::fs::write(&path, format!("{kept}{}", &first[..end])).unwrap();
                let record = Record::open(&path).unwrap();
                assert!(record.notice().is_none(), "{end}");
                record.add(two.clone()).unwrap();
                drop(record);
                let now = std::fs::read_to_string(&path).unwrap();
                assert_eq!(now, format!("{kept}{}\n", two.line()), "{end}");
            }
        }
        std::fs::write(&path, text.replace("a\\nb", "a\\nc")).unwrap();
        let record = Record::read(&path).unwrap();
        assert!(record.answers(&one.key()).is_empty());
        let notice = record.notice().unwrap();
        assert!(
            notice.message.ends_with("j.jsonl: line 1 is cut or changed, and not used"),
            "{}",
            notice.message
        );
        // A whole line needs no line break, and another file stays as it is.
        std::fs::write(&path, first).unwrap();
        assert_eq!(Record::open(&path).unwrap().all().len(), 1);
        let others = ["hello", "{\"judge\":\"ada\"}", "{\"judge\":\"ada\"}\n{\"judge\":\"bo"];
        for other in others {
            std::fs::write(&path, other).unwrap();
            assert!(Record::open(&path).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        }
        assert!(Record::read(&path).unwrap_err().to_string().ends_with("this is no file of judgements"));
    }
}
