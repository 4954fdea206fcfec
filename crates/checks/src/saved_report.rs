//! Saved results: arbitrary bytes, and what was read is written and read again, with nothing lost.

use capeval_report::{KINDS, Study, read, save};

fn written(study: &dyn Study) -> Vec<u8> {
    let mut written = Vec::new();
    save(study, &mut written).expect("writing to a vector cannot fail");
    written
}

pub fn check(data: &[u8]) {
    let Ok(study) = read(data, KINDS) else { return };
    let first = written(&*study);
    let again = read(&first, KINDS).expect("the written file can be read");
    assert_eq!(written(&*again), first);
}
