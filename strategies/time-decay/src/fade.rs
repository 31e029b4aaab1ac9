//! What of a unit's texts leaves at which age.

use std::ops::Range;

use epitome_strategy::cut::{Focus, telling_lines};
use epitome_strategy::text::sentence_end;
use epitome_strategy::{BlockRef, Content, Edit, Message, Origin, Reason, Role, Tokens, UnitKind, Value, View};

use crate::{Settings, weight};

/// A cut of an argument must take away at least this many characters.
const LEAST_CHARS: usize = 100;

/// How strongly age takes hold of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fade {
    /// Not at all.
    Whole,
    /// Long tool outputs are cut.
    Light,
    /// All long texts are cut to a sentence or so.
    Medium,
    /// Texts are stubs.
    Heavy,
    /// It leaves.
    Dropped,
}

/// Cuts texts of a view.
pub(crate) struct Fader<'p, 'v> {
    pub(crate) view: &'p View<'v>,
    pub(crate) settings: &'p Settings,
}

/// One text that is to be cut, or the strings of one call.
struct Cut {
    at: BlockRef,
    /// Tokens that stay; 0 for a stub.
    budget: Tokens,
    kind: Kind,
    saving: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Output,
    Prose,
    Arguments,
}

impl Fader<'_, '_> {
    /// Tokens that a fade saves, rather too few than too many. Linear in the unit.
    pub(crate) fn saving(&self, unit: usize, fade: Fade) -> u64 {
        self.cuts(unit, fade).iter().map(|cut| cut.saving).sum()
    }

    /// The edits of a fade.
    pub(crate) fn edits(&self, unit: usize, fade: Fade, age: f64, focus: &Focus) -> Vec<Edit> {
        self.cuts(unit, fade).iter().filter_map(|cut| self.edit(cut, fade, age, focus)).collect()
    }

    fn cuts(&self, unit: usize, fade: Fade) -> Vec<Cut> {
        // A summary is as short already as it is to be; it is folded in when it leaves.
        let is_summary = self.view.units()[unit].kind == UnitKind::Summary;
        if fade == Fade::Whole || is_summary || !self.view.protection(unit).may_edit() {
            return Vec::new();
        }
        let mut cuts = Vec::new();
        for position in self.view.units()[unit].entries.clone() {
            let message = self.view.message(position);
            for block in 0..message.blocks.len() {
                let at = BlockRef { message: position as u32, block: block as u32 };
                cuts.extend(self.cut(message, at, fade));
            }
        }
        cuts
    }

    fn cut(&self, message: &Message, at: BlockRef, fade: Fade) -> Option<Cut> {
        let (kind, budget) = self.budget(message, at.block as usize, fade)?;
        let (tokens, mark) = (self.view.block_tokens(at), self.view.mark_tokens());
        if kind == Kind::Arguments {
            let saving = self.overlong(message, at)?;
            return Some(Cut { at, budget, kind, saving });
        }
        let stays = budget.max(mark);
        (tokens > stays + 2 * mark).then(|| Cut { at, budget, kind, saving: u64::from(tokens - stays) })
    }

