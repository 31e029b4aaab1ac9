//! A summary that an agent or a model wrote shrinks by its sections, under its own headings.

use std::ops::Range;

use epitome_strategy::{BlockRef, Content, Tokens, View, text};

/// Headings of what must be known to go on: they shrink last. In lower case.
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

/// A part of a summary: its heading and the lines below it.
struct Section {
    lines: Vec<Range<usize>>,
    shrinks_last: bool,
    /// Lines that stay, from the first on.
    kept: usize,
}

/// Cuts the summary of a unit to about `room` tokens: of each section the first lines stay. Linear.
pub(crate) fn shorten(
    view: &View<'_>,
    unit: usize,
    room: Tokens,
    excerpts: &mut Vec<(BlockRef, Vec<Range<u32>>)>,
    tokens: &mut Tokens,
) {
    let message = view.units()[unit].entries.start;
    for (block, content) in view.message(message).blocks.iter().enumerate() {
        let at = BlockRef { message: message as u32, block: block as u32 };
        let own = view.block_tokens(at);
        *tokens += own;
        let Content::Text { text } = &content.content else { continue };
        if own <= room {
            continue;
        }
        let keep =
            keep(text, |part| view.count(part), room.saturating_sub(view.mark_tokens()), view.further_mark_tokens());
        let stays: Tokens = keep.iter().map(|range| view.count(&text[range.start as usize..range.end as usize])).sum();
        let marks = view.mark_tokens() + view.further_mark_tokens() * keep.len() as Tokens;
        if stays + marks < own {
            *tokens = *tokens - own + stays + marks;
            excerpts.push((at, keep));
        }
    }
}

/// What stays of a summary of more than `room` tokens.
fn keep(summary: &str, count: impl Fn(&str) -> Tokens, room: Tokens, mark: Tokens) -> Vec<Range<u32>> {
    let mut sections = sections(summary);
    let cost: Vec<Vec<Tokens>> = sections
        .iter()
        .map(|section| section.lines.iter().map(|line| count(&summary[line.clone()])).collect())
        .collect();
    let mut used: Tokens = cost.iter().flatten().sum();
    for last in [false, true] {
        // From the longest section of its kind a line leaves at a time, down to its heading and a line below it.
        while used > room {
            let longest = (0..sections.len())
                .filter(|section| sections[*section].shrinks_last == last && sections[*section].kept > 2)
                .max_by_key(|section| cost[*section][..sections[*section].kept].iter().sum::<Tokens>());
            let Some(longest) = longest else { break };
            let section = &mut sections[longest];
            if section.kept == section.lines.len() {
                used += mark;
            }
            section.kept -= 1;
            used = used.saturating_sub(cost[longest][section.kept]);
        }
    }
    let mut keep: Vec<Range<u32>> = Vec::new();
    for line in sections.iter().flat_map(|section| &section.lines[..section.kept]) {
        match keep.last_mut() {
            Some(last) if last.end as usize == line.start => last.end = line.end as u32,
            _ => keep.push(line.start as u32..line.end as u32),
        }
    }
    keep
}

fn sections(summary: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text::lines(summary) {
        let is_heading = is_heading(&summary[line.clone()]);
        if is_heading || sections.is_empty() {
            let heading = summary[line.clone()].to_lowercase();
            let shrinks_last = is_heading && LAST_TO_SHRINK.iter().any(|word| heading.contains(word));
            sections.push(Section { lines: Vec::new(), shrinks_last, kept: 0 });
        }
        if let Some(section) = sections.last_mut() {
            section.lines.push(line);
            section.kept += 1;
        }
    }
    sections
}

/// Whether a line opens a section: `## Goal`, `**Goal**`, `1. Goal:`, `<goal>`.
fn is_heading(line: &str) -> bool {
    let line = line.trim_end();
    let numbered = line.trim_start_matches(|char: char| char.is_ascii_digit());
    line.starts_with('#')
        || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"))
        || (numbered.len() < line.len() && numbered.starts_with(". ") && line.ends_with([':', '：']))
        || (line.starts_with('<') && !line.starts_with("</") && line.ends_with('>') && !line.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_shrink_from_their_ends() {
        let check = |room: Tokens, expect: &[&str]| {
            let summary = "Intro\n## Files\na.rs\nb.rs\nc.rs\nd.rs\n## Pending tasks\nship it\nannounce it\nrest\n";
            let kept = keep(summary, |part| part.len() as Tokens, room, 1);
            let kept: Vec<&str> = kept.iter().map(|range| &summary[range.start as usize..range.end as usize]).collect();
            assert_eq!(kept, expect, "{room}");
        };
        check(200, &["Intro\n## Files\na.rs\nb.rs\nc.rs\nd.rs\n## Pending tasks\nship it\nannounce it\nrest\n"]);
        check(67, &["Intro\n## Files\na.rs\n", "## Pending tasks\nship it\nannounce it\nrest\n"]);
        check(20, &["Intro\n## Files\na.rs\n", "## Pending tasks\nship it\n"]);
    }
}
