//! The readers of ROUGE-1.5.5's stop words and exceptions do not panic on any bytes, and reading twice
//! changes nothing.

use capeval_text::{Exceptions, StopWords};

pub fn check(bytes: &[u8]) {
    if let Ok(words) = StopWords::read(bytes) {
        assert_eq!(words.fingerprint(), StopWords::read(bytes).expect("it was read before").fingerprint());
        let n = words.len();
        assert_eq!(words.is_empty(), n == 0);
    }
    let mut list = Exceptions::default();
    if list.read(bytes).is_ok() {
        let (n, fingerprint) = (list.len(), list.fingerprint());
        list.read(bytes).expect("it was read before");
        assert_eq!((list.len(), list.fingerprint()), (n, fingerprint));
    }
}
