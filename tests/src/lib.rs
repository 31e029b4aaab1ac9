//! End-to-end tests over recorded sessions.
