//! The session: log, journal, blocks, units and views.
