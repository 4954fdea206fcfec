//! Pairs of captions of one image, and which of the two people preferred: PASCAL-50S and similar data.
//!
//! The formats are JSON, JSON Lines, CSV, TSV and Parquet. A row is a pair (with counts of votes or a winner) or, if it
//! names one reference, a single vote, as in PASCAL-50S's triplets: "which of B and C is more like A?". Votes on the
//! same pair are combined. A JSON object of lists, one per category, is read as well.
//!
//! A row that contradicts itself or other rows of its pair is an error.

mod cells;
mod columns;
mod fault;
mod gathering;
pub(crate) mod rows;
mod winner;

use crate::input::Source;
use crate::table::{Nesting, Table};
use crate::{Error, ErrorKind, Remedy, SegmentId};
use columns::Columns;
use fault::Fault;
use gathering::Gathering;
use rows::Row;
use winner::{Coding, RowVotes, is_same};

/// Pairs of captions, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// The display name of the source.
    pub source: String,
    /// The pairs; at least one.
    pub items: Vec<Choice>,
    /// The number of rows left out because they have no votes.
    pub unvoted: usize,
}

/// Two captions of one image, and the votes for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The image.
    pub image: SegmentId,
    /// The two captions; neither is empty.
    pub captions: [String; 2],
    /// The number of votes for each, finite and not below 0; an undecided voter gives each caption half a vote.
    pub votes: [f64; 2],
    /// The category, such as HC, HI, HM and MM of PASCAL-50S, if the file contains it.
    pub category: Option<String>,
    /// The references to draw from, if the file contains them.
    pub references: Vec<String>,
}

/// Reads pairs, compressed or not; errors call the file `name`.
pub fn read_pairs(bytes: &[u8], name: &str) -> Result<Choices, Error> {
    let source = Source::from_bytes(bytes, name)?;
    refuse_binary(source.head(), name)?;
    let table = if source.head().starts_with(b"PAR1") {
        Table::read(source, "", Nesting::Whole)?
    } else {
        rows::read(&source.into_text()?.text, name)?
    };
    let Table { names, rows } = table;
    if rows.is_empty() {
        return Err(Error::new(ErrorKind::Empty, name, "there is no pair in this file")
            .with_remedy(Remedy::say("give two captions of an image and their votes per row")));
    }
    let columns = Columns::choose(&names, name)?;
    let shape = |row: &Row, fault: Fault| fault.error(ErrorKind::Shape, name, row.place);
    let voted: Vec<RowVotes> = rows
        .iter()
        .map(|row| columns.voted(row).map_err(|fault| shape(row, fault)))
        .collect::<Result<_, _>>()?;
    let coding = Coding::of(voted.iter(), name)?;
    let mut gathering = Gathering::default();
    for (row, voted) in rows.iter().zip(&voted) {
        let found = choice(row, voted, &columns, coding, name)?;
        let pair = columns.pair(row);
        let added = match columns.is_of_votes() && voted.counts.is_none() {
            true => gathering.add_vote(pair, found, row.place),
            false => gathering.add(&pair, found, row.place),
        };
        added.map_err(|fault| shape(row, fault))?;
    }
    let choices = gathering.choices(name);
    if choices.items.is_empty() {
        return Err(Error::new(ErrorKind::Empty, name, "there is no vote in this file").with_remedy(
            Remedy::say("fill in votes (two numbers) or winner (a, b or tie) for one pair at least"),
        ));
    }
    Ok(choices)
}

/// Refuses files that are not text.
fn refuse_binary(head: &[u8], name: &str) -> Result<(), Error> {
    if head.starts_with(b"MATLAB") {
        let message = "this is a MATLAB file, which is not read";
        return Err(Error::new(ErrorKind::Format, name, message).with_remedy(Remedy::say(
            "turn PASCAL-50S's pair_pascal.mat and consensus_pascal.mat into JSON Lines with \
             `python scripts/pascal50s.py pair_pascal.mat consensus_pascal.mat > pairs.jsonl` (needs scipy)",
        )));
    }
    Ok(())
}

/// The pair of a row; without votes, both counts are 0.
fn choice(
    row: &Row,
    voted: &RowVotes,
    columns: &Columns,
    coding: Coding,
    name: &str,
) -> Result<Choice, Error> {
    let shape = |fault: Fault| fault.error(ErrorKind::Shape, name, row.place);
    let image = columns.image(row).map_err(|fault| fault.error(ErrorKind::Id, name, row.place))?;
    let captions = columns.captions(row).map_err(shape)?;
    let won = match &voted.winner {
        Some((column, said)) => Some(coding.votes(said).map_err(|fault| shape(fault.of(column)))?),
        None => None,
    };
    if let (Some((column, said)), Some(won), Some(counts)) = (&voted.winner, won, voted.counts)
        && !is_same(won, counts)
    {
        let [a, b] = counts;
        let message = format!("{column} is '{}', but the votes are {a} and {b}", said.shown());
        return Err(shape(Fault::new(message).advise("leave out one of them")));
    }
    let votes = voted.counts.or(won).unwrap_or_default();
    let references = columns.references(row).map_err(shape)?;
    Ok(Choice { image, captions, votes, category: columns.category(row), references })
}
