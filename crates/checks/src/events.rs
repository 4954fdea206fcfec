//! No file of events makes a reader panic; what is read can be scored by every form, and written and read again.

use capeval_dense::read::{ReadOptions, read, read_references, read_results};
use capeval_dense::write::{EventFormat, write};
use capeval_dense::{DenseOptions, Form, WordMetric, WordMetrics, score};
use capeval_evaluate::registry::Resources;

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let options = ReadOptions { fps: Some(25.0), takes_texts: true, ..ReadOptions::default() };
    let _ = (read_references(text, "f", &options), read_results(text, "f", &options));
    let Ok(file) = read(text, "f", &ReadOptions::default()) else { return };
    if let Ok((lines, None)) = write(&file, EventFormat::Lines)
        && !lines.is_empty()
    {
        let again = read(&lines, "again", &ReadOptions::default()).expect("the written file can be read");
        let n = |file: &capeval_dense::EventFile| file.videos.values().map(Vec::len).sum::<usize>();
        assert_eq!(n(&again), n(&file));
    }
    let n_events: usize = file.videos.values().map(Vec::len).sum();
    if n_events <= 40 {
        let metrics = WordMetrics::new(&Resources::default(), &[WordMetric::Bleu, WordMetric::Cider])
            .expect("these need no data");
        let _ = score(
            std::slice::from_ref(&file),
            vec![("s".to_owned(), file.clone())],
            &DenseOptions::new(Form::all().collect()),
            &metrics,
        );
    }
}
