//! The order in which the reference program's tokenizer reads captions.
//!
//! Stanford's tokenizer reads all captions as one text. Whether a single letter keeps its dot at the end of a caption
//! depends on how the next caption begins (5 of 202,654 captions of COCO val2014). `ptb` therefore reads the
//! references, and each system's captions, in the order of pycocoevalcap: that of COCO's list `images`, of a
//! dictionary's keys, or else of the references.
//!
//! The lexer notes the captions at whose end it read on; only these are open. If a system describes a subset, open
//! references with another successor are read again, and their n-grams are counted again only if their tokens change,
//! so prepared references serve any subset. Where the order is unknown (rewards, rows of Arrow tables), `ptb-each`
//! replaces `ptb`: it looks at the next reference of the image, and otherwise assumes that a new sentence follows, so
//! no score depends on its batch.

use std::iter;

use capeval_metric::Reading;
use capeval_text::{Ends, Texts, Tokenizer};

/// Texts in the order of the file that the reference program's tokenizer reads. The texts of one image are consecutive.
pub(crate) struct Sequence<'a> {
    groups: Groups<'a>,
    /// The groups in order, and the place of each of them, unless they follow each other as they are numbered.
    arranged: Option<(Vec<u32>, Vec<u32>)>,
}

/// The groups to which texts belong.
enum Groups<'a> {
    /// The end of each image's texts.
    Images(Ends<'a>, usize),
    /// One text for each of so many images.
    Single(usize),
}

impl<'a> Sequence<'a> {
    /// The texts of all images, which end at `ends`, in `order`, or as they are numbered if that is empty.
    pub fn new(order: &[u32], ends: &'a [u64]) -> Self {
        let arranged = (!order.is_empty()).then(|| arrange(order.iter().copied(), ends.len()));
        Self { groups: Groups::Images(Ends(ends), ends.len()), arranged }
    }

    /// The texts of `images` only, which ascend.
    pub fn of_images(order: &[u32], ends: &'a [u64], images: &[u32]) -> Self {
        let arranged = match order {
            [] => arrange(images.iter().copied(), ends.len()),
            order => {
                let taken = order.iter().copied().filter(|image| images.binary_search(image).is_ok());
                arrange(taken, ends.len())
            }
        };
        Self { groups: Groups::Images(Ends(ends), ends.len()), arranged: Some(arranged) }
    }

    /// Texts of which each one describes one of `images`, which ascend.
    pub fn of_candidates(order: &[u32], images: &[u32]) -> Self {
        let places = order.iter().filter_map(|image| images.binary_search(image).ok());
        let arranged = (!order.is_empty()).then(|| arrange(places.map(|place| place as u32), images.len()));
        Self { groups: Groups::Single(images.len()), arranged }
    }

    /// Texts of which each one describes one of `images`, and only those at `places` are read; both ascend.
    pub fn of_some_candidates(order: &[u32], images: &[u32], places: &[usize]) -> Self {
        let place = |image: &u32| images.binary_search(image).ok();
        let is_read = |place: &usize| places.binary_search(place).is_ok();
        let arranged = match order {
            [] => arrange(places.iter().map(|place| *place as u32), images.len()),
            order => {
                let read = order.iter().filter_map(place).filter(is_read);
                arrange(read.map(|place| place as u32), images.len())
            }
        };
        Self { groups: Groups::Single(images.len()), arranged: Some(arranged) }
    }

    /// `n` texts, each of an image of its own.
    pub fn single(n: usize) -> Self {
        Self { groups: Groups::Single(n), arranged: None }
    }

    fn n_groups(&self) -> usize {
        match self.groups {
            Groups::Images(_, n) | Groups::Single(n) => n,
        }
    }

    fn group_of(&self, k: usize) -> usize {
        match self.groups {
            Groups::Images(Ends(ends), _) => ends.partition_point(|end| *end <= k as u64),
            Groups::Single(_) => k,
        }
    }

    fn range(&self, group: usize) -> std::ops::Range<usize> {
        match self.groups {
            Groups::Images(ends, _) => ends.range(group),
            Groups::Single(_) => group..group + 1,
        }
    }

