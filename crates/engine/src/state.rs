//! The state of the work, behind the last text of a compaction: what runs, the newest plan, what is not committed.

use epitome_session::Language;
use epitome_session::heading::state_heading;
use epitome_strategy::Tokens;
use epitome_strategy::state::WorkState;

use crate::context::Context;
use crate::editor::Editor;

pub(crate) const STATE: &str = "state";

/// The largest share of the target, as a divisor, that the state may take.
const PART: Tokens = 33;

/// Tokens that it may take of any target: what runs is lost for good where its id is.
const LEAST: Tokens = 80;

/// The widths of its lines in columns, one after another where there is no room: an id is worth more than all of a command.
const WIDTHS: [usize; 3] = [160, 80, 48];

/// The lines of a state, as many as a target has room for.
#[derive(Debug, Default)]
pub(crate) struct StateLines {
    lines: Vec<String>,
    /// The tokens that they take with their heading.
    pub tokens: Tokens,
}

impl StateLines {
    /// Reads the state of a session's branch, for a compaction to `target` tokens. Linear in the log.
    pub(crate) fn read(context: &Context<'_>, target: Tokens) -> Self {
        let state = WorkState::read(&context.session.standing_log());
        let most = (target / PART).max(LEAST);
        let section = section(context.language);
        let fitting = |lines: Vec<String>| {
            let tokens = context.counter.count(&section(&lines));
            (tokens <= most).then_some(Self { lines, tokens })
        };
        let wide = WIDTHS.into_iter().map(|width| state.lines(context.language, width));
        let short = state.lines(context.language, WIDTHS[WIDTHS.len() - 1]);
        // In the end what matters least leaves.
        let shorter = (1..short.len()).rev().map(|count| short[..count].to_vec());
        wide.chain(shorter).filter(|lines| !lines.is_empty()).find_map(fitting).unwrap_or_default()
    }
}

impl Editor<'_> {
    /// Puts the state behind the last text of this compaction that has room for it, while the view takes no more than `most`
    /// tokens and the text saves some. Where no text was written, the messages themselves tell.
    pub(crate) fn append_state(&mut self, state: &StateLines, most: Tokens) {
        self.working.end_pass();
        for (index, _) in self.own_texts().into_iter().rev() {
            if self.append(index, &state.lines, section(self.context.language), most).is_some() {
                return;
            }
        }
    }
}

/// Returns the text of lines under their heading.
fn section(language: Language) -> impl Fn(&[String]) -> String {
    move |lines| format!("{}\n{}", state_heading(language), lines.join("\n"))
}
