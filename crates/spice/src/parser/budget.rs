//! The memory of long sentences: the threads of a process together take no more than a budget of bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The budget, which the longest sentence that is read takes alone.
pub(super) const BYTES: usize = 1_400_000_000;
/// The kilobytes in use, and in the upper half the process: what threads of another process took, from which this one
/// was forked, counts for nothing, and nothing gives it back.
static IN_USE: AtomicU64 = AtomicU64::new(0);
/// The bytes of a kilobyte.
const UNIT: u64 = 1_000;
/// A long sentence takes a second, so a thread that waits for its end need not look often.
const PAUSE: Duration = Duration::from_millis(10);

/// A part of the budget, until it is dropped.
pub(super) struct Share(u64);

impl Share {
    /// Waits until so many bytes are left. No lock is held, which a fork might leave behind.
    pub(super) fn wait(bytes: usize) -> Self {
        let share = bytes.min(BYTES) as u64 / UNIT;
        while !Self::take(share) {
            std::thread::sleep(PAUSE);
        }
        Self(share)
    }

    fn take(share: u64) -> bool {
        let process = u64::from(std::process::id()) << 32;
        let more = |in_use: u64| {
            let known = if in_use >> 32 << 32 == process { in_use } else { process };
            (known - process + share <= BYTES as u64 / UNIT).then_some(known + share)
        };
        IN_USE.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        IN_USE.fetch_sub(self.0, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_many_threads_stay_within_the_budget() {
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let share = Share::wait(500_000_000);
                        most.fetch_max(now.fetch_add(share.0, Ordering::SeqCst) + share.0, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(share.0, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((500_000..=1_400_000).contains(&most.into_inner()));
        assert_eq!(Share::wait(usize::MAX).0, 1_400_000, "a sentence that takes more has the whole budget");
    }
}
