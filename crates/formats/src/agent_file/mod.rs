//! Shared by the files of the agents that are written back: records of JSON, one a line, and compactions among them.

pub(crate) mod appended;
pub(crate) mod mark;
pub(crate) mod new_file;
pub(crate) mod records;
