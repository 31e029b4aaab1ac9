//! Tables: figures as cells, by group, for a terminal and for a page of HTML.

pub(crate) mod accounts;
pub(crate) mod answer;
pub(crate) mod groups;
pub(crate) mod html;
pub(crate) mod sheet;
pub(crate) mod terms;
