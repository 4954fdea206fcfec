//! The votes in a row, and the ways in which files name the winner.

use super::fault::Fault;
use crate::table::Cell;
use crate::{Error, ErrorKind, Remedy};

/// The votes in a row.
pub(super) struct RowVotes {
    pub counts: Option<[f64; 2]>,
    /// The column of the winner, and its cell.
    pub winner: Option<(String, WinnerCell)>,
}

/// The cell of a winner.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WinnerCell {
    Number(f64),
    Word(String),
}

impl WinnerCell {
    /// Parses a cell; text that is a number counts as a number.
    pub fn of(cell: &Cell<'_>) -> Self {
        match cell {
            Cell::Text(text) | Cell::Untyped(text) => match text.trim().parse() {
                Ok(number) => Self::Number(number),
                Err(_) => Self::Word(text.trim().to_lowercase()),
            },
            other => other.number().map_or_else(|| Self::Word(other.to_string()), Self::Number),
        }
    }

    pub fn shown(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
        }
    }
}

/// The meaning of numbers in a file. Words mean the same in all files: `a`, `first`, `left`; `b`, `second`, `right`;
/// `tie`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// There are no numbers.
    Words,
    /// 1 is the first caption, −1 the second, 0 neither, as in PASCAL-50S.
    Sign,
    /// 0 is the first caption, 1 the second.
    Index,
    /// 1 is the first caption, 2 the second, 0 neither.
    Ordinal,
}

impl Coding {
    /// The coding that is consistent with all numbers of a file, and with the counts of rows that have them.
    ///
    /// If all numbers are 1, they may mean the first or the second caption; counts in the same rows decide.
    pub fn of<'r>(rows: impl Iterator<Item = &'r RowVotes>, name: &str) -> Result<Self, Error> {
        let (mut has, mut any, mut needed) = ([false; 4], false, false);
        let mut agree = [true; 2];
        for (said, counts) in rows.filter_map(|row| Some((&row.winner.as_ref()?.1, row.counts))) {
            let WinnerCell::Number(number) = said else { continue };
            any = true;
            for (has, known) in has.iter_mut().zip([-1.0, 0.0, 1.0, 2.0]) {
                *has |= *number == known;
            }
            needed |= counts.is_none();
            for (agree, coding) in agree.iter_mut().zip([Self::Sign, Self::Index]) {
                *agree &=
                    counts.is_none_or(|counts| coding.votes(said).is_ok_and(|won| is_same(won, counts)));
            }
        }
        let fault = |message: &str| {
            Err(Error::new(ErrorKind::Shape, name, message).with_remedy(Remedy::say("write a, b or tie")))
        };
        match has {
            _ if !any => Ok(Self::Words),
            [true, _, _, false] => Ok(Self::Sign),
            [false, _, _, true] => Ok(Self::Ordinal),
            [true, _, _, true] => {
                fault("winners are both -1 and 2, so the meaning of the numbers is unclear")
            }
            [_, true, _, _] => Ok(Self::Index),
            _ if agree == [true, false] => Ok(Self::Sign),
            _ if agree == [false, true] || !needed => Ok(Self::Index),
            _ => fault("it is unclear which caption the winner 1 means"),
        }
    }

    /// The votes for the first and the second caption.
    pub fn votes(self, said: &WinnerCell) -> Result<[f64; 2], Fault> {
        const FIRST: [f64; 2] = [1.0, 0.0];
        const SECOND: [f64; 2] = [0.0, 1.0];
        const NEITHER: [f64; 2] = [0.5, 0.5];
        let found = match said {
            WinnerCell::Word(word) => match word.as_str() {
                "a" | "first" | "left" => Some(FIRST),
                "b" | "second" | "right" => Some(SECOND),
                "tie" | "draw" | "equal" | "neither" | "both" => Some(NEITHER),
                _ => None,
            },
            WinnerCell::Number(number) => match (self, *number) {
                (Self::Sign | Self::Ordinal, 1.0) | (Self::Index, 0.0) => Some(FIRST),
                (Self::Sign, -1.0) | (Self::Index, 1.0) | (Self::Ordinal, 2.0) => Some(SECOND),
                (Self::Sign | Self::Ordinal, 0.0) => Some(NEITHER),
                _ => None,
            },
        };
        found.ok_or_else(|| {
            Fault::new(format!("'{}' is not a winner", said.shown()))
                .advise("write a, b or tie, or numbers: 0 and 1, 1 and 2, or 1 and -1")
        })
    }
}

/// Returns true if two counts prefer the same caption, or neither.
pub(super) fn is_same(votes: [f64; 2], others: [f64; 2]) -> bool {
    votes[0].total_cmp(&votes[1]) == others[0].total_cmp(&others[1])
}
