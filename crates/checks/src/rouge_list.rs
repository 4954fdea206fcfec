//! Readers of ROUGE-1.5.5's evaluation lists do not panic on any bytes, whatever the listed files contain.

use capeval_corpus::rouge_xml::{Evaluations, TextForm, read_plain, read_xml};

fn check_list(list: &Evaluations, bytes: &[u8]) {
    let systems = list.systems().len();
    let texts = list.load(|_| Ok(bytes)).expect("reading from memory cannot fail");
    assert_eq!(texts.len(), list.0.len());
    assert!(texts.iter().all(|texts| texts.candidates.is_empty() || systems > 0));
    for (texts, evaluation) in texts.iter().zip(&list.0) {
        assert_eq!(texts.references.len(), evaluation.models.len());
    }
}

pub fn check(bytes: &[u8]) {
    if let Ok(list) = read_xml(bytes, "list") {
        check_list(&list, bytes);
    }
    for form in [TextForm::Lines, TextForm::See, TextForm::Isi] {
        if let Ok(list) = read_plain(bytes, "list", "system", form) {
            assert!(list.0.iter().all(|evaluation| !evaluation.models.is_empty()));
        }
        assert!(!form.text(bytes).contains("\n\n"));
    }
}
