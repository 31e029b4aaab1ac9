//! Tables, bars and texts for a terminal.

pub(crate) mod bar;
pub(crate) mod composition;
pub(crate) mod context;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod watch;
