//! Counts document frequencies of references.

use capeval_choice::{Refusal, UnknownName, suggest};
use capeval_corpus::{Captions, Ids};
use capeval_lexical::frequencies::{DocumentFrequencies, MAX_ORDER};
use capeval_metric::Reading;
use capeval_text::{Stemmer, Tokenizer};

use crate::{Error, references};

/// The reading of the references of a table: split by this tokenizer, and stemmed unless `stemmer` is `none`.
pub fn table_reading(tokenizer: &str, stemmer: &str) -> Result<Reading, Error> {
    let tokenizer: Tokenizer = tokenizer.parse().map_err(Refusal::from)?;
    if stemmer == "none" {
        return Ok(Reading::Tokens(tokenizer));
    }
    match stemmer.parse() {
        Ok(stemmer) => Ok(Reading::Stems(tokenizer, stemmer)),
        Err(UnknownName { .. }) => {
            let choices = suggest(stemmer, ["none", Stemmer::English.name()]);
            Err(Error::with_remedy(format!("no stemmer is called '{stemmer}'"), choices))
        }
    }
}

/// Counts the images in which each n-gram of up to `order` words occurs.
///
/// The words are those of `reading`, which must be that of the metrics that will use the table.
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
