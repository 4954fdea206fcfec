//! The order in which a person meets pictures.

/// One in so many assignments is of new pictures, per hundred.
const NEW: u64 = 30;

/// Shuffle numbers are smaller.
pub const SHUFFLE: i64 = 1 << 40;

/// The start of the search for the next picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the newest picture, so that fresh uploads do not wait behind old ones.
    Newest,
    /// Among the pictures with the fewest accepted captions, at this place of their shuffled order.
    Fewest(i64),
}

/// Chooses by a random number.
pub fn start(random: u64) -> Start {
    if random % 100 < NEW {
        return Start::Newest;
    }
    Start::Fewest((random / 100) as i64 % SHUFFLE)
}

/// The place of a new picture or caption in the shuffled order.
pub fn place(random: u64) -> i64 {
    (random >> 8) as i64 % SHUFFLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_ten_begin_with_new_pictures() {
        let mut random = 1_u64;
        let starts: Vec<Start> = (0..10_000)
            .map(|_| {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                start(random >> 11)
            })
            .collect();
        let new = starts.iter().filter(|start| **start == Start::Newest).count();
        assert!((2_850..3_150).contains(&new), "{new}");
        let early =
            starts.iter().filter(|start| matches!(start, Start::Fewest(at) if *at < SHUFFLE / 2)).count();
        assert!((3_300..3_700).contains(&early), "{early}");
        assert!(starts.iter().all(|start| !matches!(start, Start::Fewest(at) if !(0..SHUFFLE).contains(at))));
        assert!((0..SHUFFLE).contains(&place(u64::MAX)) && place(0) == 0);
    }
}
