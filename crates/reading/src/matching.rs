//! What the next edits must match: how likely each line that a tool printed or was given is to be among it.
//!
//! An edit names the text that it replaces to the letter. Which lines these will be follows little from their words, and much from
//! where they stand: in a file that was touched lately, as it was last read or written, near the ends of a passage, not printed
//! again. The weights are fitted on lines that later calls of recorded sessions did have to match (`tools/matching`);
//! `docs/research/matching.md` has what they are worth on repositories that they were not fitted on.

use std::collections::HashMap;

use epitome_strategy::keys::{KeyMap, key_of};
use epitome_strategy::tools::ToolKind;
use epitome_strategy::transcript::Sign;

use crate::actions::file_of;
use crate::passage::{Action, Passage, PassageKind};
use crate::source::Source;

/// What a line is known by, in this order: whether it is text that a change put in, and whether a read, a search or another command (of
/// those that do not just show a file) printed it; the messages since a call last named its file; the lines in front of it and behind
/// it in its passage; how many lines have the same text; whether one of them is newer. Numbers are logarithms, those that may be 0 of
/// one more.
pub type Features = [f32; 9];

/// The first of the features that tell of other lines with the same text; those in front of it are of the line's place.
const COPIES: usize = 7;

/// The weights that `tools/matching/table.py` printed.
const WEIGHTS: Features = [1.12, 0.34, -1.38, -1.29, -0.39, -0.10, -0.09, -0.31, 0.23];

/// Returns for each line of a tool its number and its features: none where no call has named a file, for then there is nothing to
/// edit. Linear in the session.
pub fn features(source: &Source) -> Vec<(u32, Features)> {
    let files: Vec<Option<u64>> = source.actions.iter().map(|action| file_of(source, action)).collect();
    let touched: HashMap<u64, u32> =
        files.iter().zip(&source.actions).filter_map(|(file, action)| Some(((*file)?, action.message))).collect();
    if touched.is_empty() {
        return Vec::new();
    }
    let message_of = |line: u32| source.passages[source.lines[line as usize].passage as usize].message;
    let keys: Vec<u64> = source.lines.iter().map(|line| key_of(line.text().trim().bytes())).collect();
    // How many lines have a text, and the newest message that has it.
    let mut copies: KeyMap<(u32, u32)> = KeyMap::default();
    for (line, key) in (0..).zip(&keys) {
        let (count, newest) = copies.entry(*key).or_default();
        (*count, *newest) = (*count + 1, message_of(line));
    }
    let mut rows = Vec::with_capacity(source.lines.len());
    for passage in source.passages.iter().filter(|passage| is_of_tool(passage)) {
        let action = passage.action.map(|action| &source.actions[action as usize]);
        let file = passage.action.and_then(|action| files[action as usize]);
        if file.is_none() && action.is_some_and(only_looks) {
            continue;
        }
        let mut of_passage = Features::default();
        if let Some(kind) = kind_of(source, passage, action) {
            of_passage[kind] = 1.0;
        }
        let newest = file.and_then(|file| touched.get(&file)).copied().unwrap_or(0);
        of_passage[4] = logarithm(source.messages.saturating_sub(newest));
        for line in passage.lines.clone() {
            let mut row = of_passage;
            let (count, newest) = copies.get(&keys[line as usize]).copied().unwrap_or((1, passage.message));
            row[5] = logarithm(line - passage.lines.start);
            row[6] = logarithm(passage.lines.end - 1 - line);
            row[COPIES] = (count as f32).ln();
            row[COPIES + 1] = f32::from(newest > passage.message);
            rows.push((line, row));
        }
    }
    rows
}

/// Returns the lines of tools that the next edits may have to match, each with its chance, as a share of that of all: of those for
/// which `stands` holds, and of lines with the same text only the likeliest, for one is enough. Linear in the session.
pub(crate) fn chances(source: &Source, stands: impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
    let odds = |row: &Features| row.iter().zip(&WEIGHTS).map(|(feature, weight)| feature * weight).sum::<f32>().exp();
    // For each text the line, its odds, and those of its place, by which copies are compared.
    let mut likeliest: KeyMap<(u32, f32, f32)> = KeyMap::default();
    for (line, row) in features(source) {
        let known = &source.lines[line as usize];
        if known.sign == Sign::Old || !stands(line) {
            continue;
        }
        let mut place = row;
        place[COPIES..].fill(0.0);
        let found = (line, odds(&row), odds(&place));
        let best = likeliest.entry(key_of(known.text().trim().bytes())).or_insert(found);
        if found.2 > best.2 {
            *best = found;
        }
    }
    let mut chances: Vec<(u32, f32)> = likeliest.into_values().map(|(line, odds, _)| (line, odds)).collect();
    chances.sort_unstable_by_key(|(line, _)| *line);
    let sum: f32 = chances.iter().map(|(_, odds)| odds).sum();
    chances.iter_mut().for_each(|(_, odds)| *odds /= sum);
    chances
}

