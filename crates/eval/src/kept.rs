//! Shares: how many of how many.

use serde::{Deserialize, Serialize};

/// How many of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptCount {
    /// Those that are still there.
    pub kept: u32,
    /// All of them.
    pub of: u32,
}

impl KeptCount {
    /// The share from 0 to 1; `None` where there is nothing to keep.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| f64::from(self.kept) / f64::from(self.of))
    }

    pub(crate) fn is_none(&self) -> bool {
        self.of == 0
    }

    pub(crate) fn count(present: &[bool]) -> Self {
        Self { kept: present.iter().filter(|present| **present).count() as u32, of: present.len() as u32 }
    }
}
