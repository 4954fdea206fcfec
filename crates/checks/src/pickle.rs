//! No pickle makes the reader panic, and every accepted table survives being written as a pickle and read
//! back.

use capeval_lexical::frequencies::pickle;

pub fn check(bytes: &[u8]) {
    let _ = pickle::read(bytes, None);
    if let Ok(table) = pickle::read(bytes, Some(1 << 40)) {
        let mut written = Vec::new();
        table.write_pickle(&mut written).expect("writing to a vector cannot fail");
        let back = pickle::read(&written, None).expect("the writer's pickles can be read");
        assert!(back.iter().eq(table.iter()));
    }
}
