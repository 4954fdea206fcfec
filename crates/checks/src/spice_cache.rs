//! SPICE's cache of parses: arbitrary bytes, and a valid file with changes and a correct checksum.

use std::sync::OnceLock;

use capeval_arrays::reseal;
use capeval_spice::{ParseCache, Tuple, testing};

use crate::changed;

const NAME: &str = "notes";
const CAPTIONS: [&str; 4] = ["", "a cat on a sofa", "a dog", "two dogs"];

fn good() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let cache = ParseCache::open(None, NAME);
        for caption in &CAPTIONS[..3] {
            let (object, attribute) = ("dog", "red");
            cache.keep(caption, &[Tuple::Object(object), Tuple::Attribute { object, attribute }]);
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

pub fn check(data: &[u8]) {
    use_it(data);
    let mut file = changed(good(), data);
    reseal(&mut file);
    use_it(&file);
}
