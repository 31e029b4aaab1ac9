//! The words that the code itself writes, in English and Chinese; prompts are files of their own.

use epitome_strategy::Language;

use crate::rules::wording::heading_named;

/// The sections of the JSON form: topic, entities, actions, open.
pub(super) const JSON_HEADINGS: [[&str; 2]; 4] =
    [["Topic", "主题"], ["Entities", "实体"], ["Actions", "操作"], ["Open", "待办"]];

/// The sections that are written by rule, in the order of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleSection {
    Files,
    Tasks,
    Changes,
    Exact,
}

impl RuleSection {
    const ALL: [(Self, [&str; 2]); 4] = [
        (Self::Files, ["Changed files, newest first", "改动过的文件，最新的在前"]),
        (Self::Tasks, ["Task list at the end of this part", "此部分结束时的任务清单"]),
        (Self::Changes, ["Changes as git counted them", "git 统计的改动"]),
        (Self::Exact, ["Exact strings", "原文字符串"]),
    ];

    /// The section's heading.
    pub(super) fn heading(self, language: Language) -> &'static str {
        let [english, chinese] = Self::ALL[self as usize].1;
        language.pick(english, chinese)
    }

    /// The section of that heading, in either language.
    pub(super) fn with_heading(heading: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, names)| names.contains(&heading)).map(|(section, _)| *section)
    }
}

/// The rank of a section with an unknown heading.
const UNKNOWN_RANK: usize = 5;

/// The rank of a section: 0 matters most.
pub(super) fn rank(heading: &str) -> usize {
    if SAID.contains(&heading) { 1 } else { heading_named(heading).map_or(UNKNOWN_RANK, |heading| heading.rank) }
}

/// The section for demands that the model left out. It is not the model's own one for demands: a demand here may have
/// been taken back later, so the order in which the demands were made has to show.
pub(super) const SAID: [&str; 2] =
    ["Said by the user, in order: later words win", "用户原话，按先后排列：以后说的为准"];

/// Whether a section proposes: commands and files of the future need not be in the session.
pub(super) fn proposes(heading: &str) -> bool {
    matches!(heading, "Open" | "待办" | "Next step" | "下一步")
}

/// The marks behind a string of a summary that the session does not have, in each language.
pub(super) fn unverified_marks() -> [&'static str; 2] {
    [mark_of(Language::English), mark_of(Language::Chinese)]
}

/// The same in one language.
pub(super) fn mark_of(language: Language) -> &'static str {
    language.pick("[unverified]", "[未核实]")
}

/// Whether a summary is useless without the section, where the prompt asks for it: the goal and the next steps.
pub(super) fn is_essential(heading: &str) -> bool {
    matches!(heading, "Goal" | "目标" | "Next step" | "下一步" | "Topic" | "主题" | "Actions" | "操作")
}

/// Whether a line says that there is nothing to report.
pub(super) fn says_nothing(line: &str) -> bool {
    let word = line.trim_start_matches(['-', '*', ' ']).trim_end_matches(['.', '。', ' ']).to_lowercase();
    matches!(word.as_str(), "" | "none" | "(none)" | "n/a" | "无" | "（无）" | "没有")
}
