//! What was found out about recent captions, forgotten when it takes many bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The bytes that an entry takes besides its text and its finding.
const ENTRY: usize = 64;

/// Findings of unknown size by caption.
pub(crate) struct Recent<T: ?Sized> {
    most_bytes: usize,
    findings: Mutex<Findings<T>>,
}

struct Findings<T: ?Sized> {
    by_caption: HashMap<Box<str>, Arc<T>>,
    bytes: usize,
}

impl<T: ?Sized> Default for Findings<T> {
    fn default() -> Self {
        Self { by_caption: HashMap::new(), bytes: 0 }
    }
}

impl<T: ?Sized> Recent<T> {
    /// No findings, and never more than this many bytes of them.
    pub(crate) fn within(most_bytes: usize) -> Self {
        Self { most_bytes, findings: Mutex::default() }
    }

    /// The finding about a caption. No thread waits for another, which a fork may have left behind: where the lock is
    /// taken, nothing is known, and nothing is kept.
    pub(crate) fn get(&self, caption: &str) -> Option<Arc<T>> {
        self.findings.try_lock().ok()?.by_caption.get(caption).cloned()
    }

    /// Keeps the finding about a caption.
    pub(crate) fn keep(&self, caption: &str, finding: &Arc<T>) {
        let Ok(mut findings) = self.findings.try_lock() else { return };
        let bytes = caption.len() + size_of_val(&**finding) + ENTRY;
        if findings.bytes + bytes > self.most_bytes {
            *findings = Findings::default();
        }
        findings.bytes += bytes;
        findings.by_caption.insert(caption.into(), Arc::clone(finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_bytes_are_forgotten() {
        let recent = Recent::<str>::within(3 * (ENTRY + 10));
        let keep = |caption: &str| recent.keep(caption, &Arc::from("12345"));
        ["dog 1", "dog 2", "dog 3"].into_iter().for_each(keep);
        assert_eq!(recent.get("dog 1").as_deref(), Some("12345"));
        keep("dog 4");
        assert_eq!((recent.get("dog 1"), recent.get("dog 4").as_deref()), (None, Some("12345")));
    }
}
