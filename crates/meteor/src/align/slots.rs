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
