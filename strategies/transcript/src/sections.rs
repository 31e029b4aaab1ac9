//! Shortens a summary of an agent or a model by its sections, under its own headings.

use std::ops::Range;

use epitome_strategy::cut::{Section, sections};
use epitome_strategy::{BlockRef, Content, Tokens, View, text};

/// A section with what is left of it: its heading and the lines below it.
struct ShrinkingSection {
    lines: Vec<Range<usize>>,
    shrinks_last: bool,
    /// Lines that stay, from the first on.
    kept: usize,
}

/// Cuts the summary of a unit to about `room` tokens: the first lines of each section stay. Linear.
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

/// Returns what stays of a summary of more than `room` tokens.
fn keep(summary: &str, count: impl Fn(&str) -> Tokens, room: Tokens, mark: Tokens) -> Vec<Range<u32>> {
    let mut sections = shrinking(summary);
    let cost: Vec<Vec<Tokens>> = sections
        .iter()
        .map(|section| section.lines.iter().map(|line| count(&summary[line.clone()])).collect())
        .collect();
    let mut used: Tokens = cost.iter().flatten().sum();
    for last in [false, true] {
        // A line at a time leaves from the longest section of its kind, down to its heading and a line below it.
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

fn shrinking(summary: &str) -> Vec<ShrinkingSection> {
    let lines = |range: Range<usize>| {
        let shift = move |line: Range<usize>| line.start + range.start..line.end + range.start;
        text::lines(&summary[range.clone()]).map(shift).collect::<Vec<_>>()
    };
    let of = |section: Section| {
        let lines = lines(section.range);
        ShrinkingSection { kept: lines.len(), lines, shrinks_last: section.shrinks_last }
    };
    sections(summary).into_iter().map(of).collect()
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
