//! Splits of a release: pictures of one group, such as the screenshots of one game by one person, never part, nor do
//! pictures that look nearly alike.
//!
//! Groups are taken in the order of a hash, and each goes where most pictures are wanting, but the last ones go where
//! there is none yet. A hash alone would leave small collections without a test split. What was released once keeps its
//! split, since a picture that moved from test to train would leak.

use std::collections::HashMap;

use capeval_site::ids;

capeval_choice::named! {
    /// A part of a release.
    pub enum Split ("split") {
        Train = "train", "to train on";
        Val = "val", "to choose settings by";
        Test = "test", "to report results on";
    }
}

/// The bits in which the perceptual hashes of near-twins differ at most.
pub const NEAR: u32 = 6;

/// The bands of a hash: two hashes that differ in at most [`NEAR`] bits have one of them in common.
const BANDS: u32 = NEAR + 1;

/// A picture to be dealt.
#[derive(Clone, Debug)]
pub struct DealtPicture<'a> {
    /// The group that it belongs to.
    pub group: &'a str,
    /// Its perceptual hash, if it has one.
    pub hash: Option<u64>,
    /// The split of an earlier release.
    pub earlier: Option<Split>,
}

/// The percentages of pictures in the splits for validation and test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// For validation.
    pub val: u32,
    pub test: u32,
}

impl Shares {
    /// The number of pictures, of `n`, that are wanted in a split.
    fn wanted(self, split: Split, n: usize) -> f64 {
        let percent = match split {
            Split::Train => 100_u32.saturating_sub(self.val + self.test),
            Split::Val => self.val,
            Split::Test => self.test,
        };
        n as f64 * f64::from(percent) / 100.0
    }

    /// The splits that are empty although pictures are wanted there, or whose size is off by more than a quarter, with
    /// their pictures and how many were wanted. A single picture is never too many or too few.
    pub fn missed(self, counts: &[(Split, usize)]) -> Vec<(Split, usize, usize)> {
        let n = counts.iter().map(|(_, count)| count).sum();
        let mut missed = Vec::new();
        for (split, count) in counts {
            let wanted = self.wanted(*split, n);
            let is_off = (*count as f64 - wanted).abs() > (wanted / 4.0).max(1.0);
            if is_off || wanted > 0.0 && *count == 0 {
                missed.push((*split, *count, (wanted.round() as usize).max(1)));
            }
        }
        missed
    }
}

