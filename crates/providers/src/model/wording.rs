//! The words that the code itself writes, in English and Chinese; prompts are files of their own.

use epitome_strategy::Language;

use crate::rules::lines::SummarySection;
use crate::rules::wording::section_of;

/// The sections of the JSON form: topic, entities, actions, open.
pub(super) const JSON_HEADINGS: [[&str; 2]; 4] =
    [["Topic", "主题"], ["Entities", "实体"], ["Actions", "操作"], ["Open", "待办"]];

/// The marks behind what the session does not have, in each language.
pub(super) const MARKS: [&str; 2] = ["[unverified]", "[未核实]"];

/// The same in one language.
pub(super) fn mark_of(language: Language) -> &'static str {
    language.pick(MARKS[0], MARKS[1])
}

/// Whether the section of that name plans, of those that the prompts ask for.
pub(super) fn is_plan(name: &str) -> bool {
    section_of(name) == Some(SummarySection::Open)
}
