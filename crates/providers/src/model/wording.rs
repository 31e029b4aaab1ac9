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
        pick(language, english, chinese)
    }

    /// The section of that heading, in either language.
    pub(super) fn with_heading(heading: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, names)| names.contains(&heading)).map(|(section, _)| *section)
    }
}

/// The ranks of sections by importance, by their headings in the prompts that ship and in the rules: the first ones
/// matter most. A heading that is not here has [`UNKNOWN_RANK`].
const RANKS: &[&[&str]] = &[
    &["Goal", "目标", "Topic", "主题"],
    &["Constraints", "约束", "Standing instructions", "长期指示", SAID[0], SAID[1]],
    &["Next step", "下一步"],
    &["Open", "待办"],
    &["State", "现状"],
    &["Findings", "结论", "Entities", "实体"],
    &["Decisions", "决定"],
    &["Done", "已执行", "Actions", "操作"],
    &["Files", "文件"],
    &["Failed", "失败", "Errors", "错误"],
];

/// The rank of a section with an unknown heading.
const UNKNOWN_RANK: usize = 5;

/// The rank of a section: 0 matters most.
pub(super) fn rank(heading: &str) -> usize {
    RANKS.iter().position(|names| names.contains(&heading)).unwrap_or(UNKNOWN_RANK)
}

/// The section for demands that the model left out. It is not the model's own one for demands: a demand here may have
/// been taken back later, so the order in which the demands were made has to show.
pub(super) const SAID: [&str; 2] =
    ["Said by the user, in order: later words win", "用户原话，按先后排列：以后说的为准"];

/// The topic of a section, by its heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionTopic {
    /// Plans, and the past: a statement about a file is a plan or a story here, not a state.
    Plan,
    /// The present state.
    State,
    /// Finished work.
    Done,
    /// Anything else.
    Other,
}

impl SectionTopic {
    /// The topic of the section with that heading.
    pub(super) fn of_heading(heading: Option<&str>) -> Self {
        match heading.unwrap_or_default() {
            heading if SAID.contains(&heading) => Self::Plan,
            "Constraints" | "约束" | "Open" | "待办" | "Next step" | "下一步" | "Failed" | "失败" | "Decisions"
            | "决定" => Self::Plan,
            "State" | "现状" | "Files" | "文件" => Self::State,
            "Done" | "已执行" => Self::Done,
            _ => Self::Other,
        }
    }
}

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
    pick(language, "[unverified]", "[未核实]")
}

/// Whether a clause says that something was not changed.
pub(super) fn says_untouched(clause: &str) -> bool {
    let clause = clause.to_lowercase();
    let says = [
        "unchanged",
        "untouched",
        "not changed",
        "not been changed",
        "not modified",
        "not been modified",
        "not edited",
        "not touched",
        "未修改",
        "没有修改",
        "未改动",
        "没有改动",
    ];
    let not = [
        "must",
        "should",
        "to be",
        "stay",
        "otherwise",
        "rest of",
        "other",
        "api",
        "behavio",
        "必须",
        "应",
        "其余",
        "其他",
    ];
    says.iter().any(|word| clause.contains(word)) && !not.iter().any(|word| clause.contains(word))
}

/// Whether a folded text says that its subject is done.
pub(super) fn says_done(text: &str) -> bool {
    let says = [
        "[x]",
        ": done",
        "(done",
        "- done",
        "is done",
        "was done",
        "completed",
        "finished",
        "✓",
        "✅",
        "☑",
        "已完成",
        "完成了",
    ];
    let not = [
        "not ",
        "n't",
        "never",
        "unfinished",
        "undone",
        "uncompleted",
        "to be ",
        "before",
        "until",
        "open",
        "pending",
        "in progress",
        "remain",
        "partly",
        "half",
        "once ",
        "when ",
        "未",
        "没有",
        "待",
        "进行中",
    ];
    says.iter().any(|word| text.contains(word)) && !not.iter().any(|word| text.contains(word))
}

/// Whether a line says that something came back.
pub(super) fn says_back(line: &str) -> bool {
    let line = line.to_lowercase();
    let says = [
        "again", "recreat", "re-creat", "rewrit", "rewrote", "restor", "later", "then ", "written", "wrote", "creat",
        "back", "moved", "new ", "replac", "first", "重新", "恢复", "再次", "新建", "之后", "然后",
    ];
    says.iter().any(|word| line.contains(word))
}

/// A summary says that a file is gone which is there.
pub(super) fn deletion_problem(language: Language, path: &str) -> String {
    match language {
        Language::English => format!("it says that `{path}` was deleted; the newest call wrote or edited it"),
        Language::Chinese => format!("它说 `{path}` 已删除，但最新的调用写入或修改了它"),
    }
}

/// A summary says that a file is as it was which was changed.
pub(super) fn untouched_problem(language: Language, path: &str) -> String {
    match language {
        Language::English => format!("it says that `{path}` was not changed; calls changed it"),
        Language::Chinese => format!("它说 `{path}` 没有改动，但调用改动了它"),
    }
}

/// A summary says that a task is done which is open.
pub(super) fn open_task_problem(language: Language, task: &str) -> String {
    match language {
        Language::English => format!("it says that “{task}” is done; the newest task list has it open"),
        Language::Chinese => format!("它说“{task}”已完成，但最新的任务清单中它还没有完成"),
    }
}

/// A summary says that a command succeeds whose newest run failed.
pub(super) fn failed_run_problem(language: Language, command: &str) -> String {
    match language {
        Language::English => format!("it says that `{command}` passes; its newest run failed"),
        Language::Chinese => format!("它说 `{command}` 通过，但最近一次运行失败了"),
    }
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
