//! Fills the budget with the most valuable lines, and writes them.

use std::collections::{HashMap, HashSet};

use epitome_strategy::{SummaryTask, Tokens};

use super::lines::{Line, SummarySection, clip};
use super::wording::heading;

/// Below this budget sections are one line each, with their heading in front.
const INLINE_BELOW: Tokens = 120;

/// The layout of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SummaryLayout {
    Sections,
    Inline,
}
/// The factor for the value of each further line of a section: sections share the room.
const DECAY: f32 = 0.93;
/// The number of lines in a row that may be too long for the rest of the room before the choice ends.
const MOST_MISSES: u32 = 100;

/// The summary: at most `max_tokens` by the task's counter, empty when nothing fits.
pub(crate) fn fill(lines: Vec<Line>, task: &SummaryTask<'_>) -> String {
    let budget = task.request.max_tokens;
    let layout = match budget {
        ..INLINE_BELOW => SummaryLayout::Inline,
        INLINE_BELOW.. => SummaryLayout::Sections,
    };
    let lines = rank(lines, task);
    let mut used = 0;
    let mut headings: HashSet<SummarySection> = HashSet::new();
    let mut chosen: Vec<Line> = Vec::new();
    let mut misses = 0;
    for (line, tokens_of_line) in &lines {
        let is_new = !headings.contains(&line.section);
        let head = if is_new { task.counter.count(heading(line.section, task.language)) + 2 } else { 0 };
        let tokens = tokens_of_line + 1 + Tokens::from(layout == SummaryLayout::Sections) + head;
        if used + tokens > budget {
            misses += 1;
            if misses == MOST_MISSES {
                break;
            }
            continue;
        }
        misses = 0;
        headings.insert(line.section);
        used += tokens;
        chosen.push(line.clone());
    }
    // The estimate above is generous; the count of the text itself decides.
    loop {
        let text = write(&chosen, task, layout);
        if task.counter.count(&text) <= budget {
            return if chosen.is_empty() { shortest(&lines, task) } else { text };
        }
        chosen.pop();
    }
}

/// Sorts lines by what they are worth for their length and their place in their section, best first; ties go to the
/// newer. Each comes with its tokens.
fn rank(lines: Vec<Line>, task: &SummaryTask<'_>) -> Vec<(Line, Tokens)> {
    let counted = lines.into_iter().map(|mut line| {
        let tokens = task.counter.count(&line.text);
        // A line of 16 tokens is the measure; one of 100 must be worth nearly twice as much.
        line.value *= (32.0 / (16.0 + tokens as f32)).powf(0.35);
        (line, tokens)
    });
    let mut lines: Vec<(Line, Tokens)> = counted.collect();
    let newest_best =
        |(a, _): &(Line, Tokens), (b, _): &(Line, Tokens)| b.value.total_cmp(&a.value).then(b.order.cmp(&a.order));
    lines.sort_by(newest_best);
    let mut places: HashMap<SummarySection, i32> = HashMap::new();
    for (line, _) in &mut lines {
        let place = places.entry(line.section).or_default();
        line.value *= DECAY.powi(*place);
        *place += 1;
    }
    lines.sort_by(newest_best);
    lines
}

/// The best line that can be cut to fit on its own.
fn shortest(lines: &[(Line, Tokens)], task: &SummaryTask<'_>) -> String {
    let fits = |text: &String| task.counter.count(text) <= task.request.max_tokens;
    let cut = |line: &Line| {
        let widths = [160, 120, 90, 60, 40, 24];
        let named = |text: String| format!("{}: {text}", heading(line.section, task.language));
        widths.into_iter().filter_map(|width| clip(&line.text, width).map(named)).find(fits)
    };
    lines.iter().map(|(line, _)| line).take(20).find_map(cut).unwrap_or_default()
}

fn write(chosen: &[Line], task: &SummaryTask<'_>, layout: SummaryLayout) -> String {
    let mut sorted: Vec<&Line> = chosen.iter().collect();
    sorted.sort_by_key(|line| (line.section, line.order));
    let mut text = String::new();
    let mut section = None;
    for line in sorted {
        let is_new = section != Some(line.section);
        let name = heading(line.section, task.language);
        let gap = if text.is_empty() { "" } else { "\n" };
        match (layout, is_new) {
            (SummaryLayout::Inline, true) => text.push_str(&format!("{gap}{name}: {}", line.text)),
            (SummaryLayout::Inline, false) => text.push_str(&format!("; {}", line.text)),
            (SummaryLayout::Sections, true) => text.push_str(&format!("## {name}\n- {}\n", line.text)),
            (SummaryLayout::Sections, false) => text.push_str(&format!("- {}\n", line.text)),
        }
        section = Some(line.section);
    }
    text.truncate(text.trim_end().len());
    text
}
