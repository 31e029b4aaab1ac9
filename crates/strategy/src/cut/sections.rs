//! The sections of a summary that an agent or a model wrote.

use std::ops::Range;

use crate::text;

/// Headings of sections that are needed to continue the work: they shrink last. In lower case.
/// Source: the summaries that recorded agents wrote, and their prompts.
const LAST_TO_SHRINK: &[&str] = &[
    "user",
    "constraint",
    "rule",
    "instruction",
    "requirement",
    "demand",
    "request",
    "preference",
    "pending",
    "next",
    "todo",
    "open",
    "current",
    "remaining",
    "用户",
    "要求",
    "约束",
    "规则",
    "偏好",
    "待办",
    "下一步",
    "当前",
    "未决",
];

/// A part of a summary, from its heading on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its bytes.
    pub range: Range<usize>,
    /// Whether it is needed to continue the work: the user's wishes, pending work, the next step.
    pub shrinks_last: bool,
}

/// Returns the sections of a summary, its beginning included: together the whole text, in order, each from its heading
/// on. One section where there is no heading; none for an empty text. Linear.
pub fn sections(summary: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut is_behind_blank = false;
    for line in text::lines(summary) {
        let shown = &summary[line.clone()];
        let is_heading = is_heading(shown, is_behind_blank);
        is_behind_blank = shown.trim().is_empty();
        match sections.last_mut().filter(|_| !is_heading) {
            Some(section) => section.range.end = line.end,
            None => {
                let heading = shown.to_lowercase();
                let shrinks_last = is_heading && LAST_TO_SHRINK.iter().any(|word| heading.contains(word));
                sections.push(Section { range: line, shrinks_last });
            }
        }
    }
    sections
}

/// Whether a line is the heading of a section: `## Files`, `**Files**`, `<files>`, `3. Files and code:`, or behind a
/// blank line `Files:`.
fn is_heading(line: &str, is_behind_blank: bool) -> bool {
    let line = line.trim_end();
    let ends_in_colon = line.ends_with([':', '：']);
    let hashes = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return true;
    }
    if line.starts_with("**") && line.trim_end_matches([':', '：']).ends_with("**") && line.len() > 4 {
        return true;
    }
    if line.starts_with('<') && !line.starts_with("</") && line.ends_with('>') && !line.contains(' ') {
        return true;
    }
    let digits = line.len() - line.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    if (1..=2).contains(&digits) && line[digits..].starts_with(['.', '、']) && ends_in_colon {
        return true;
    }
    let is_item = line.starts_with(['-', '*', ' ', '\t', '`', '>']);
    is_behind_blank && ends_in_colon && !is_item && line.chars().count() <= 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_a_summary() {
        let check = |summary: &str, expect: &[(&str, bool)]| {
            let found = sections(summary);
            let found: Vec<(&str, bool)> =
                found.iter().map(|section| (&summary[section.range.clone()], section.shrinks_last)).collect();
            assert_eq!(found, expect, "{summary}");
        };
        check(
            "Intro\n## Files\na.rs\n## Pending tasks\nship it",
            &[("Intro\n", false), ("## Files\na.rs\n", false), ("## Pending tasks\nship it", true)],
        );
        check("no heading\nat all", &[("no heading\nat all", false)]);
        check("", &[]);
    }

    #[test]
    fn headings_of_many_kinds() {
        let check = |line: &str, is_behind_blank: bool, expect: bool| {
            assert_eq!(is_heading(line, is_behind_blank), expect, "{line}");
        };
        check("## Files\n", false, true);
        check("#hashtag\n", false, false);
        check("**Files and code**:\n", false, true);
        check("3. Files and code:\n", false, true);
        check("3. a step\n", false, false);
        check("Pending tasks:\n", true, true);
        check("Pending tasks:\n", false, false);
        check("- an item:\n", true, false);
        check("待办：\n", true, true);
        check("<pending_tasks>\n", false, true);
        check("</pending_tasks>\n", false, false);
    }
}
