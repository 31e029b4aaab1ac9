//! A blind reading: readers answer the questions of a probed session from a context alone, without knowing its method,
//! and others grade the answers. Mechanical facts can be gamed like any figure, so they are compared with these grades.

pub mod command;
mod contexts;
mod grades;
mod judge;
mod sheets;

pub use contexts::{BlindContext, BlindQuestion, contexts};
pub use grades::{Agreement, BY_FACTS, Grade, grade_rows, read_grades};
pub use judge::{BlindJudgement, judge};
pub use sheets::{BlindSheets, read_key, sheets};
