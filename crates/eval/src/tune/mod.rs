//! Tuning: chains by kind of task and settings, searched on one set of sessions and verified on another.

mod weights;

pub use weights::{Figures, Weights};
