//! The ARPA reader accepts or rejects any bytes without panicking; every accepted model can score text and
//! survives being written.

use capeval_lexical::fluency::NgramModel;

fn written(model: &NgramModel) -> Vec<u8> {
    let mut written = Vec::new();
    model.write_arpa(&mut written).expect("writing to memory cannot fail");
    written
}

pub fn check(bytes: &[u8]) {
    let Ok(model) = NgramModel::read_arpa(bytes) else { return };
    let mut context = model.start();
    for word in ["a", "b", "a", "<unk>"].map(|word| model.word(word)).into_iter().chain([model.end()]) {
        let log10 = model.log10(&mut context, word);
        assert!(!log10.is_nan());
    }
    let first = written(&model);
    let again = NgramModel::read_arpa(&first[..]).expect("the written file can be read");
    assert_eq!(written(&again), first);
}
