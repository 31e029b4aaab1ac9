//! Summarizers.
