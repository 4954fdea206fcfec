//! Counts document frequencies of references, and refuses tables of other words.

use capeval_choice::{Argument, Remedy, Task, UnknownName, suggest};
use capeval_corpus::{Captions, Ids};
use capeval_lexical::frequencies::{DocumentFrequencies, MAX_ORDER};
use capeval_metric::{AnyMetric, Reading};
use capeval_text::{Stemmer, Tokenizer};

use crate::{Error, references};

/// The reading of the references of a table: split by this tokenizer, and stemmed unless `stemmer` is `none`.
pub fn table_reading(tokenizer: &str, stemmer: &str) -> Result<Reading, Error> {
    let tokenizer: Tokenizer = tokenizer.parse()?;
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

/// The share of the words of references that a table of the same kind of words knows, at least.
const FEWEST: f64 = 0.1;

/// Refuses a table that knows few words of the references, such as one of token ids for texts.
pub(crate) fn refuse_other_words<'t>(
    table: &DocumentFrequencies,
    metrics: &[AnyMetric],
    references: impl Iterator<Item = &'t str>,
) -> Result<(), Error> {
    let is_of_table =
        |metric: &&AnyMetric| metric.signature().get("idf").is_some_and(|idf| idf.starts_with("table"));
    let Some(tokenizer) =
        metrics.iter().find(is_of_table).and_then(|metric| metric.input().reading.tokenizer())
    else {
        return Ok(());
    };
    let (mut n, mut known) = (0_u32, 0_u32);
    for text in references.take(SAMPLE) {
        for word in tokenizer.pieces(text) {
            n += 1;
            known += u32::from(table.find_word(&word).is_some());
        }
    }
    let share = f64::from(known) / f64::from(n.max(1));
    if n < MANY_WORDS || share >= FEWEST {
        return Ok(());
    }
    let example = (0..table.n_words().min(3) as u32).map(|number| format!("{:?}", table.word(number)));
    Err(Error::with_remedy(
        format!(
            "the table of document frequencies knows {:.0}% of the words of the references: it was counted over other \
             words, such as {}",
            share * 100.0,
            example.collect::<Vec<_>>().join(", ")
        ),
        Remedy::run(Task::BuildFrequencies(None))
            .or(Remedy::set(Argument::Idf, "corpus").to("count the references themselves"))
            .or(Remedy::say("give captions and references in the words of the table, such as token ids")),
    ))
}

/// The number of references that are compared with a table.
const SAMPLE: usize = 500;

/// With fewer words, what a table knows says nothing.
const MANY_WORDS: u32 = 10;

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