/// Whether a command changes nothing: of what it prints, where it names no file, next to nothing is ever matched.
fn only_looks(action: &Action) -> bool {
    action.kind == ToolKind::Shell && action.is_reading()
}

fn is_of_tool(passage: &Passage) -> bool {
    matches!(passage.kind, PassageKind::Output | PassageKind::Argument)
}

/// Returns the position among the features of what a passage is, where it is one of them.
fn kind_of(source: &Source, passage: &Passage, action: Option<&Action>) -> Option<usize> {
    let first = &source.lines[passage.lines.start as usize];
    match (passage.kind, action) {
        // What a failed edit would have put in stands nowhere.
        (PassageKind::Argument, action) => {
            (first.sign == Sign::New && action.is_none_or(|action| !action.has_failed())).then_some(0)
        }
        (_, Some(action)) => match action.kind {
            ToolKind::Read => Some(1),
            ToolKind::Search => Some(2),
            ToolKind::Edit | ToolKind::Write => None,
            ToolKind::Shell if only_looks(action) => None,
            _ => Some(3),
        },
        (_, None) => Some(3),
    }
}

fn logarithm(count: u32) -> f32 {
    (count as f32).ln_1p()
}

#[cfg(test)]
mod tests {
    use epitome_strategy::{Language, View};
    use epitome_testkit::{FakeCounter, session};

    use super::*;
    use crate::summaries::SummaryForm;

    fn source_of(fixture: &str) -> Source {
        let messages: Vec<_> = session(fixture).log().to_vec();
        View::read_messages(&messages, &FakeCounter, Language::English, |view| {
            Source::read(view, |_| SummaryForm::default())
        })
    }

    /// The likeliest of the lines comes first.
    #[track_caller]
    fn check(fixture: &str, in_order: &[&str]) {
        let source = source_of(fixture);
        let chances = chances(&source, |_| true);
        let of = |part: &str| {
            let holds = |(line, _): &&(u32, f32)| source.lines[*line as usize].text().contains(part);
            chances.iter().filter(holds).map(|(_, chance)| *chance).fold(f32::NAN, f32::max)
        };
        for pair in in_order.windows(2) {
            assert!(of(pair[0]) > of(pair[1]), "{pair:?}: {} and {}", of(pair[0]), of(pair[1]));
        }
        let sum: f32 = chances.iter().map(|(_, chance)| chance).sum();
        assert!((sum - 1.0).abs() < 1e-4, "all chances make {sum}");
    }

    fn read(id: &str, path: &str, line: &str) -> String {
        format!(
            "assistant: I look.\ncall Read {id} {{\"file_path\":\"{path}\"}}\nresult {id}:\n  head of {id}\n  {line}\n  foot of {id}\n"
        )
    }

    #[test]
    fn a_file_that_was_touched_lately_comes_first() {
        let old = read("a", "src/old.rs", "let stale = 1;");
        check(&format!("user: go\n{old}{}", read("b", "src/new.rs", "let fresh = 2;")), &["let fresh", "let stale"]);
    }

    #[test]
    fn what_a_change_put_in_comes_before_what_a_search_found() {
        let edit = "assistant: I edit.\ncall Edit e {\"file_path\":\"src/new.rs\",\"old_string\":\"let fresh = 2;\",\"new_string\":\"let changed = 3;\\nlet further = 4;\"}\nresult e: ok\n";
        let search = "assistant: I search.\ncall Grep g {\"pattern\":\"changed\"}\nresult g:\n  src/a.rs: changed here\n  src/b.rs: changed there\n";
        check(
            &format!("user: go\n{}{edit}{search}", read("b", "src/new.rs", "let fresh = 2;")),
            &["let further", "changed there"],
        );
    }

    #[test]
    fn what_is_printed_again_and_again_comes_last() {
        let again: String = ["a", "b", "c", "d"].iter().map(|id| read(id, "src/new.rs", "use the_same;")).collect();
        let once = read("e", "src/new.rs", "let only_here = 1;");
        check(&format!("user: go\n{again}{once}"), &["let only_here", "use the_same"]);
    }

    #[test]
    fn of_the_same_text_only_the_likeliest_counts() {
        let source = source_of(&format!(
            "user: go\n{}{}",
            read("a", "src/old.rs", "let same = 1;"),
            read("b", "src/new.rs", "let same = 1;")
        ));
        let holding: Vec<u32> =
            (0..).zip(&source.lines).filter(|(_, line)| line.text().contains("same")).map(|it| it.0).collect();
        let given = |stands: &dyn Fn(u32) -> bool| {
            let chances = chances(&source, stands);
            chances.iter().map(|(line, _)| *line).filter(|line| holding.contains(line)).collect::<Vec<_>>()
        };
        assert_eq!(given(&|_| true), [holding[1]]);
        assert_eq!(given(&|line| line != holding[1]), [holding[0]]);
    }

    #[test]
    fn where_no_file_was_named_nothing_is_matched() {
        assert!(features(&source_of("user: what is the weather\nassistant: I ask.\ncall weather w {\"city\":\"Ghent\"}\nresult w: rain\nassistant: It rains.\n")).is_empty());
    }
}
