//! How far a person has come: the number of their captions or ratings between two milestones.

/// The milestones around a number of captions or ratings.
pub struct Milestones {
    /// The number itself.
    pub done: i64,
    /// The last milestone, or 0.
    pub reached: i64,
    /// The next one.
    pub next: i64,
}

impl Milestones {
    /// The milestones of someone who has done so many: 10, 20, 50, and these times powers of ten.
    pub fn of(done: i64) -> Self {
        let done = done.max(0);
        let powers = std::iter::successors(Some(10_i64), |power| power.checked_mul(10));
        let mut milestones = powers.flat_map(|power| [1, 2, 5].map(|step| power.saturating_mul(step)));
        let mut reached = 0;
        let next = milestones.find(|milestone| {
            let is_ahead = *milestone > done;
            if !is_ahead {
                reached = *milestone;
            }
            is_ahead
        });
        Self { done, reached, next: next.unwrap_or(i64::MAX) }
    }

    /// Returns true if the last caption or rating reached a milestone.
    pub fn is_milestone(&self) -> bool {
        self.done > 0 && self.done == self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::Milestones;

    #[test]
    fn milestones_surround_every_number() {
        let around = |done| {
            let progress = Milestones::of(done);
            (progress.reached, progress.next, progress.is_milestone())
        };
        assert_eq!(around(-1), (0, 10, false));
        assert_eq!(around(0), (0, 10, false));
        assert_eq!(around(9), (0, 10, false));
        assert_eq!(around(10), (10, 20, true));
        assert_eq!(around(49), (20, 50, false));
        assert_eq!(around(50), (50, 100, true));
        assert_eq!(around(999), (500, 1000, false));
        let last = Milestones::of(i64::MAX);
        assert!(last.reached <= last.done && last.done <= last.next, "the largest number has milestones");
    }
}
