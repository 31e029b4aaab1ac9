//! Shares: a part of a number.

use serde::{Deserialize, Serialize};

/// A part of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptCount {
    /// How many are left.
    pub kept: u32,
    /// How many there were.
    pub of: u32,
}

impl KeptCount {
    /// Returns the share from 0 to 1; `None` where there was nothing to keep.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| f64::from(self.kept) / f64::from(self.of))
    }

    pub(crate) fn is_none(&self) -> bool {
        self.of == 0
    }

    /// Counts those that are present.
    pub fn count(present: &[bool]) -> Self {
        Self { kept: present.iter().filter(|present| **present).count() as u32, of: present.len() as u32 }
    }
}
