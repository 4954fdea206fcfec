//! Letters for items of which some differ significantly: two items share a letter if and only if they do not differ.

/// More groups than this have no letters.
const MAX_GROUPS: usize = 52;

/// The letters of each item, where `best_first` are the numbers of all items in order, and pairs of items `differ`.
/// There are none if there would be too many.
pub fn letters(best_first: &[usize], differ: impl IntoIterator<Item = (usize, usize)>) -> Vec<String> {
    let mut place = vec![0; best_first.len()];
    best_first.iter().enumerate().for_each(|(k, item)| place[*item] = k);
    let differ = differ.into_iter().map(|(a, b)| (place[a], place[b]));
    let mut letters = vec![String::new(); best_first.len()];
    let groups = alike(best_first.len(), differ).unwrap_or_default();
    for (letter, group) in ('a'..='z').chain('A'..='Z').zip(groups) {
        group.into_iter().for_each(|k| letters[best_first[k]].push(letter));
    }
    letters
}

/// The largest groups of `n` items of which no two `differ`, in order; `None` if there are too many.
///
/// Each pair that differs splits the groups that hold both, and groups within others are dropped (Piepho, *An Algorithm
/// for a Letter-Based Representation of All-Pairwise Comparisons*, 2004).
fn alike(n: usize, differ: impl Iterator<Item = (usize, usize)>) -> Option<Vec<Vec<usize>>> {
    let mut groups: Vec<Vec<usize>> = vec![(0..n).collect()];
    for (a, b) in differ {
        let (both, mut kept): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.contains(&a) && group.contains(&b));
        let without = |group: &[usize], one: usize| group.iter().copied().filter(|k| *k != one).collect();
        let mut split: Vec<Vec<usize>> =
            both.iter().flat_map(|group| [without(group, a), without(group, b)]).collect();
        split.sort_by_key(|group| std::cmp::Reverse(group.len()));
        for group in split {
            if !kept.iter().any(|known| group.iter().all(|k| known.contains(k))) {
                kept.push(group);
            }
        }
        if kept.len() > MAX_GROUPS {
            return None;
        }
        groups = kept;
    }
    groups.sort_unstable();
    Some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(n: usize, differ: &[(usize, usize)]) -> Vec<Vec<usize>> {
        alike(n, differ.iter().copied()).unwrap()
    }

    #[test]
    fn items_that_do_not_differ_share_a_group_and_others_share_none() {
        assert_eq!(groups(3, &[]), [[0, 1, 2]]);
        assert_eq!(groups(3, &[(0, 2)]), [[0, 1], [1, 2]]);
        assert_eq!(groups(3, &[(0, 1), (2, 0)]), [vec![0], vec![1, 2]]);
        // The outer two are alike, and the one between them differs from the first.
        assert_eq!(groups(3, &[(0, 1)]), [[0, 2], [1, 2]]);
        assert_eq!(groups(4, &[(0, 2), (0, 3), (1, 3)]), [[0, 1], [1, 2], [2, 3]]);
    }

    #[test]
    fn every_pair_is_in_one_group_if_and_only_if_it_is_alike() {
        for drawn in 0..1_u32 << 10 {
            let pairs: Vec<(usize, usize)> = (0..5).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
            let differ: Vec<_> =
                pairs.iter().enumerate().filter(|(k, _)| drawn >> k & 1 == 1).map(|(_, p)| *p).collect();
            let groups = groups(5, &differ);
            for (a, b) in pairs {
                let are_together = groups.iter().any(|group| group.contains(&a) && group.contains(&b));
                assert_eq!(are_together, !differ.contains(&(a, b)), "{differ:?}: {groups:?}");
            }
        }
    }

    #[test]
    fn the_best_items_have_the_first_letters() {
        assert_eq!(letters(&[2, 0, 1], [(1, 2)]), ["ab", "b", "a"]);
        assert_eq!(letters(&[], []), [""; 0]);
    }

    #[test]
    fn too_many_groups_are_given_up() {
        let matching = |n: usize| alike(2 * n, (0..n).map(|k| (2 * k, 2 * k + 1)));
        assert_eq!(matching(5).map(|groups| groups.len()), Some(32));
        assert_eq!(matching(40), None);
    }
}
