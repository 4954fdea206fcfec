//! No file of objects or regions makes a reader panic, and what is read can be scored by every form that fits.

use capeval_dense::boxes::{BoxOptions, forms, predictions, references, score};
use capeval_dense::{WordMetric, WordMetrics};
use capeval_evaluate::registry::Resources;

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Two files in one: what is before a line with ---, and what is behind it.
    let (first, second) = text.split_once("\n---\n").unwrap_or((text, text));
    let predicted = predictions(second, "p");
    let (Ok(known), Ok(predicted)) = (references(first, "r"), predicted) else { return };
    if text.len() > 4000 {
        return;
    }
    let metrics = WordMetrics::new(&Resources::default(), &[WordMetric::Bleu]).expect("BLEU needs no data");
    for form in forms(&["all".to_owned()], &known).expect("all is a name") {
        let options = BoxOptions { forms: vec![form], segments: true, intervals: None };
        let _ = score(("r", &known), vec![("s".to_owned(), predicted.clone())], &options, &metrics);
    }
}