/// The split of each picture; `seed` is that of the collection.
pub fn deal(pictures: &[DealtPicture<'_>], shares: Shares, seed: &str) -> Vec<Split> {
    let roots = groups(pictures);
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for (picture, root) in roots.iter().enumerate() {
        members.entry(*root).or_default().push(picture);
    }
    // Sorted by the least name of a group within, so that nothing depends on the order of pictures.
    let mut members: Vec<(String, Vec<usize>)> = members
        .into_values()
        .map(|pictures_of| {
            let least = pictures_of.iter().map(|k| pictures[*k].group).min().unwrap_or_default();
            (ids::digest(format!("{seed}\n{least}")), pictures_of)
        })
        .collect();
    members.sort();
    let wanted = |split: Split| (split, shares.wanted(split, pictures.len()));
    let mut wanting = [Split::Test, Split::Val, Split::Train].map(wanted);
    let mut splits = vec![Split::Train; pictures.len()];
    let mut empty: Vec<Split> =
        wanting.iter().filter(|(_, wanted)| *wanted > 0.0).map(|(split, _)| *split).collect();
    let mut groups_left = members.len();
    for is_known in [true, false] {
        for (_, of) in &members {
            // A new near-twin may join groups of different splits; new pictures then go where most is hidden.
            let known = of.iter().filter_map(|k| pictures[*k].earlier).max();
            if known.is_some() != is_known {
                continue;
            }
            let is_open = |split: Split| groups_left > empty.len() || empty.contains(&split);
            let open = wanting.iter().filter(|(split, _)| is_open(*split));
            let most = open.copied().reduce(|most, one| if one.1 > most.1 { one } else { most });
            let split = known.or(most.map(|(split, _)| split)).unwrap_or(Split::Train);
            groups_left -= 1;
            for picture in of {
                splits[*picture] = pictures[*picture].earlier.unwrap_or(split);
                empty.retain(|split| *split != splits[*picture]);
                for (split, left) in &mut wanting {
                    *left -= f64::from(u8::from(*split == splits[*picture]));
                }
            }
        }
    }
    splits
}

/// For each picture, the first picture that it must not be parted from.
fn groups(pictures: &[DealtPicture<'_>]) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..pictures.len()).collect();
    let mut by_group: HashMap<&str, usize> = HashMap::new();
    let mut by_band: HashMap<(u32, u64), Vec<usize>> = HashMap::new();
    for (picture, DealtPicture { group, hash, .. }) in pictures.iter().enumerate() {
        let first = *by_group.entry(*group).or_insert(picture);
        join(&mut parents, first, picture);
        let Some(hash) = hash else { continue };
        for band in 0..BANDS {
            let width = u64::BITS.div_ceil(BANDS);
            let bits = (hash >> (band * width).min(63)) & ((1 << width) - 1);
            let others = by_band.entry((band, bits)).or_default();
            for other in others.iter() {
                let is_near = pictures[*other].hash.is_some_and(|other| (other ^ hash).count_ones() <= NEAR);
                if is_near {
                    join(&mut parents, *other, picture);
                }
            }
            others.push(picture);
        }
    }
    (0..pictures.len()).map(|picture| root(&mut parents, picture)).collect()
}

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

fn join(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b)] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTHS: Shares = Shares { val: 10, test: 10 };

    fn dealt(group: &str, hash: u64) -> DealtPicture<'_> {
        DealtPicture { group, hash: Some(hash), earlier: None }
    }

    /// Hashes that are far from each other.
    fn far(k: u64) -> u64 {
        k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn groups_and_near_twins_are_not_parted() {
        let names: Vec<String> = (0..60).map(|k| format!("group {}", k / 3)).collect();
        let mut pictures: Vec<DealtPicture<'_>> =
            names.iter().enumerate().map(|(k, name)| dealt(name, far(k as u64))).collect();
        // Near-twins of pictures of all groups, by other people.
        let others: Vec<String> = (0..20).map(|k| format!("other {k}")).collect();
        for (k, name) in others.iter().enumerate() {
            let twin = far(3 * k as u64) ^ (0b10_1001 << k) ^ (1 << 63);
            pictures.push(dealt(name, twin));
        }
        let splits = deal(&pictures, TENTHS, "seed");
        for k in 0..20 {
            let of = [splits[3 * k], splits[3 * k + 1], splits[3 * k + 2], splits[60 + k]];
            assert!(of.iter().all(|split| *split == of[0]), "{k}: {of:?}");
        }
        let n = |split| splits.iter().filter(|one| **one == split).count();
        assert_eq!((n(Split::Train), n(Split::Val), n(Split::Test)), (64, 8, 8));
    }

    #[test]
    fn a_split_does_not_depend_on_the_order_of_pictures_and_stays_when_more_come() {
        let names: Vec<String> = (0..40).map(|k| format!("group {k}")).collect();
        let pictures: Vec<DealtPicture<'_>> =
            names.iter().enumerate().map(|(k, name)| dealt(name, far(k as u64))).collect();
        let first = deal(&pictures[..20], TENTHS, "seed");
        let mut backwards: Vec<DealtPicture<'_>> = pictures[..20].to_vec();
        backwards.reverse();
        let mut turned = deal(&backwards, TENTHS, "seed");
        turned.reverse();
        assert_eq!(first, turned);
        let mut more = pictures.clone();
        for (picture, split) in more.iter_mut().zip(&first) {
            picture.earlier = Some(*split);
        }
        // A new picture that looks like one of an old group goes with it.
        let test = first.iter().position(|split| *split == Split::Test).unwrap();
        more[20].hash = Some(far(test as u64) ^ 1);
        let second = deal(&more, TENTHS, "seed");
        assert_eq!(second[..20], first[..]);
        assert_eq!(second[20], Split::Test);
        assert_ne!(first, deal(&pictures[..20], TENTHS, "another seed"));
    }

    #[test]
    fn splits_that_are_empty_or_far_from_what_was_asked_are_told() {
        let missed = |train, val, test| {
            let counts = [(Split::Train, train), (Split::Val, val), (Split::Test, test)];
            TENTHS.missed(&counts)
        };
        assert_eq!(missed(80, 10, 10), []);
        assert_eq!(missed(79, 12, 9), []);
        assert_eq!(missed(74, 16, 10), [(Split::Val, 16, 10)]);
        assert_eq!(missed(3, 1, 0), [(Split::Test, 0, 1)]);
        assert_eq!(missed(5, 0, 0), [(Split::Val, 0, 1), (Split::Test, 0, 1)]);
        assert_eq!(missed(0, 0, 0), []);
        assert_eq!(missed(3, 7, 10), [(Split::Train, 3, 16), (Split::Val, 7, 2), (Split::Test, 10, 2)]);
        assert_eq!(Shares { val: 0, test: 0 }.missed(&[(Split::Train, 4), (Split::Test, 0)]), []);
    }

    #[test]
    fn three_groups_are_enough_for_three_splits() {
        let pictures = [dealt("a", far(1)), dealt("b", far(2)), dealt("c", far(3))];
        let mut splits = deal(&pictures, Shares { val: 33, test: 33 }, "seed");
        splits.sort();
        assert_eq!(splits, [Split::Train, Split::Val, Split::Test]);
        assert_eq!(deal(&pictures, Shares { val: 0, test: 0 }, "seed"), [Split::Train; 3]);
        assert!(deal(&[], TENTHS, "seed").is_empty());
        // Whatever the order of the groups.
        let pictures = ["a", "b", "c", "c", "c", "d", "d", "d"].map(|group| DealtPicture {
            group,
            hash: None,
            earlier: None,
        });
        for seed in 0..100 {
            let splits = deal(&pictures, Shares { val: 20, test: 20 }, &seed.to_string());
            assert!(Split::ALL.iter().all(|split| splits.contains(split)), "{seed}: {splits:?}");
        }
    }
}
