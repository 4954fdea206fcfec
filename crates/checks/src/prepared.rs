//! Prepared references: arbitrary bytes, and a valid file with changes and a correct checksum.

use std::sync::{Arc, OnceLock};

use capeval_evaluate::prepared::PreparedReferences;
use capeval_evaluate::registry::{self, Resources};
use capeval_evaluate::{ReferenceSet, System, evaluate};
use capeval_metric::AnyMetric;

use crate::changed;

/// Bytes that start at a multiple of 64, like those of a memory map.
pub struct AlignedBytes(Vec<u8>, usize);

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0[self.1..]
    }
}

pub fn aligned(bytes: &[u8]) -> Arc<AlignedBytes> {
    let mut room = vec![0; bytes.len() + 64];
    let start = room.as_ptr().align_offset(64);
    room.truncate(start + bytes.len());
    room[start..].copy_from_slice(bytes);
    Arc::new(AlignedBytes(room, start))
}

fn good() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let texts = ["a dog runs", "3 1/2 dogs", "a cat", "", "the cat sits on a mat"];
        let mut references = ReferenceSet::new(texts.into_iter().collect(), vec![2, 2, 4, 5]);
        let build = |name| registry::build(name, &[], &Resources::default()).ok();
        let metrics: Vec<_> = ["bleu", "rouge-l", "cider-d"].into_iter().filter_map(build).collect();
        references.prepare(metrics.iter().map(AnyMetric::input));
        let ids = (0..4i64).map(Into::into).collect();
        let mut file = Vec::new();
        PreparedReferences::new(ids, references, Vec::new())
            .write(&mut file)
            .expect("writing to a vector cannot fail");
        file
    })
}

fn use_it(file: &[u8]) {
    let Ok(prepared) = PreparedReferences::open(aligned(file)) else { return };
    let build = |name| registry::build(name, &[], &Resources::default()).ok();
    let metrics: Vec<_> = ["bleu", "rouge-l", "cider-d"].into_iter().filter_map(build).collect();
    let inputs: Vec<_> = metrics.iter().map(AnyMetric::input).collect();
    let some = prepared.references_of(&[0], &inputs).ok().flatten();
    for mut references in some.into_iter().chain(prepared.references().ok()) {
        let n = references.n_images() as u32;
        let texts = (0..n).map(|_| "a dog sits on 3 1/2 mats").collect();
        let system = System { name: String::new(), images: (0..n).collect(), texts };
        evaluate(&mut references, &[system], &metrics, &());
    }
}

pub fn check(data: &[u8]) {
    use_it(data);
    let mut file = changed(good(), data);
    capeval_arrays::reseal(&mut file);
    use_it(&file);
}
