//! SPICE's resources: arbitrary bytes as a compiled file, as a Java object stream and as a packed grammar, and a valid
//! file with changes and correct checksums.
#![no_main]

use std::io::Write;
use std::sync::Arc;

use capeval_arrays::reseal;
use capeval_spice::{CaptionReader, Compiler, Grammar, testing};
use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

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

fuzz_target!(|data: &[u8]| {
    use_it(data);
    // A seed, and five bytes per change: position and value.
    if let Some((seed, changes)) = data.split_first() {
        let mut file = testing::compiled(u64::from(*seed % 8));
        for change in changes.chunks_exact(5) {
            let at = u32::from_le_bytes([change[0], change[1], change[2], change[3]]) as usize % file.len();
            file[at] = change[4];
        }
        reseal(&mut file);
        use_it(&file);
    }
    compile(data);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&[0xAC, 0xED, 0, 5]).expect("writing to a vector cannot fail");
    packed.write_all(data).expect("writing to a vector cannot fail");
    compile(&packed.finish().expect("writing to a vector cannot fail"));
});
