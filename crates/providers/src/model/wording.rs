//! The words that the code itself writes, in English and Chinese; prompts are files of their own.

use epitome_strategy::Language;

/// One of two wordings.
pub(super) fn pick(language: Language, english: &'static str, chinese: &'static str) -> &'static str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// The sections of the JSON form: topic, entities, actions, open.
pub(super) const JSON_HEADINGS: [[&str; 2]; 4] =
    [["Topic", "主题"], ["Entities", "实体"], ["Actions", "操作"], ["Open", "待办"]];

/// The sections that are written by rule, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleSection {
    Tasks,
    Changes,
    Remembered,
    Exact,
}

impl RuleSection {
    const ALL: [(Self, [&str; 2]); 4] = [
        (Self::Tasks, ["Task list at the end of this part", "此部分结束时的任务清单"]),
        (Self::Changes, ["Changes as git counted them", "git 统计的改动"]),
        (Self::Remembered, ["Remembered", "已记住"]),
        (Self::Exact, ["Exact strings", "原文字符串"]),
    ];

    /// Its heading.
    pub(super) fn heading(self, language: Language) -> &'static str {
        let [english, chinese] = Self::ALL[self as usize].1;
        pick(language, english, chinese)
    }

    /// The section of that heading, in either language.
    pub(super) fn of(heading: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, names)| names.contains(&heading)).map(|(section, _)| *section)
    }
}

/// How much sections matter, by their headings in the prompts that ship: the first ones most. A heading that is not here
/// stands with [`UNKNOWN_RANK`].
const RANKS: &[&[&str]] = &[
    &["Goal", "目标", "Topic", "主题"],
    &["Standing instructions", "长期指示"],
    &["Open", "待办"],
    &["Findings", "结论", "Entities", "实体"],
    &["Done", "已执行", "Actions", "操作"],
    &["Files", "文件"],
    &["Errors", "错误"],
];

/// Where a section stands that nobody knows.
const UNKNOWN_RANK: usize = 3;

/// How much a section matters: 0 most.
pub(super) fn rank(heading: &str) -> usize {
    RANKS.iter().position(|names| names.contains(&heading)).unwrap_or(UNKNOWN_RANK)
}

/// Headings without which a summary is none, where the prompt asks for them: what is wanted and what is next.
pub(super) fn is_essential(heading: &str) -> bool {
    matches!(heading, "Goal" | "目标" | "Open" | "待办" | "Topic" | "主题" | "Actions" | "操作")
}

/// Whether a line says that there is nothing to say.
pub(super) fn says_nothing(line: &str) -> bool {
    let word = line.trim_start_matches(['-', '*', ' ']).trim_end_matches(['.', '。', ' ']).to_lowercase();
    matches!(word.as_str(), "" | "none" | "(none)" | "n/a" | "无" | "（无）" | "没有")
}
