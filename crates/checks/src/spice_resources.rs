//! SPICE's resources: arbitrary bytes as a compiled file, as a Java object stream and as a packed grammar, and a valid
//! file with changes and correct checksums.

use std::io::Write;
use std::sync::LazyLock;

use capeval_arrays::reseal;
use capeval_spice::{CaptionReader, Compiler, Grammar, testing};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::changed;

fn use_it(file: &[u8]) {
    let Ok(grammar) = Grammar::open(testing::mapped(file)) else { return };
    let _ = (grammar.notice(), grammar.fingerprint());
    CaptionReader::new(&grammar).tuples("a red dog sits on a sofa, and cats run");
}

fn compile(packed: &[u8]) {
    let Ok(compiler) = Compiler::grammar(packed) else { return };
    let mut file = Vec::new();
    if compiler.write(&mut file).is_ok() {
        Grammar::open(testing::mapped(&file)).expect("a newly compiled file is valid");
    }
}

pub fn check(data: &[u8]) {
    use_it(data);
    // A seed, and five bytes per change: position and value.
    if let Some((seed, changes)) = data.split_first() {
        static GOOD: LazyLock<[Vec<u8>; 8]> =
            LazyLock::new(|| std::array::from_fn(|n| testing::compiled(n as u64)));
        let mut file = changed(&GOOD[usize::from(*seed % 8)], changes);
        reseal(&mut file);
        use_it(&file);
    }
    compile(data);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&[0xAC, 0xED, 0, 5]).expect("writing to a vector cannot fail");
    packed.write_all(data).expect("writing to a vector cannot fail");
    compile(&packed.finish().expect("writing to a vector cannot fail"));
}
