//! The words that the rule summary itself writes, in English and Chinese.

use epitome_strategy::Language;

use super::lines::Section;

/// A section's heading.
pub(crate) fn heading(section: Section, language: Language) -> &'static str {
    let (english, chinese) = match section {
        Section::Requests => ("User", "用户"),
        Section::Instructions => ("Standing instructions", "长期指示"),
        Section::Files => ("Files", "文件"),
        Section::Actions => ("Done", "已执行"),
        Section::Findings => ("Findings", "结论"),
        Section::Errors => ("Errors", "错误"),
        Section::Open => ("Open", "待办"),
        Section::Remembered => ("Remembered", "已记住"),
        Section::Context => ("Context", "背景"),
    };
    pick(language, english, chinese)
}

/// Headings of a model's summaries that have other words, and the section that their lines go to.
const OTHERS: &[(&str, Section)] = &[
    ("Goal", Section::Requests),
    ("目标", Section::Requests),
    ("Constraints", Section::Instructions),
    ("约束", Section::Instructions),
    ("State", Section::Actions),
    ("现状", Section::Actions),
    ("Decisions", Section::Findings),
    ("决定", Section::Findings),
    ("Failed", Section::Errors),
    ("失败", Section::Errors),
    ("Next step", Section::Open),
    ("下一步", Section::Open),
    ("Topic", Section::Requests),
    ("主题", Section::Requests),
    ("Actions", Section::Actions),
    ("操作", Section::Actions),
    ("Entities", Section::Findings),
    ("实体", Section::Findings),
    ("Exact strings", Section::Findings),
    ("原文字符串", Section::Findings),
    ("Task list at the end of this part", Section::Open),
    ("此部分结束时的任务清单", Section::Open),
];

/// The section of a heading that an earlier summary has, by rules or by a model, in either language.
pub(crate) fn section_of(heading: &str) -> Option<Section> {
    let matches = |section: &Section| {
        [Language::English, Language::Chinese].iter().any(|language| self::heading(*section, *language) == heading)
    };
    let other = || OTHERS.iter().find(|(name, _)| *name == heading).map(|(_, section)| *section);
    Section::ALL.into_iter().find(matches).or_else(other)
}

/// One of two wordings.
pub(crate) fn pick(language: Language, english: &'static str, chinese: &'static str) -> &'static str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// What was done to a file, as written and as read back: a verb for each way.
pub(crate) const FILE_VERBS: [(&str, &str); 3] = [("wrote", "写入"), ("edited", "修改"), ("read", "读取")];

/// How many messages of which role a summary covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) user: u32,
    pub(crate) assistant: u32,
    pub(crate) tool: u32,
}

impl Counts {
    /// The line that says so.
    pub(crate) fn line(self, language: Language) -> String {
        let Self { user, assistant, tool } = self;
        match language {
            Language::English => format!("Covers {user} user, {assistant} assistant and {tool} tool messages."),
            Language::Chinese => format!("涵盖用户消息 {user} 条、助手消息 {assistant} 条、工具消息 {tool} 条。"),
        }
    }

    /// The counts that [`line`](Self::line) wrote, in either language.
    pub(crate) fn read(line: &str) -> Option<Self> {
        if !line.starts_with("Covers ") && !line.starts_with("涵盖用户消息") {
            return None;
        }
        let mut numbers = line.split(|char: char| !char.is_ascii_digit()).filter_map(|number| number.parse().ok());
        Some(Self { user: numbers.next()?, assistant: numbers.next()?, tool: numbers.next()? })
    }
}
