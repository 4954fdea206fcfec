//! Third-party data and saved models, which metrics request by type.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Data that metrics may need in addition to captions: tables, models, word lists; at most one value of each type.
#[derive(Clone, Default)]
pub struct Resources(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Resources {
    /// Adds a value; replaces an earlier value of its type.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), value);
    }

    /// Adds a value, if it is `Some`.
    pub fn with<T: Any + Send + Sync>(mut self, value: Option<Arc<T>>) -> Self {
        if let Some(value) = value {
            self.insert(value);
        }
        self
    }

    /// Adds all values of `others`.
    pub fn extend(&mut self, others: &Self) {
        // Each type has one value, so their order is of no consequence.
        #[expect(clippy::iter_over_hash_type, reason = "the result is the same in any order")]
        for (key, value) in &others.0 {
            self.0.insert(*key, Arc::clone(value));
        }
    }

    /// The value of this type; `None` if there is none.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>()).and_then(|value| Arc::clone(value).downcast().ok())
    }

    /// Returns true if there is a value of this type.
    pub fn has<T: Any + Send + Sync>(&self) -> bool {
        self.0.contains_key(&TypeId::of::<T>())
    }
}

/// In words, which installed data are missing, by their name: a resource that makes errors exact.
#[derive(Clone, Debug, Default)]
pub struct Absences(pub BTreeMap<&'static str, String>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_type() {
        let resources = Resources::default().with(Some(Arc::new(7_u8))).with(None::<Arc<u16>>);
        assert_eq!(resources.get::<u8>().as_deref(), Some(&7));
        assert!(!resources.has::<u16>() && resources.get::<u16>().is_none());
        let mut others = Resources::default().with(Some(Arc::new(1_u8))).with(Some(Arc::new(2_u16)));
        others.extend(&resources);
        assert_eq!((others.get::<u8>().as_deref(), others.get::<u16>().as_deref()), (Some(&7), Some(&2)));
    }
}
