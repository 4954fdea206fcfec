//! The columns of files of pairs.

use super::cells::{Two, only, only_column, text};
use super::fault::Fault;
use super::rows::Row;
use super::winner::{RowVotes, WinnerCell};
use crate::table::Cell;
use crate::table::known::{
    CANDIDATE, CATEGORY, IMAGE, PAIR, REFERENCE, REFERENCE_LIST, TWO_CAPTIONS, VOTES, WINNER,
};
use crate::{Error, ErrorKind, Remedy, SegmentId, written_list};

const ENDS: &[[&str; 2]] = &[["a", "b"], ["1", "2"], ["0", "1"]];

/// The columns of a file of pairs. If there are several of a kind, each row uses only one of them.
pub(super) struct Columns {
    image: String,
    captions: Vec<Two>,
    category: Option<String>,
    counts: Vec<Two>,
    winners: Vec<String>,
    /// Columns with a list of references in a cell.
    pools: Vec<String>,
    /// Columns with the single reference of a vote.
    singles: Vec<String>,
    /// Columns with one reference each.
    numbered: Vec<String>,
    pair: Option<String>,
}

/// The names of columns in lower case without separators, each with the original name.
type Plain<'n> = [(String, &'n String)];

impl Columns {
    pub fn choose(names: &[String], source: &str) -> Result<Self, Error> {
        let fault = |what: &str, remedy: &str| {
            let listed: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            let message = format!("no column of {} holds {what}", listed.join(", "));
            Error::new(ErrorKind::Shape, source, message).with_remedy(Remedy::say(remedy.to_owned()))
        };
        let plain: Vec<(String, &String)> = names.iter().map(|name| (plain(name), name)).collect();
        let all = |wanted: &[&str]| -> Vec<String> {
            wanted.iter().filter_map(|wanted| exact(&plain, &self::plain(wanted))).cloned().collect()
        };
        let one = |wanted: &[&str]| all(wanted).into_iter().next();
        let image = IMAGE.iter().find_map(|known| exact(&plain, &self::plain(known)));
        let image = image.ok_or_else(|| fault("the image's id", "name it image_id"))?;
        let triplet = triplet(&plain);
        let lists = all(TWO_CAPTIONS).into_iter().map(Two::List);
        let mut captions: Vec<Two> =
            lists.chain(CANDIDATE.iter().filter_map(|stem| both(&plain, &self::plain(stem)))).collect();
        let mut singles = all(REFERENCE);
        if captions.is_empty() {
            singles.extend(triplet.as_ref().and_then(|_| exact(&plain, "a")).cloned());
            captions.extend(triplet.or_else(|| both(&plain, "")));
        }
        if captions.is_empty() {
            return Err(fault(
                "the two captions",
                "name them caption_a and caption_b, or give a list `captions` of two",
            ));
        }
        let counts: Vec<Two> = VOTES
            .iter()
            .filter_map(|stem| both(&plain, stem))
            .chain(exact(&plain, "votes").cloned().map(Two::List))
            .collect();
        let winners = all(WINNER);
        if counts.is_empty() && winners.is_empty() {
            return Err(fault(
                "votes",
                "name them votes_a and votes_b, or winner where a row says which caption won",
            ));
        }
        let numbered = plain.iter().filter(|(plain, _)| is_numbered(plain)).map(|(_, name)| (*name).clone());
        let found = Self {
            image: image.clone(),
            captions,
            category: one(CATEGORY),
            counts,
            winners,
            pools: all(REFERENCE_LIST),
            singles,
            numbered: numbered.collect(),
            pair: one(PAIR),
        };
        found.refuse_twins(&plain, source)?;
        Ok(found)
    }

    /// Refuses two columns with the same name, since only one of them would be read.
    fn refuse_twins(&self, plain: &Plain<'_>, source: &str) -> Result<(), Error> {
        let lists = self.winners.iter().chain(&self.pools).chain(&self.singles).chain(&self.numbered);
        let single = [Some(&self.image), self.category.as_ref(), self.pair.as_ref()];
        let two = self.captions.iter().chain(&self.counts).flat_map(Two::names);
        for name in lists.chain(single.into_iter().flatten()).map(String::as_str).chain(two) {
            let alike = self::plain(name);
            let twins: Vec<String> = plain
                .iter()
                .filter(|(plain, _)| *plain == alike)
                .map(|(_, name)| format!("\"{name}\""))
                .collect();
            if twins.len() > 1 {
                let message = format!("the column {name} is given twice, as {}", twins.join(" and "));
                return Err(Error::new(ErrorKind::Duplicate, source, message)
                    .with_remedy(Remedy::say("leave out or rename one of them")));
            }
        }
        Ok(())
    }

    /// Returns true if each row with a winner is a single vote, and several rows make a pair.
    pub fn is_of_votes(&self) -> bool {
        !self.singles.is_empty() && !self.winners.is_empty()
    }

    /// The id of the pair, if the file has one.
    pub fn pair(&self, row: &Row) -> String {
        self.pair.as_deref().and_then(|name| row.get(name)).map_or_else(String::new, Cell::to_string)
    }

    pub fn image(&self, row: &Row) -> Result<SegmentId, Fault> {
        match row.get(&self.image) {
            None => Err(Fault::new(format!("there is no {} in this row", self.image))),
            Some(cell) => {
                let fault =
                    || Fault::new(format!("'{cell}' is not an image id")).advise("write it as a string");
                cell.id().ok_or_else(fault)
            }
        }
    }

