//! Limits of how often something may be done in a minute, as buckets that refill steadily.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::fault::Result;
use crate::{clock, fault};

/// The number of buckets above which full ones are forgotten.
const MANY: usize = 10_000;

/// The buckets of all visitors.
#[derive(Default)]
pub struct Limits(Mutex<HashMap<(&'static str, String), Bucket>>);

struct Bucket {
    left: f64,
    at: Instant,
    per_minute: f64,
}

impl Bucket {
    fn refill(&mut self, now: Instant) {
        let minutes = now.duration_since(self.at).as_secs_f64() / 60.0;
        self.left = (minutes * self.per_minute + self.left).min(self.per_minute);
        self.at = now;
    }
}

impl Limits {
    /// Takes one from the bucket of `who` for `what`, which holds `per_minute`.
    /// If it is empty, the fault says how long to wait.
    pub fn take(&self, what: &'static str, who: &str, per_minute: u32) -> Result<()> {
        self.take_at(what, who, per_minute, clock::instant())
    }

    fn take_at(&self, what: &'static str, who: &str, per_minute: u32, now: Instant) -> Result<()> {
        let per_minute = f64::from(per_minute.max(1));
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > MANY {
            buckets.retain(|_, bucket| {
                bucket.refill(now);
                bucket.left < bucket.per_minute
            });
        }
        let bucket =
            buckets.entry((what, who.to_owned())).or_insert(Bucket { left: per_minute, at: now, per_minute });
        bucket.refill(now);
        if bucket.left < 1.0 {
            let wait = ((1.0 - bucket.left) * 60.0 / per_minute).ceil() as i64;
            let fault =
                fault!(TOO_MANY_REQUESTS, "too-often", "Too many requests. Try again in {} s.", wait.max(1));
            return Err(fault.retry_after(wait));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_refills_and_says_how_long_to_wait() {
        let limits = Limits::default();
        let start = Instant::now();
        for _ in 0..6 {
            limits.take_at("sign-in", "a", 6, start).unwrap();
        }
        let fault = limits.take_at("sign-in", "a", 6, start).unwrap_err();
        assert_eq!(fault.retry_after, Some(10));
        limits.take_at("sign-in", "b", 6, start).unwrap();
        limits.take_at("upload", "a", 6, start).unwrap();
        limits.take_at("sign-in", "a", 6, start + Duration::from_secs(10)).unwrap();
        assert!(limits.take_at("sign-in", "a", 6, start + Duration::from_secs(11)).is_err());
    }
}
