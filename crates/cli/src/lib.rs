//! The epitome command.
