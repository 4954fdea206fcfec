//! Pairs of captions of one image, and which of the two people preferred: PASCAL-50S and its kin.
//!
//! Read are JSON, JSON Lines, CSV and TSV. A row is a pair (with counts of votes, or who won), or, where it names one
//! reference, a single vote as PASCAL-50S's triplets hold them: «which of B and C is more like A». Rows of votes of one
//! pair are put together. A JSON object of lists, one per category, is read as well.

mod columns;
mod rows;
mod winner;

use std::collections::HashMap;

use crate::input::Source;
use crate::{Error, ErrorKind, SegmentId};
use columns::Columns;
use rows::Row;
use winner::Coding;

/// Pairs of captions, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Where they come from.
    pub source: String,
    /// The pairs; at least one.
    pub items: Vec<Choice>,
    /// How many rows are left out because nobody voted.
    pub unvoted: usize,
}

/// Two captions of one image, and how many people preferred which.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The image.
    pub image: SegmentId,
    /// The two captions; neither is empty.
    pub captions: [String; 2],
    /// How many votes each of them got, finite and not below 0; half a vote each where a voter could not tell.
    pub votes: [f64; 2],
    /// What kind of pair it is, such as HC, HI, HM and MM of PASCAL-50S, if the file tells it.
    pub category: Option<String>,
    /// The references to draw from, if they stand in the file.
    pub references: Vec<String>,
}

/// Reads pairs, unpacked if need be; `name` stands in errors.
///
/// # Errors
/// When the file is none of the known forms, columns are missing, a vote makes no sense, or there is no pair at all.
pub fn read_pairs(bytes: &[u8], name: &str) -> Result<Choices, Error> {
    let source = Source::from_bytes(bytes, name)?;
    refuse_binary(source.head(), name)?;
    let text = source.into_text()?.text;
    let rows = rows::read(&text, name)?;
    let Some(names) = rows::names(&rows) else {
        return Err(Error::new(ErrorKind::Empty, name, "there is no pair in this file")
            .with_remedy("give two captions of an image and their votes per row"));
    };
    let columns = Columns::choose(&names, name)?;
    let coding = Coding::of(rows.iter().filter_map(|row| columns.winner(row)), name)?;
    let mut choices = Choices { source: name.to_owned(), ..Choices::default() };
    let mut known: HashMap<(String, SegmentId, [String; 2]), usize> = HashMap::new();
    for row in &rows {
        let found = pair(row, &columns, coding, name)?;
        let Some(found) = found else {
            choices.unvoted += 1;
            continue;
        };
        if !columns.is_of_votes() {
            choices.items.push(found);
            continue;
        }
        let key = (columns.pair(row), found.image.clone(), found.captions.clone());
        match known.get(&key).and_then(|at| choices.items.get_mut(*at)) {
            Some(item) => {
                item.votes = [item.votes[0] + found.votes[0], item.votes[1] + found.votes[1]];
                item.references.extend(found.references);
            }
            None => {
                known.insert(key, choices.items.len());
                choices.items.push(found);
            }
        }
    }
    if choices.items.is_empty() {
        return Err(Error::new(ErrorKind::Empty, name, "there is no vote in this file"));
    }
    Ok(choices)
}

/// What no reader of text can read.
fn refuse_binary(head: &[u8], name: &str) -> Result<(), Error> {
    if head.starts_with(b"MATLAB") {
        let message = "this is a MATLAB file, which is not read";
        return Err(Error::new(ErrorKind::Format, name, message).with_remedy(
            "turn PASCAL-50S's pair_pascal.mat and consensus_pascal.mat into JSON Lines with \
             `python scripts/pascal50s.py pair_pascal.mat consensus_pascal.mat > pairs.jsonl` (needs scipy)",
        ));
    }
    if head.starts_with(b"PAR1") {
        return Err(Error::new(ErrorKind::Format, name, "this is Parquet, in which pairs are not read")
            .with_remedy("save the table as JSON Lines or CSV"));
    }
    Ok(())
}

/// The pair of a row; none where nobody voted.
fn pair(row: &Row, columns: &Columns, coding: Coding, name: &str) -> Result<Option<Choice>, Error> {
    let fault = |kind, message: String| Error::new(kind, name, message).at(row.place);
    let Some(image) = columns.image(row) else {
        return Err(fault(ErrorKind::Id, "there is no image id in this row".to_owned()));
    };
    let captions = columns.captions(row).map_err(|message| fault(ErrorKind::Shape, message))?;
    let votes = match columns.winner(row) {
        Some(said) => Some(coding.votes(&said).map_err(|message| fault(ErrorKind::Shape, message))?),
        None => columns.votes(row).map_err(|message| fault(ErrorKind::Shape, message))?,
    };
    let references = columns.references(row).map_err(|message| fault(ErrorKind::Shape, message))?;
    let category = columns.category(row);
    Ok(votes.filter(|votes| votes[0] + votes[1] > 0.0).map(|votes| Choice {
        image,
        captions,
        votes,
        category,
        references,
    }))
}
