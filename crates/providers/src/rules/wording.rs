//! The words that the rule summary itself writes, in English and Chinese.

use epitome_strategy::Language;

use super::lines::SummarySection;

/// A section's heading.
pub(crate) fn heading(section: SummarySection, language: Language) -> &'static str {
    let (english, chinese) = match section {
        SummarySection::Requests => ("User", "用户"),
        SummarySection::Instructions => ("Standing instructions", "长期指示"),
        SummarySection::Files => ("Files", "文件"),
        SummarySection::Actions => ("Done", "已执行"),
        SummarySection::Findings => ("Findings", "结论"),
        SummarySection::Errors => ("Errors", "错误"),
        SummarySection::Open => ("Open", "待办"),
        SummarySection::Context => ("Context", "背景"),
    };
    pick(language, english, chinese)
}

/// Headings of a model's summaries that have other words, and the section that their lines go to.
const OTHERS: &[(&str, SummarySection)] = &[
    ("Goal", SummarySection::Requests),
    ("目标", SummarySection::Requests),
    ("Constraints", SummarySection::Instructions),
    ("约束", SummarySection::Instructions),
    ("State", SummarySection::Actions),
    ("现状", SummarySection::Actions),
    ("Decisions", SummarySection::Findings),
    ("决定", SummarySection::Findings),
    ("Failed", SummarySection::Errors),
    ("失败", SummarySection::Errors),
    ("Next step", SummarySection::Open),
    ("下一步", SummarySection::Open),
    ("Topic", SummarySection::Requests),
    ("主题", SummarySection::Requests),
    ("Actions", SummarySection::Actions),
    ("操作", SummarySection::Actions),
    ("Entities", SummarySection::Findings),
    ("实体", SummarySection::Findings),
    ("Exact strings", SummarySection::Findings),
    ("原文字符串", SummarySection::Findings),
    ("Task list at the end of this part", SummarySection::Open),
    ("此部分结束时的任务清单", SummarySection::Open),
];

/// The section of a heading that an earlier summary has, by rules or by a model, in either language.
pub(crate) fn section_of(heading: &str) -> Option<SummarySection> {
    let matches = |section: &SummarySection| {
        [Language::English, Language::Chinese].iter().any(|language| self::heading(*section, *language) == heading)
    };
    let other = || OTHERS.iter().find(|(name, _)| *name == heading).map(|(_, section)| *section);
    SummarySection::ALL.into_iter().find(matches).or_else(other)
}

/// One of two wordings.
pub(crate) fn pick(language: Language, english: &'static str, chinese: &'static str) -> &'static str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// The work on a file, as written and as read back: a verb for each kind.
pub(crate) const FILE_VERBS: [(&str, &str); 3] = [("wrote", "写入"), ("edited", "修改"), ("read", "读取")];

/// The number of messages of each role that a summary covers.
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