    pub fn captions(&self, row: &Row) -> Result<[String; 2], Fault> {
        let two = only(&self.captions, row, "captions", |two| (two.names(), two.named()))?;
        let cells = two.map(|two| two.cells(row, "captions")).transpose()?.flatten();
        let (Some(two), Some(cells)) = (two, cells) else {
            let fault = Fault::new("expected two captions, but there is none");
            return Err(fault.advise("write them, or leave the row out"));
        };
        let of = |k: usize| match cells[k] {
            None | Some(Cell::Null) => {
                let which = ["first", "second"][k];
                let message = format!("expected two captions in {}, but the {which} is missing", two.named());
                Err(Fault::new(message).advise("write it, or leave the row out"))
            }
            Some(cell) => match text(cell) {
                Some(text) if text.is_empty() => {
                    let which = ["first", "second"][k];
                    let message = format!("a caption is empty, the {which} of {}", two.named());
                    Err(Fault::new(message).advise("write it, or leave the row out"))
                }
                Some(text) => Ok(text),
                None => {
                    let message =
                        format!("expected two captions in {}, but '{cell}' is not text", two.named());
                    Err(Fault::new(message).advise("write it as a string"))
                }
            },
        };
        Ok([of(0)?, of(1)?])
    }

    /// The votes in the row: counts, a winner, both or neither.
    pub fn voted(&self, row: &Row) -> Result<RowVotes, Fault> {
        let winner = only_column(&self.winners, row, "winners")?;
        let winner = winner.and_then(|name| Some((name.clone(), WinnerCell::of(row.get(name)?))));
        let two = only(&self.counts, row, "votes", |two| (two.names(), two.named()))?;
        let cells = two.map(|two| two.cells(row, "numbers of votes")).transpose()?.flatten();
        let (Some(two), Some(cells)) = (two, cells) else { return Ok(RowVotes { counts: None, winner }) };
        let count = |cell: Option<&Cell<'_>>| match cell {
            None | Some(Cell::Null) => {
                let message = format!("one of the two numbers of votes in {} is missing", two.named());
                Err(Fault::new(message).advise("write 0 where there are no votes"))
            }
            Some(cell) => match cell.number() {
                Some(votes) if (0.0..=1e15).contains(&votes) => Ok(votes),
                _ => Err(Fault::new(format!("'{cell}' in {} is not a number of votes", two.named()))),
            },
        };
        Ok(RowVotes { counts: Some([count(cells[0])?, count(cells[1])?]), winner })
    }

    pub fn category(&self, row: &Row) -> Option<String> {
        row.get(self.category.as_deref()?).map(|cell| cell.to_string().trim().to_owned())
    }

    pub fn references(&self, row: &Row) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        if let Some(name) = only_column(&self.pools, row, "references")?
            && let Some(cell) = row.get(name)
        {
            let texts = match cell {
                Cell::List(list) => list.iter().map(text).collect::<Option<Vec<String>>>(),
                other => text(other).map(|text| written_list(&text).unwrap_or_else(|| vec![text])),
            };
            let fault = || Fault::new(format!("expected a list of references in \"{name}\""));
            found.extend(texts.ok_or_else(fault)?);
        }
        let single = only_column(&self.singles, row, "the vote's reference")?;
        for name in single.into_iter().chain(&self.numbered) {
            if let Some(cell) = row.get(name) {
                let fault = || Fault::new(format!("expected a caption as \"{name}\""));
                found.push(text(cell).ok_or_else(fault)?);
            }
        }
        found.retain(|text| !text.is_empty());
        Ok(found)
    }
}

/// The column with this plain name.
fn exact<'n>(plain: &Plain<'n>, wanted: &str) -> Option<&'n String> {
    plain.iter().find(|(known, _)| known == wanted).map(|(_, name)| *name)
}

/// The two columns with a common stem, such as `caption_a` and `caption_b`.
fn both(plain: &Plain<'_>, stem: &str) -> Option<Two> {
    ENDS.iter().find_map(|ends| {
        let [a, b] = ends.map(|end| exact(plain, &format!("{stem}{end}")).cloned());
        Some(two(plain, stem, [a?, b?], &[]))
    })
}

/// The columns B and C of PASCAL-50S's votes, if there is a column A as well.
fn triplet(plain: &Plain<'_>) -> Option<Two> {
    exact(plain, "a")?;
    Some(two(plain, "", [exact(plain, "b")?.clone(), exact(plain, "c")?.clone()], &["a"]))
}

fn two(plain: &Plain<'_>, stem: &str, names: [String; 2], but: &[&str]) -> Two {
    let is_more = |known: &str| {
        known.strip_prefix(stem).is_some_and(|end| {
            let is_end = matches!(end.as_bytes(), [b'a'..=b'h'])
                || (!end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()));
            is_end && !but.contains(&end)
        })
    };
    let more = plain.iter().filter(|(known, name)| is_more(known) && !names.contains(name));
    let more = more.map(|(_, name)| (*name).clone()).collect();
    Two::Columns { names, more }
}

/// A name in lower case, with letters and digits only: `caption.a` is `caption_a`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns true if a column holds one of several references: `reference_1`, `ref12`.
fn is_numbered(plain: &str) -> bool {
    REFERENCE.iter().any(|stem| {
        plain
            .strip_prefix(stem)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
