//! Draws references for pairs.

use capeval_choice::Code;
use capeval_report::{Notice, Protocol};
use capeval_stats::random::{Purpose, Stream, fingerprint};

use super::pools::JudgedPair;

/// The purpose of the random numbers, which keeps them apart from others with the same seed.
const DRAWS: Purpose = Purpose::Other(50);

/// The references of one draw, in the order of the file.
///
/// The draw depends only on the seed, the image, the two captions (in either order), the number of the draw, and the
/// pool (in any order); if the pool is not larger than the draw, all of it is used.
pub(super) fn of<'j>(pair: &'j JudgedPair, protocol: &Protocol, draw: usize) -> Vec<&'j str> {
    let pool = &pair.pool;
    let n = protocol.references.unwrap_or(pool.len());
    if n >= pool.len() {
        return pool.iter().map(String::as_str).collect();
    }
    let mut by_text: Vec<usize> = (0..pool.len()).collect();
    by_text.sort_by(|a, b| pool[*a].cmp(&pool[*b]));
    let image = pair.image.to_string();
    let [a, b] = &pair.captions;
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    let mut stream = Stream::new(protocol.seed, DRAWS, fingerprint(&[&image, low, high, &draw.to_string()]));
    let drawn = stream.sample(pool.len() as u32, n as u32);
    let mut places: Vec<usize> = drawn.iter().map(|rank| by_text[*rank as usize]).collect();
    places.sort_unstable();
    places.iter().map(|place| pool[*place].as_str()).collect()
}

/// Reduces the number of draws to one if all draws would be equal; returns a notice about pools that are too small.
pub(super) fn settle(judged: &[JudgedPair], protocol: &mut Protocol) -> Option<Notice> {
    let Some(n) = protocol.references else {
        protocol.draws = 1;
        return None;
    };
    let all = judged.iter().filter(|pair| pair.pool.len() <= n).count();
    let short = judged.iter().filter(|pair| pair.pool.len() < n).count();
    if all == judged.len() {
        let message = format!(
            "no pair has more than {n} references, so that there is nothing to draw: all are taken, once"
        );
        protocol.draws = 1;
        return Some(Notice::new(Code::OneDraw, message).count(all));
    }
    (short > 0).then(|| {
        let message = format!(
            "{short} of {} pairs have fewer than {n} references; there, all are taken in every draw",
            judged.len()
        );
        Notice::new(Code::SmallPool, message).count(short)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(pool: &[&str]) -> JudgedPair {
        JudgedPair {
            image: "x.jpg".into(),
            captions: ["a dog".into(), "a cat".into()],
            votes: [1.0, 0.0],
            category: String::new(),
            pool: pool.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    const POOL: [&str; 8] = ["h", "b", "c", "g", "e", "f", "d", "a"];

    #[test]
    fn draws_are_functions_of_the_pair_and_not_of_orders() {
        let protocol = Protocol { references: Some(3), ..Protocol::default() };
        let plain = pair(&POOL);
        let mut turned = pair(&POOL.map(|text| text).into_iter().rev().collect::<Vec<_>>());
        turned.captions.reverse();
        let sorted = |pair, draw| {
            let mut found = of(pair, &protocol, draw);
            found.sort_unstable();
            found.join("")
        };
        let draws: Vec<String> = (0..40).map(|draw| sorted(&plain, draw)).collect();
        assert_eq!(draws, (0..40).map(|draw| sorted(&turned, draw)).collect::<Vec<_>>());
        let different: std::collections::BTreeSet<&String> = draws.iter().collect();
        assert!(different.len() > 20, "56 sets are possible, {different:?} were drawn");
        let other = Protocol { seed: 1, ..protocol };
        assert!((0..40).any(|draw| of(&plain, &other, draw) != of(&plain, &protocol, draw)));
        let in_order = of(&plain, &protocol, 0);
        let places: Vec<usize> =
            in_order.iter().filter_map(|text| POOL.iter().position(|known| known == text)).collect();
        assert!(places.is_sorted(), "references keep the order of the file");
    }

    #[test]
    fn small_pools_are_taken_whole() {
        let mut protocol = Protocol { references: Some(3), ..Protocol::default() };
        assert_eq!(of(&pair(&["b", "a"]), &protocol, 4), ["b", "a"]);
        let notice = settle(&[pair(&["b", "a"]), pair(&POOL)], &mut protocol).unwrap();
        assert_eq!(
            (notice.code.to_string().as_str(), notice.count, protocol.draws),
            ("small-pool", Some(1), 5)
        );
        let notice = settle(&[pair(&["b", "a", "c"])], &mut protocol).unwrap();
        assert_eq!((notice.code.to_string().as_str(), protocol.draws), ("one-draw", 1));
    }
}
