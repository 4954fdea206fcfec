//! Tables of document frequencies, from references.

use capeval_corpus::{Captions, Ids};
use capeval_lexical::frequencies::{DocumentFrequencies, MAX_ORDER};
use capeval_metric::Reading;

use crate::{Error, references};

/// In how many images each n-gram of up to `order` words occurs.
///
/// The words are those of `reading`, which must be that of the metrics that will use the table.
///
/// # Errors
/// When there is no caption at all, or `order` is not 1 to 9.
pub fn document_frequencies(
    references: Captions,
    ids: Ids,
    reading: Reading,
    order: usize,
) -> Result<DocumentFrequencies, Error> {
    if !(1..=MAX_ORDER).contains(&order) {
        let message = format!("n-grams of {order} words cannot be counted");
        return Err(Error::with_remedy(message, format!("give a number from 1 to {MAX_ORDER}")));
    }
    let (_, mut set) = references::whole(references, ids)?;
    Ok(set.document_frequencies(reading, order)?)
}
