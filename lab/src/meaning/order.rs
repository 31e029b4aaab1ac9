//! Whether text from after the newest typed message is behind it in the result.

use epitome::session::{Entry, Message, Role};
use epitome_eval::{EvalError, Patterns, append};

use super::line::{LEAST_LINE, plain};

/// The characters that identify a cut message.
const HEAD: usize = 100;

/// The newest typed message, and the lines that were said only after it.
#[derive(Debug)]
pub(super) struct Order {
    typed: String,
    later: Patterns,
    lines: usize,
}

impl Order {
    /// Linear in the view.
    pub(super) fn new(before: &[Entry]) -> Result<Self, EvalError> {
        let Some(at) = before.iter().rposition(|entry| entry.message.is_typed()) else {
            return Ok(Self { typed: String::new(), later: Patterns::new::<&str>(&[], false)?, lines: 0 });
        };
        let (front, behind) = before.split_at(at + 1);
        let long = |line: &String| line.chars().count() >= LEAST_LINE;
        let mut said = String::new();
        let messages = behind.iter().map(|entry| &*entry.message);
        messages.filter(|message| !message.is_system_prompt()).for_each(|message| append(message, &mut said));
        let lines: Vec<String> = said.lines().map(plain).filter(long).collect();
        let lines = super::line::unique(lines);
        let mut earlier = String::new();
        front.iter().for_each(|entry| append(&entry.message, &mut earlier));
        let known = Patterns::new(&lines, false)?.present(&plain(&earlier));
        let later: Vec<String> =
            lines.into_iter().zip(known).filter(|(_, is_known)| !is_known).map(|(line, _)| line).collect();
        let typed = plain(&before[at].message.plain_text());
        Ok(Self { typed, lines: later.len(), later: Patterns::new(&later, false)? })
    }

    /// How many of the later lines stand in front of the newest typed message; `None` where there are none, or where the
    /// result does not show the message. Linear in the result.
    pub(super) fn misplaced(&self, result: &[Entry]) -> Option<u32> {
        if self.lines == 0 || self.typed.is_empty() {
            return None;
        }
        let texts: Vec<String> = result.iter().map(|entry| text_of(&entry.message)).collect();
        let head: String = self.typed.chars().take(HEAD).collect();
        let is_user = |at: &usize| result[*at].message.role == Role::User;
        let newest = |wanted: &dyn Fn(&usize) -> bool| (0..texts.len()).rev().find(wanted);
        // A short message may occur by chance in a tool's output: its own place is searched first.
        let entry = newest(&|at| is_user(at) && texts[*at] == self.typed)
            .or_else(|| newest(&|at| is_user(at) && texts[*at].contains(&self.typed)))
            .or_else(|| newest(&|at| is_user(at) && texts[*at].contains(&head)))
            .or_else(|| newest(&|at| texts[*at].contains(&self.typed)))?;
        let within = texts[entry].rfind(&self.typed).or_else(|| texts[entry].rfind(&head)).unwrap_or(0);
        let mut front = texts[..entry].join("\n");
        front.push('\n');
        front.push_str(&texts[entry][..within]);
        Some(self.later.present(&front).iter().filter(|present| **present).count() as u32)
    }
}

/// What a message that is not a system prompt says, calls included.
fn text_of(message: &Message) -> String {
    if message.is_system_prompt() {
        return String::new();
    }
    let mut text = String::new();
    append(message, &mut text);
    plain(&text)
}
