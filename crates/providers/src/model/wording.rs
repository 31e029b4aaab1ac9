//! The words that the code itself writes, in English and Chinese; prompts are files of their own.

use epitome_strategy::Language;

/// The sections of the JSON form: topic, entities, actions, open.
pub(super) const JSON_HEADINGS: [[&str; 2]; 4] =
    [["Topic", "主题"], ["Entities", "实体"], ["Actions", "操作"], ["Open", "待办"]];

/// The sections of the prompts that plan.
const PLANS: [[&str; 2]; 2] = [["Open", "待办"], ["Next step", "下一步"]];

/// The section that rules add to a model's summary for what a person said. It is not the model's own one for demands: a
/// demand here may have been taken back later, so the order in which the demands were made has to show.
pub(super) const SAID: [&str; 2] =
    ["Said by the user, in order: later words win", "用户原话，按先后排列：以后说的为准"];

/// The section that rules add to a model's summary for the changed files.
pub(super) const CHANGED_FILES: [&str; 2] = ["Changed files, newest first", "改动过的文件，最新的在前"];

/// The marks behind what the session does not have, in each language.
pub(super) const MARKS: [&str; 2] = ["[unverified]", "[未核实]"];

/// The same in one language.
pub(super) fn mark_of(language: Language) -> &'static str {
    language.pick(MARKS[0], MARKS[1])
}

/// Whether the section of that name plans, of those that the prompts ask for.
pub(super) fn is_plan(name: &str) -> bool {
    PLANS.iter().any(|names| names.contains(&name))
}
