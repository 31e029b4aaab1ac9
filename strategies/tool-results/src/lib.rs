//! The tool-results strategy.
