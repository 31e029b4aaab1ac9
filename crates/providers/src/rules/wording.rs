//! The words that the rule summary itself writes, in English and Chinese.

use epitome_strategy::Language;

use super::lines::SummarySection;

/// A heading of summaries, by the rules or by the prompts that ship.
#[derive(Debug)]
pub(crate) struct Heading {
    /// In English and in Chinese.
    names: [&'static str; 2],
    /// The section of the rules that its lines go to.
    section: SummarySection,
    /// How much it matters in a model's summary: 0 most.
    pub(crate) rank: usize,
}

/// The rules' own heading of each section, and behind these a model's.
const HEADINGS: [Heading; 19] = [
    Heading { names: ["User", "用户"], section: SummarySection::Requests, rank: 5 },
    Heading { names: ["Standing instructions", "长期指示"], section: SummarySection::Instructions, rank: 1 },
    Heading { names: ["Open", "待办"], section: SummarySection::Open, rank: 3 },
    Heading { names: ["Findings", "结论"], section: SummarySection::Findings, rank: 5 },
    Heading { names: ["Context", "背景"], section: SummarySection::Context, rank: 5 },
    Heading { names: ["Done", "已执行"], section: SummarySection::Actions, rank: 7 },
    Heading { names: ["Files", "文件"], section: SummarySection::Files, rank: 8 },
    Heading { names: ["Errors", "错误"], section: SummarySection::Errors, rank: 9 },
    Heading { names: ["Goal", "目标"], section: SummarySection::Requests, rank: 0 },
    Heading { names: ["Topic", "主题"], section: SummarySection::Requests, rank: 0 },
    Heading { names: ["Constraints", "约束"], section: SummarySection::Instructions, rank: 1 },
    Heading { names: ["Next step", "下一步"], section: SummarySection::Open, rank: 2 },
    Heading { names: ["State", "现状"], section: SummarySection::Actions, rank: 4 },
    Heading { names: ["Entities", "实体"], section: SummarySection::Findings, rank: 5 },
    Heading { names: ["Exact strings", "原文字符串"], section: SummarySection::Findings, rank: 5 },
    Heading {
        names: ["Task list at the end of this part", "此部分结束时的任务清单"],
        section: SummarySection::Open,
        rank: 5,
    },
    Heading { names: ["Decisions", "决定"], section: SummarySection::Findings, rank: 6 },
    Heading { names: ["Actions", "操作"], section: SummarySection::Actions, rank: 7 },
    Heading { names: ["Failed", "失败"], section: SummarySection::Errors, rank: 9 },
];

/// A section's heading.
pub(crate) fn heading(section: SummarySection, language: Language) -> &'static str {
    let own = HEADINGS.iter().find(|heading| heading.section == section);
    own.map_or("", |heading| language.pick(heading.names[0], heading.names[1]))
}

/// The heading of that name, in either language.
pub(crate) fn heading_named(name: &str) -> Option<&'static Heading> {
    HEADINGS.iter().find(|heading| heading.names.contains(&name))
}

/// The section of a heading that an earlier summary has, by rules or by a model, in either language.
pub(crate) fn section_of(heading: &str) -> Option<SummarySection> {
    heading_named(heading).map(|heading| heading.section)
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
        language.pick(
            format!("Covers {user} user, {assistant} assistant and {tool} tool messages."),
            format!("涵盖用户消息 {user} 条、助手消息 {assistant} 条、工具消息 {tool} 条。"),
        )
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