    /// The texts that the tokenizer of `reading` reads after text `k`, nearest first.
    pub fn after(&self, reading: Reading, k: usize) -> Box<dyn Iterator<Item = usize> + '_> {
        let group = self.group_of(k);
        let own = k + 1..self.range(group).end;
        if !reads_on(reading) {
            return Box::new(own);
        }
        match &self.arranged {
            None => Box::new(k + 1..self.range(self.n_groups() - 1).end),
            Some((order, places)) => {
                let later = &order[places[group] as usize + 1..];
                Box::new(own.chain(later.iter().flat_map(|group| self.range(*group as usize))))
            }
        }
    }

    /// The texts after text `k` at which a tokenizer may look: to the first that is not blank.
    pub fn seen_after(&self, reading: Reading, k: usize, texts: &Texts) -> Vec<usize> {
        let mut after = self.after(reading, k);
        let mut is_blank = true;
        let next = || {
            let next = after.next().filter(|_| is_blank)?;
            is_blank = texts.get(next).trim().is_empty();
            Some(next)
        };
        iter::from_fn(next).collect()
    }
}

/// Returns true if the tokenizer of `reading` reads all images as one text.
pub(crate) fn reads_on(reading: Reading) -> bool {
    reading.tokenizer() == Some(Tokenizer::Ptb)
}

/// Groups in `order`, and the place there of each of all `n` groups.
fn arrange(order: impl Iterator<Item = u32>, n: usize) -> (Vec<u32>, Vec<u32>) {
    let order: Vec<u32> = order.collect();
    let mut places = vec![0; n];
    for (place, group) in (0..).zip(&order) {
        places[*group as usize] = place;
    }
    (order, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTB: Reading = Reading::Tokens(Tokenizer::Ptb);

    fn after(sequence: &Sequence<'_>, k: usize) -> Vec<usize> {
        sequence.after(PTB, k).collect()
    }

    #[test]
    fn texts_follow_in_the_order_of_images() {
        let ends = [2, 3, 3, 5];
        let numbered = Sequence::new(&[], &ends);
        assert_eq!([after(&numbered, 1), after(&numbered, 4)], [vec![2, 3, 4], vec![]]);
        let ordered = Sequence::new(&[3, 0, 2, 1], &ends);
        assert_eq!([after(&ordered, 3), after(&ordered, 2)], [vec![4, 0, 1, 2], vec![]]);
        let some = Sequence::of_images(&[3, 0, 2, 1], &ends, &[0, 3]);
        assert_eq!([after(&some, 4), after(&some, 0)], [vec![0, 1], vec![1]]);
        let candidates = Sequence::of_candidates(&[3, 0, 2, 1], &[0, 1, 3]);
        assert_eq!(
            [after(&candidates, 2), after(&candidates, 0), after(&candidates, 1)],
            [vec![0, 1], vec![1], vec![]]
        );
        let some = |order| Sequence::of_some_candidates(order, &[0, 1, 3], &[0, 2]);
        assert_eq!([after(&some(&[]), 0), after(&some(&[]), 2)], [vec![2], vec![]]);
        assert_eq!([after(&some(&[3, 0, 2, 1]), 0), after(&some(&[3, 0, 2, 1]), 2)], [vec![], vec![0]]);
    }

    #[test]
    fn image_by_image_only_the_texts_of_an_image_follow() {
        let sequence = Sequence::new(&[1, 0], &[2, 4]);
        let each = Reading::Tokens(Tokenizer::PtbEach);
        assert_eq!(sequence.after(each, 0).collect::<Vec<_>>(), [1]);
        assert_eq!(sequence.after(each, 3).count(), 0);
        assert_eq!(Sequence::single(3).after(each, 0).count(), 0);
    }

    #[test]
    fn a_look_ahead_ends_at_the_first_text_that_is_not_blank() {
        let texts: Texts = ["a", "", " ", "b", "c"].into_iter().collect();
        let sequence = Sequence::new(&[], &[1, 2, 3, 4, 5]);
        assert_eq!(sequence.seen_after(PTB, 0, &texts), [1, 2, 3]);
        assert_eq!(sequence.seen_after(PTB, 4, &texts), [] as [usize; 0]);
    }
}
