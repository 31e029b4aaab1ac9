//! The state that an earlier compaction told: where its calls are in no message any more, its own lines are what is known.

use epitome_session::heading::{state_heading, without_notes};
use epitome_session::{Content, Language, Message, Origin};

use super::edited::EditedFiles;
use super::plan::{PlanItem, Progress};
use super::running::Running;
use super::{APPROVED, BEGUN, DONE, EDITED, EDITED_SINCE_COMMIT, MORE, RUNS, SINCE, TO_DO, WorkState};

/// Returns the state that the newest text of a compaction tells, and the message of that text. Linear in the texts of
/// compactions.
pub(super) fn newest<'m>(
    messages: impl DoubleEndedIterator<Item = (usize, &'m Message)>,
) -> Option<(usize, WorkState)> {
    messages.rev().filter(|(_, message)| matches!(message.origin, Origin::Summary | Origin::Notice)).find_map(
        |(at, message)| {
            let text = |content: &'m Content| if let Content::Text { text } = content { Some(&**text) } else { None };
            let mut texts = message.blocks.iter().rev().filter_map(|block| text(&block.content));
            texts.find_map(read).map(|state| (at, state))
        },
    )
}

/// Reads the section at the end of a text; `None` where there is none. What a tool printed in its form is not there: it is escaped,
/// or something stands behind it.
fn read(text: &str) -> Option<WorkState> {
    let notes = &text[without_notes(text).len()..];
    [Language::English, Language::Chinese].into_iter().find_map(|language| {
        let mut section = notes.lines().skip_while(|line| line.trim_end() != state_heading(language));
        section.next()?;
        let mut state = WorkState::default();
        let mut all = 0;
        for line in section.map_while(|line| line.strip_prefix("- ")) {
            all = all.max(read_line(&mut state, line, language));
        }
        // Of what is not named the number is known.
        let unnamed = |progress| PlanItem { text: String::new(), progress };
        state.plan.extend((state.plan.len()..all).map(|_| unnamed(Progress::Open)));
        state.running.reverse();
        state.edited.files.reverse();
        Some(state)
    })
}

/// Reads a line as [`WorkState::lines`] writes it; one that was cut or is of another kind says nothing. Returns how many items the
/// plan has, where the line says so.
fn read_line(state: &mut WorkState, line: &str, language: Language) -> usize {
    let behind = |words: [&'static str; 2]| line.strip_prefix(language.pick(words[0], words[1]));
    if let Some(rest) = behind(RUNS) {
        let (id, rest) = rest.split_once(" · ").map_or((None, rest), |(id, rest)| (Some(id.to_owned()), rest));
        if let Some((tool, what)) = rest.split_once(": ") {
            state.running.push(Running { id, tool: tool.to_owned(), what: what.to_owned() });
        }
    } else if let Some(rest) = behind(APPROVED) {
        let since = language.pick(SINCE[0], SINCE[1]);
        state.wrote_since = rest.starts_with(since);
        let rest = rest.strip_prefix(since).unwrap_or(rest);
        state.approved = Some(rest.trim_start_matches([':', '：', ' ']).to_owned());
    } else if let Some(rest) = behind(EDITED_SINCE_COMMIT).or_else(|| behind(EDITED)) {
        let more = language.pick(MORE[0], MORE[1]);
        let named = rest.rsplit_once(more).map_or(rest, |(named, _)| named);
        let files = named.split(", ").filter(|file| !file.is_empty() && !file.ends_with('…')).map(str::to_owned);
        state.edited = EditedFiles { files: files.collect(), since_commit: behind(EDITED_SINCE_COMMIT).is_some() };
    } else if let Some(text) = behind(BEGUN) {
        state.plan.push(PlanItem { text: text.to_owned(), progress: Progress::Begun });
    } else if let Some(text) = behind(TO_DO) {
        state.plan.push(PlanItem { text: text.to_owned(), progress: Progress::Open });
    } else if let Some(rest) = behind(DONE) {
        // What is done is known by its number.
        let numbers = rest.split(|char: char| !char.is_ascii_digit()).filter_map(|word| word.parse::<usize>().ok());
        let [first, second] = [0, 1].map(|at| numbers.clone().nth(at).unwrap_or(0).min(MOST_ITEMS));
        let (done, all) = language.pick((first, second), (second, first));
        state.plan.extend((0..done).map(|_| PlanItem { text: String::new(), progress: Progress::Done }));
        return all;
    }
    0
}

/// Items that a plan can have, as its line says: more are a mistake.
const MOST_ITEMS: usize = 1_000;