    /// What a block is, and how much of it stays; `None` where it stays whole.
    fn budget(&self, message: &Message, block: usize, fade: Fade) -> Option<(Kind, Tokens)> {
        let (light, medium) = (self.settings.light_result_tokens, self.settings.medium_text_tokens);
        let is_output = message.role == Role::Tool || message.origin == Origin::ToolOutput;
        match &message.blocks[block].content {
            Content::ToolResult(_) | Content::Text { .. } if is_output => match fade {
                Fade::Whole => None,
                Fade::Light => Some((Kind::Output, light)),
                Fade::Medium => Some((Kind::Output, medium.min(light))),
                Fade::Heavy | Fade::Dropped => Some((Kind::Output, 0)),
            },
            // A call in plain text would be no call any more.
            Content::Text { .. } if message.text_calls.iter().any(|call| call.block as usize == block) => None,
            Content::Text { .. } | Content::Thinking(_) => {
                let is_cuttable = message.blocks[block].excerptable().is_some();
                match fade {
                    Fade::Medium if is_cuttable && !message.is_typed() => Some((Kind::Prose, medium)),
                    // What a person typed keeps a sentence: it says what the rest is about.
                    Fade::Heavy | Fade::Dropped if is_cuttable && message.is_typed() => Some((Kind::Prose, medium)),
                    Fade::Heavy | Fade::Dropped if is_cuttable => Some((Kind::Prose, 0)),
                    _ => None,
                }
            }
            Content::ToolCall(_) if fade >= Fade::Heavy && self.settings.max_argument_chars > 0 => {
                Some((Kind::Arguments, 0))
            }
            Content::ToolCall(_) | Content::ToolResult(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {
                None
            }
        }
    }

    /// Tokens that cutting the strings of a call saves, by their share of its characters.
    fn overlong(&self, message: &Message, at: BlockRef) -> Option<u64> {
        let call = message.blocks[at.block as usize].as_call()?;
        let text = call.arguments.text();
        let most = self.settings.max_argument_chars as usize;
        if text.len() <= most + LEAST_CHARS {
            return None;
        }
        let all = text.chars().count();
        let over = match text.parse::<Value>() {
            Ok(value) => overlong(&value, most),
            Err(_) => all.saturating_sub(most),
        };
        let share = over as f64 / all as f64;
        let saving = (f64::from(self.view.block_tokens(at)) * share) as Tokens;
        (over >= LEAST_CHARS).then(|| u64::from(saving.saturating_sub(self.view.mark_tokens()))).filter(|it| *it > 0)
    }

    fn edit(&self, cut: &Cut, fade: Fade, age: f64, focus: &Focus) -> Option<Edit> {
        let (code, how) = match fade {
            Fade::Whole | Fade::Light => ("aged-light", "lightly"),
            Fade::Medium => ("aged-medium", "to a sentence or so"),
            Fade::Heavy | Fade::Dropped => ("aged-heavy", "to a stub"),
        };
        let (message, block) = (cut.at.message, cut.at.block);
        if cut.kind == Kind::Arguments {
            let max_chars = self.settings.max_argument_chars;
            let detail = format!("{age:.1} half-lives old: arguments cut to {max_chars} characters");
            let reason = Reason::new(code, detail).with_score(weight(age));
            return Some(Edit::Trim { message, block, max_chars, reason });
        }
        let text = self.view.block(cut.at)?.excerptable()?;
        let keep = match cut.kind {
            Kind::Output => telling_lines(self.view, text, focus, cut.budget),
            Kind::Prose | Kind::Arguments => self.sentences(text, self.view.block_tokens(cut.at), cut.budget),
        };
        if keep.first().is_some_and(|range| range.len() == text.len()) {
            return None;
        }
        let how = if cut.budget > 0 && fade >= Fade::Heavy { "to a sentence or so" } else { how };
        let detail = format!("{age:.1} half-lives old: {} tokens cut {how}", self.view.block_tokens(cut.at));
        Some(Edit::Excerpt { message, block, keep, reason: Reason::new(code, detail).with_score(weight(age)) })
    }

    /// The first sentences of a text of `tokens` tokens that `budget` holds with the mark.
    fn sentences(&self, text: &str, tokens: Tokens, budget: Tokens) -> Vec<Range<u32>> {
        let room = budget.saturating_sub(self.view.mark_tokens());
        let mut bytes = text.len() as f64 * f64::from(room) / f64::from(tokens.max(1));
        // Tokens are not spread evenly: what does not fit is tried again a fifth shorter.
        for _ in 0..8 {
            let end = sentence_end(text, bytes as usize);
            if end == 0 {
                break;
            }
            if self.view.count(&text[..end]) <= room {
                return vec![0..end as u32];
            }
            bytes *= 0.8;
        }
        Vec::new()
    }
}

/// Characters beyond `most` in all strings of a value.
fn overlong(value: &Value, most: usize) -> usize {
    match value {
        Value::String(text) => text.chars().count().saturating_sub(most),
        Value::Array(items) => items.iter().map(|item| overlong(item, most)).sum(),
        Value::Object(fields) => fields.values().map(|field| overlong(field, most)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
