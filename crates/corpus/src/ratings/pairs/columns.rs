//! Which column of a file of pairs is what.

use serde_json::Value;

use super::rows::Row;
use super::winner::Said;
use crate::ratings::table::IDS;
use crate::{Error, ErrorKind, SegmentId};

const LISTS: &[&str] = &["captions", "candidates", "hypotheses", "sentences"];
const CAPTIONS: &[&str] =
    &["caption", "candidate", "cand", "hypothesis", "hyp", "sentence", "sent", "text", "description"];
const ENDS: &[[&str; 2]] = &[["a", "b"], ["1", "2"], ["0", "1"]];
const CATEGORIES: &[&str] = &["category", "type", "class", "kind", "group"];
const VOTES: &[&str] = &["votes", "vote", "wins"];
const WINNERS: &[&str] =
    &["winner", "label", "preference", "preferred", "choice", "better", "majority", "vote"];
const POOLS: &[&str] = &["references", "refs", "groundtruth", "gts"];
const REFERENCES: &[&str] = &["reference", "ref"];
const PAIRS: &[&str] = &["pairid", "pair"];

/// The columns of a file of pairs.
pub(super) struct Columns {
    image: String,
    captions: Two,
    category: Option<String>,
    votes: Votes,
    /// A list of references in one cell.
    pool: Option<String>,
    /// A reference each.
    references: Vec<String>,
    /// Whether a row is one vote by one reference.
    of_votes: bool,
    pair: Option<String>,
}

/// Two values in a list, or in two columns.
enum Two {
    List(String),
    Columns([String; 2]),
}

enum Votes {
    Counts(Two),
    Winner(String),
}

impl Columns {
    pub fn choose(names: &[String], source: &str) -> Result<Self, Error> {
        let fault = |what: &str, remedy: &str| {
            let listed: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            let message = format!("no column of {} holds {what}", listed.join(", "));
            Error::new(ErrorKind::Shape, source, message).with_remedy(remedy)
        };
        let plain: Vec<(String, &String)> = names.iter().map(|name| (plain(name), name)).collect();
        let exact = |wanted: &str| plain.iter().find(|(known, _)| known == wanted).map(|(_, name)| *name);
        let one = |wanted: &[&str]| wanted.iter().find_map(|wanted| exact(wanted)).cloned();
        let both = |stem: &str| {
            ENDS.iter().find_map(|[a, b]| {
                Some([exact(&format!("{stem}{a}"))?.clone(), exact(&format!("{stem}{b}"))?.clone()])
            })
        };
        let image = IDS
            .iter()
            .find_map(|id| exact(&self::plain(id)))
            .ok_or_else(|| fault("the image's id", "name it image_id"))?;
        let letters = || Some([exact("b")?.clone(), exact("c")?.clone()]);
        let triplet = letters().filter(|_| exact("a").is_some());
        let captions = match one(LISTS) {
            Some(list) => Two::List(list),
            None => {
                let columns = CAPTIONS.iter().find_map(|stem| both(stem)).or_else(|| triplet.clone());
                Two::Columns(columns.or_else(|| both("")).ok_or_else(|| {
                    fault(
                        "the two captions",
                        "name them caption_a and caption_b, or give a list `captions` of two",
                    )
                })?)
            }
        };
        let list = ["votes"].iter().find_map(|name| exact(name)).cloned().map(Two::List);
        let counts = VOTES.iter().find_map(|stem| both(stem)).map(Two::Columns).or(list);
        let votes = match (counts, one(WINNERS)) {
            (Some(counts), _) => Votes::Counts(counts),
            (None, Some(winner)) => Votes::Winner(winner),
            (None, None) => {
                return Err(fault(
                    "votes",
                    "name them votes_a and votes_b, or winner where a row says which caption won",
                ));
            }
        };
        let is_triplet =
            matches!((&captions, &triplet), (Two::Columns(columns), Some(triplet)) if columns == triplet);
        let single = one(REFERENCES).or_else(|| exact("a").filter(|_| is_triplet).cloned());
        let of_votes = single.is_some() && matches!(votes, Votes::Winner(_));
        let numbered = plain.iter().filter(|(plain, _)| is_numbered(plain)).map(|(_, name)| (*name).clone());
        let references = single.into_iter().chain(numbered).collect();
        Ok(Self {
            image: image.clone(),
            captions,
            category: one(CATEGORIES),
            votes,
            pool: one(POOLS),
            references,
            of_votes,
            pair: one(PAIRS),
        })
    }

