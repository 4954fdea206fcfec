//! Lists of lists in two flat arrays, which can be used from a mapped file as they are.

use bytemuck::Pod;
use capeval_arrays::{Buffer, Error, Reader, Writer};

/// Lists that are numbered from 0. A list of bytes is a string.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    /// The start of each list, and the end of the last one.
    starts: Buffer<u32>,
    items: Buffer<T>,
}

impl<T: Pod> Lists<T> {
    pub(crate) fn new<L: IntoIterator<Item = T>>(lists: impl IntoIterator<Item = L>) -> Self {
        let (mut starts, mut items) = (vec![0], Vec::new());
        for list in lists {
            items.extend(list);
            starts.push(items.len() as u32);
        }
        Self { starts: starts.into(), items: items.into() }
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.owned(&self.starts);
        out.owned(&self.items);
    }

    /// Takes the next two arrays of a file.
    pub(crate) fn open(reader: &mut Reader) -> Result<Self, Error> {
        let lists = Self { starts: reader.array()?, items: reader.array()? };
        let starts = &*lists.starts;
        let is_sound = starts.first() == Some(&0)
            && starts.is_sorted()
            && starts.last().is_some_and(|end| *end as usize == lists.items.len());
        if is_sound { Ok(lists) } else { Err(reader.unsound()) }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// One list; empty if there is none with this number.
    pub(crate) fn list(&self, number: usize) -> &[T] {
        self.view().list(number)
    }

    pub(crate) fn view(&self) -> View<'_, T> {
        View { starts: &self.starts, items: &self.items }
    }
}

impl Lists<u8> {
    /// The number of a string, if the strings are in ascending order.
    pub(crate) fn find(&self, string: &str) -> Option<usize> {
        let strings = self.view();
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match strings.list(middle).cmp(string.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(crate) fn string(&self, number: usize) -> &str {
        std::str::from_utf8(self.list(number)).unwrap_or_default()
    }
}

/// The two arrays as slices, for inner loops.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, T> {
    starts: &'a [u32],
    items: &'a [T],
}

impl<'a, T> View<'a, T> {
    /// The number of items in all lists.
    pub(crate) fn items(self) -> usize {
        self.items.len()
    }

    pub(crate) fn list(self, number: usize) -> &'a [T] {
        let bounds = self.starts.get(number).zip(self.starts.get(number + 1));
        let range = bounds.map(|(start, end)| *start as usize..*end as usize);
        range.and_then(|range| self.items.get(range)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_by_halving() {
        let words = ["", "a", "an", "dog", "zebra"];
        let lists = Lists::new(words.map(str::bytes));
        for (number, word) in words.iter().enumerate() {
            assert_eq!((lists.find(word), lists.string(number)), (Some(number), *word));
        }
        assert_eq!((lists.len(), lists.find("cat"), lists.list(9)), (5, None, &[][..]));
    }
}
