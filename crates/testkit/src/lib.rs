//! Fixtures, checks and a hostile session generator for tests of strategies and the engine.
