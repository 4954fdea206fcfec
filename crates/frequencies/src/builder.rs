//! From the references of images to a table, the plain way.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::{Counts, DocumentFrequencies, Error, MAX_ORDER, Repeats};

/// Counts, image by image, the distinct n-grams of the references: the definition in code.
///
/// Written to be obviously right, not fast; the engine counts large corpora by its own means and hands
/// the counts to [`Counts`].
#[derive(Clone, Debug)]
pub struct Builder {
    order: usize,
    n_images: u64,
    frequencies: BTreeMap<Vec<String>, u32>,
}

impl Default for Builder {
    /// Counts n-grams of one to four words, as CIDEr does.
    fn default() -> Self {
        Self { order: 4, n_images: 0, frequencies: BTreeMap::new() }
    }
}

impl Builder {
    /// Counts n-grams of one to `order` words; `None` unless that is 1 to [`MAX_ORDER`].
    #[must_use]
    pub fn new(order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then(|| Self { order, ..Self::default() })
    }

    /// Adds one image with its references, each a slice of words.
    pub fn add_image<'r, W: AsRef<str> + 'r>(&mut self, references: impl IntoIterator<Item = &'r [W]>) {
        let mut distinct = BTreeSet::new();
        for reference in references {
            for n in 1..=self.order {
                for ngram in reference.windows(n) {
                    distinct.insert(ngram.iter().map(|word| word.as_ref().to_owned()).collect::<Vec<_>>());
                }
            }
        }
        for ngram in distinct {
            *self.frequencies.entry(ngram).or_default() += 1;
        }
        self.n_images += 1;
    }

    /// The table of the images so far.
    ///
    /// # Errors
    /// When the words or n-grams are more than 32 bits can number.
    pub fn finish(&self) -> Result<DocumentFrequencies, Error> {
        let mut counts = Counts::default();
        let mut words = Vec::new();
        for (ngram, frequency) in &self.frequencies {
            words.clear();
            for word in ngram {
                words.push(counts.word(word)?);
            }
            counts.push(&words, *frequency)?;
        }
        counts.into_table(self.n_images, self.order, Repeats::Add)
    }
}
