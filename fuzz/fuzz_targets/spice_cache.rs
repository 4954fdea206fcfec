//! SPICE's cache of parses: arbitrary bytes, and a valid file with changes and a correct checksum.
#![no_main]

use std::sync::OnceLock;

use capeval_arrays::reseal;
use capeval_spice::{ParseCache, Tuple, testing};
use libfuzzer_sys::fuzz_target;

const NAME: &str = "notes";
const CAPTIONS: [&str; 4] = ["", "a cat on a sofa", "a dog", "two dogs"];

fn good() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let cache = ParseCache::open(None, NAME);
        for caption in &CAPTIONS[..3] {
            let (object, attribute) = ("dog".to_owned(), "red".to_owned());
            cache.keep(caption, &[Tuple::Object(object.clone()), Tuple::Attribute { object, attribute }]);
        }
        written(&cache)
    })
}

fn written(cache: &ParseCache) -> Vec<u8> {
    let mut file = Vec::new();
    cache.write(cache, &mut file).expect("writing to a vector cannot fail");
    file
}

fn use_it(file: &[u8]) {
    let cache = ParseCache::open(Some(testing::mapped(file)), NAME);
    for caption in CAPTIONS {
        cache.keep(caption, &cache.get(caption).unwrap_or_default());
    }
    let again = ParseCache::open(Some(testing::mapped(&written(&cache))), NAME);
    assert!(again.notice().is_none(), "a newly written file is valid");
}

fuzz_target!(|data: &[u8]| {
    use_it(data);
    // Five bytes per change: position and value.
    let mut file = good().to_vec();
    for change in data.chunks_exact(5) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], change[3]]) as usize % file.len();
        file[at] = change[4];
    }
    reseal(&mut file);
    use_it(&file);
});
