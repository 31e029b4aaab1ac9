//! The words that the rule summary itself writes, in English and Chinese.

use epitome_strategy::Language;

use super::lines::SummarySection;

/// A heading of summaries, by the rules or by the prompts that ship.
#[derive(Debug)]
struct Heading {
    /// In English and in Chinese.
    names: [&'static str; 2],
    /// The section of the rules that its lines go to.
    section: SummarySection,
}

/// The section that rules add to a model's summary for what a person said. It is not the model's own one for demands: a
/// demand here may have been taken back later, so the order in which the demands were made has to show.
pub(crate) const SAID: [&str; 2] =
    ["Said by the user, in order: later words win", "用户原话，按先后排列：以后说的为准"];

/// The section that rules add to a model's summary for the changed files.
pub(crate) const CHANGED_FILES: [&str; 2] = ["Changed files, newest first", "改动过的文件，最新的在前"];

/// The rules' own heading of each section, and behind these a model's.
const HEADINGS: [Heading; 19] = [
    Heading { names: ["User", "用户"], section: SummarySection::Requests },
    Heading { names: ["Standing instructions", "长期指示"], section: SummarySection::Instructions },
    Heading { names: ["Open", "待办"], section: SummarySection::Open },
    Heading { names: ["Findings", "结论"], section: SummarySection::Findings },
    Heading { names: ["Context", "背景"], section: SummarySection::Context },
    Heading { names: ["Done", "已执行"], section: SummarySection::Actions },
    Heading { names: ["Files", "文件"], section: SummarySection::Files },
    Heading { names: ["Errors", "错误"], section: SummarySection::Errors },
    Heading { names: ["Goal", "目标"], section: SummarySection::Requests },
    Heading { names: ["Topic", "主题"], section: SummarySection::Requests },
    Heading { names: ["Constraints", "约束"], section: SummarySection::Instructions },
    Heading { names: ["Next step", "下一步"], section: SummarySection::Open },
    Heading { names: ["State", "现状"], section: SummarySection::Actions },
    Heading { names: ["Entities", "实体"], section: SummarySection::Findings },
    Heading { names: ["Decisions", "决定"], section: SummarySection::Findings },
    Heading { names: ["Actions", "操作"], section: SummarySection::Actions },
    Heading { names: SAID, section: SummarySection::Instructions },
    Heading { names: CHANGED_FILES, section: SummarySection::Files },
    Heading { names: ["Failed", "失败"], section: SummarySection::Errors },
];

/// A section's heading.
pub(crate) fn heading(section: SummarySection, language: Language) -> &'static str {
    let own = HEADINGS.iter().find(|heading| heading.section == section);
    own.map_or("", |heading| language.pick(heading.names[0], heading.names[1]))
}

/// The section of a heading that an earlier summary has, by rules or by a model, in either language.
pub(crate) fn section_of(name: &str) -> Option<SummarySection> {
    HEADINGS.iter().find(|heading| heading.names.contains(&name)).map(|heading| heading.section)
}

/// The work on a file, as written and as read back: a verb for each kind.
pub(crate) const FILE_VERBS: [(&str, &str); 4] =
    [("wrote", "写入"), ("edited", "修改"), ("read", "读取"), ("deleted", "删除")];

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