    /// Whether a row is one vote, of which several make a pair.
    pub fn is_of_votes(&self) -> bool {
        self.of_votes
    }

    /// The id of the pair, if the file has one.
    pub fn pair(&self, row: &Row) -> String {
        self.pair.as_deref().and_then(|name| row.get(name)).map_or_else(String::new, shown)
    }

    pub fn image(&self, row: &Row) -> Option<SegmentId> {
        match row.get(&self.image)? {
            Value::String(text) if row.untyped => Some(SegmentId::from_untyped(text)),
            Value::String(text) => Some(SegmentId::from(text.as_str())),
            Value::Number(number) => number.as_i64().map(SegmentId::Integer),
            _ => None,
        }
    }

    pub fn captions(&self, row: &Row) -> Result<[String; 2], String> {
        let wrong = || "expected two captions".to_owned();
        let texts = match &self.captions {
            Two::List(name) => match row.get(name) {
                Some(Value::Array(list)) if list.len() == 2 => [text(&list[0]), text(&list[1])],
                _ => return Err(wrong()),
            },
            Two::Columns(names) => [0, 1].map(|k| row.get(&names[k]).and_then(text)),
        };
        match texts {
            [Some(a), Some(b)] if a.is_empty() || b.is_empty() => Err("a caption is empty".to_owned()),
            [Some(a), Some(b)] => Ok([a, b]),
            _ => Err(wrong()),
        }
    }

    /// What the row says of the winner, where it holds no counts.
    pub fn winner(&self, row: &Row) -> Option<Said> {
        match &self.votes {
            Votes::Winner(name) => row.get(name).map(Said::of),
            Votes::Counts(_) => None,
        }
    }

    /// The counts of the row, where it holds any.
    pub fn votes(&self, row: &Row) -> Result<Option<[f64; 2]>, String> {
        let Votes::Counts(counts) = &self.votes else { return Ok(None) };
        let cells = match counts {
            Two::List(name) => match row.get(name) {
                Some(Value::Array(list)) if list.len() == 2 => [Some(&list[0]), Some(&list[1])],
                None => return Ok(None),
                Some(other) => return Err(format!("expected two numbers of votes, not {}", shown(other))),
            },
            Two::Columns(names) => [row.get(&names[0]), row.get(&names[1])],
        };
        let count = |cell: Option<&Value>| match cell.map(|cell| (number(cell), cell)) {
            None => Ok(0.0),
            Some((Some(votes), _)) if (0.0..=1e15).contains(&votes) => Ok(votes),
            Some((_, cell)) => Err(format!("'{}' is no number of votes", shown(cell))),
        };
        Ok(Some([count(cells[0])?, count(cells[1])?]))
    }

    pub fn category(&self, row: &Row) -> Option<String> {
        row.get(self.category.as_deref()?).map(|value| shown(value).trim().to_owned())
    }

    pub fn references(&self, row: &Row) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        if let Some(cell) = self.pool.as_deref().and_then(|name| row.get(name)) {
            let texts = match cell {
                Value::Array(list) => list.iter().map(text).collect::<Option<Vec<String>>>(),
                other => text(other).map(|text| vec![text]),
            };
            found.extend(texts.ok_or_else(|| "expected a list of references".to_owned())?);
        }
        for name in &self.references {
            if let Some(cell) = row.get(name) {
                found.push(text(cell).ok_or_else(|| format!("expected a caption as {name}"))?);
            }
        }
        found.retain(|text| !text.is_empty());
        Ok(found)
    }
}

/// A name without capitals and separators.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a column holds one of several references: `reference_1`, `ref12`.
fn is_numbered(plain: &str) -> bool {
    REFERENCES.iter().any(|stem| {
        plain
            .strip_prefix(stem)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// A caption: text, or an object with a `text`, its ends trimmed.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Object(map) => map
            .get("text")
            .or_else(|| map.get("caption"))
            .and_then(Value::as_str)
            .map(|text| text.trim().to_owned()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
