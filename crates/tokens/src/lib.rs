//! Token counters: exact vocabularies, estimators, a calibrated estimator.
mod exact;
pub use exact::Exact;
