//! The façade a runtime depends on.
