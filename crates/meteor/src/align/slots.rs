//! A map from small numbers to numbers that can be cleared without touching its memory.

/// A map that is cleared by incrementing an epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// Epoch and value.
    slots: Vec<(u32, u32)>,
    epoch: u32,
}

impl Slots {
    pub(super) fn clear(&mut self, len: usize) {
        if self.slots.len() < len {
            self.slots.resize(len.next_power_of_two(), (0, 0));
        }
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.slots.fill((0, 0));
            self.epoch = 1;
        }
    }

    pub(super) fn get(&self, index: u32) -> Option<u32> {
        self.slots.get(index as usize).filter(|slot| slot.0 == self.epoch).map(|slot| slot.1)
    }

    pub(super) fn set(&mut self, index: u32, value: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = (self.epoch, value);
        }
    }
}

/// A set of small numbers that takes little memory and may seem to contain others.
#[derive(Clone, Debug)]
pub(super) struct Sieve([u64; 64]);

impl Default for Sieve {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Sieve {
    pub(super) fn clear(&mut self) {
        self.0 = [0; 64];
    }

    pub(super) fn insert(&mut self, number: u32) {
        self.0[number as usize / 64 % 64] |= 1 << (number % 64);
    }

    /// Returns true if the number may have been inserted; false is certain.
    #[inline]
    pub(super) fn may_contain(&self, number: u32) -> bool {
        self.0[number as usize / 64 % 64] >> (number % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sieve_knows_what_was_inserted_and_seldom_more() {
        let mut sieve = Sieve::default();
        let numbers: Vec<u32> = (0..100).map(|k| k * k * 977).chain([u32::MAX, 1 << 31]).collect();
        numbers.iter().for_each(|number| sieve.insert(*number));
        assert!(numbers.iter().all(|number| sieve.may_contain(*number)));
        assert!((0..100_000).filter(|number| sieve.may_contain(*number)).count() < 4_000);
        sieve.clear();
        assert!(!numbers.iter().any(|number| sieve.may_contain(*number)));
    }
}
