//! The rules by which a caption is accepted: by the grades that others gave it.

use capeval_site::web::language::say;

/// A grade of a caption, from 1, unrelated, to 4, without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grade(i64);

capeval_choice::named! {
    /// The errors in a caption that raters can mark.
    pub enum Mistake ("kind of error") {
        Object = "object", "Something is not there or is something else";
        Attribute = "attribute", "A colour or another property is wrong";
        Count = "count", "A number is wrong";
        Relation = "relation", "A place or a relation is wrong";
        Action = "action", "An action is wrong";
        Missing = "missing", "Something important is missing";
        Language = "language", "There are language errors";
    }
}

/// The grades with their meaning, best first.
pub const GRADES: [(i64, &str); 4] = [
    (4, say("Describes the picture without errors")),
    (3, say("Describes it with minor errors")),
    (2, say("Is somewhat related to the picture")),
    (1, say("Is unrelated to the picture")),
];

/// The median from which a caption is accepted.
const GOOD: f64 = 3.0;

/// Grades that differ by as much ask for another rating.
const SPREAD: i64 = 2;

/// The ratings that decide, if they agree.
pub const RATINGS: usize = 2;

impl Grade {
    /// The grade that has nothing to do with the picture.
    pub const UNRELATED: Self = Self(1);

    /// A grade of 1 to 4.
    pub fn new(grade: i64) -> Option<Self> {
        (1..=4).contains(&grade).then_some(Self(grade))
    }

    pub fn number(self) -> i64 {
        self.0
    }
}

/// The verdict of the ratings of a caption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More ratings are needed: as many as this in all.
    Waits(usize),
    Accepted,
    /// It is rejected, and its place is free again.
    Rejected,
    /// The ratings disagree so much that a moderator decides.
    Split,
}

/// Decides by the ratings of others whose ratings count.
///
/// Two ratings accept a caption if their median is at least 3. If they differ by 2 or more, a third decides, unless it
/// is just between them. Two "unrelated" reject it whatever else it got.
pub fn decide(grades: &[Grade]) -> Verdict {
    let mut sorted: Vec<i64> = grades.iter().map(|grade| grade.0).collect();
    sorted.sort_unstable();
    if sorted.iter().filter(|grade| **grade == Grade::UNRELATED.0).count() >= 2 {
        return Verdict::Rejected;
    }
    let good = |median: f64| if median >= GOOD { Verdict::Accepted } else { Verdict::Rejected };
    match sorted[..] {
        [] | [_] => Verdict::Waits(RATINGS),
        [low, high] if high - low >= SPREAD => Verdict::Waits(RATINGS + 1),
        [low, high] => good((low + high) as f64 / 2.0),
        [low, middle, high] if high - low >= SPREAD && middle - low == high - middle => Verdict::Split,
        _ => {
            let middle = sorted.len() / 2;
            match sorted.len() % 2 {
                0 => good((sorted[middle - 1] + sorted[middle]) as f64 / 2.0),
                _ => good(sorted[middle] as f64),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_decide_a_third_settles_and_moderators_have_the_last_word() {
        use Verdict::{Accepted, Rejected, Split, Waits};
        for (grades, verdict) in [
            (&[][..], Waits(2)),
            (&[4], Waits(2)),
            (&[1], Waits(2)),
            (&[4, 4], Accepted),
            (&[3, 3], Accepted),
            (&[4, 3], Accepted),
            (&[3, 2], Rejected),
            (&[2, 2], Rejected),
            (&[2, 1], Rejected),
            (&[1, 1], Rejected),
            (&[4, 2], Waits(3)),
            (&[3, 1], Waits(3)),
            (&[1, 4], Waits(3)),
            (&[4, 2, 4], Accepted),
            (&[4, 2, 2], Rejected),
            (&[2, 4, 3], Split),
            (&[3, 1, 2], Split),
            (&[1, 4, 4], Accepted),
            (&[1, 4, 3], Accepted),
            (&[1, 4, 2], Rejected),
            (&[4, 1, 1], Rejected),
            (&[4, 4, 1, 1], Rejected),
            (&[4, 4, 4, 1], Accepted),
        ] {
            let grades: Vec<Grade> = grades.iter().map(|grade| Grade::new(*grade).unwrap()).collect();
            assert_eq!(decide(&grades), verdict, "{grades:?}");
        }
        assert!(Grade::new(0).is_none() && Grade::new(5).is_none());
    }
}
