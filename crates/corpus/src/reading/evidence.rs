//! Decides from the other side whether lines begin or end with ids, if their own file leaves it in doubt.
//!
//! Names and long numbers that both sides have are ids. Short numbers could be words of captions, as in `2 dogs run`:
//! they are ids if each candidate has one of its own and both sides have the same set. With only a few lines, that may
//! be chance, unless the numbers count the images or occur in another order on the other side.

use std::borrow::Cow;
use std::collections::HashSet;

use super::records::Doubt;
use super::side::Rows;
use super::text::is_telling;

/// With fewer lines, numbers may be equal by chance.
const FEWEST: usize = 5;

/// This share of ids must be telling, or shared where captions are missing.
const NEARLY_ALL: f64 = 0.9;

/// The ids of rows; the numbers of lines count from 0 where all ids of the other side do.
pub(super) fn counted<'r>(rows: &'r Rows, other: &Rows) -> Cow<'r, [String]> {
    let ids = rows.ids.as_slice();
    let is_counted = || ids.iter().zip(1..).all(|(id, number)| *id == number.to_string());
    if !rows.is_whole() || other.is_whole() || !is_counted() {
        return Cow::Borrowed(ids);
    }
    let there: HashSet<&str> = other.ids.iter().map(String::as_str).collect();
    if there.len() == ids.len() && (0..ids.len()).all(|number| there.contains(&*number.to_string())) {
        return Cow::Owned((0..ids.len()).map(|number| number.to_string()).collect());
    }
    Cow::Borrowed(ids)
}

/// Returns true if ids that are in doubt on one side at least are ids, as far as those of both sides say.
pub(super) fn are_ids(ground: &Rows, system: &Rows) -> bool {
    let doubt = [ground.doubt, system.doubt];
    if doubt == [Doubt::None; 2] {
        return true;
    }
    let is_bare = doubt.contains(&Doubt::Bare);
    let (there, here) = (counted(ground, system), counted(system, ground));
    let is_whole = ground.is_whole() || system.is_whole();
    if !is_whole && !doubt.contains(&Doubt::Counted) && share(&here, is_telling) >= NEARLY_ALL {
        return true;
    }
    let (of_ground, of_system): (HashSet<&String>, HashSet<&String>) =
        (there.iter().collect(), here.iter().collect());
    if of_system.len() < here.len() {
        return false;
    }
    let is_same = of_ground == of_system;
    if doubt.contains(&Doubt::Counted) {
        return is_same;
    }
    if here.len() < FEWEST {
        return is_same && (!is_bare || !is_whole && (is_range(&of_system) || !are_in_order(&there, &here)));
    }
    let common = of_ground.intersection(&of_system).count() as f64;
    let is_nearly_same =
        common >= NEARLY_ALL * of_system.len() as f64 && common >= NEARLY_ALL * of_ground.len() as f64;
    is_same || is_nearly_same && !is_whole
}

/// Returns true if lines of both sides begin or end with the same few numbers, which are not taken for ids.
pub(super) fn may_be_ids(ground: &Rows, system: &Rows) -> bool {
    let set = |rows: &Rows| rows.ids.iter().cloned().collect::<HashSet<String>>();
    let is_number = |rows: &Rows| rows.doubt != Doubt::None;
    is_number(ground) && is_number(system) && set(ground) == set(system)
}

/// Returns true if lines of one side seem to have ids, whatever the other side says: each has a name with a digit or a
/// long number of its own, or they have many different numbers.
pub(super) fn seem_ids(rows: &Rows, is_ground: bool) -> bool {
    let distinct: HashSet<&String> = rows.ids.iter().collect();
    let n = rows.ids.len();
    let are_own = distinct.len() == n || is_ground && distinct.len() > 1 && distinct.len() * 2 <= n;
    let is_id = |id: &str| {
        is_telling(id) && id.contains(|c: char| c.is_ascii_digit()) && !id.contains(char::is_whitespace)
    };
    let are_telling = share(&rows.ids, is_id) >= NEARLY_ALL;
    let are_many = n >= FEWEST && distinct.len() == n && share(&rows.ids, is_number) >= NEARLY_ALL;
    n > 1 && are_own && (are_telling || are_many)
}

fn is_number(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

fn share(ids: &[String], is: impl Fn(&str) -> bool) -> f64 {
    ids.iter().filter(|id| is(id)).count() as f64 / ids.len().max(1) as f64
}

/// Returns true for all numbers from 0 or 1 up to how many there are.
fn is_range(ids: &HashSet<&String>) -> bool {
    let has = |number: usize| ids.contains(&number.to_string());
    (0..ids.len()).all(has) || (1..=ids.len()).all(has)
}

/// Returns true if ids come in the same order on both sides, by their first row.
fn are_in_order(there: &[String], here: &[String]) -> bool {
    let mut known = HashSet::new();
    let first: Vec<&String> = there.iter().filter(|id| known.insert(*id)).collect();
    first.into_iter().eq(here)
}
