//! How much of a unit's texts leaves at which age.

use std::cell::RefCell;
use std::collections::HashMap;

use epitome_strategy::cut::{Focus, argument_saving, informative_lines, whole_sentences};
use epitome_strategy::{BlockRef, Content, Edit, Message, Origin, Reason, Role, Tokens, UnitKind, View};

use crate::{Settings, weight};

/// Tokens that a text keeps when it is cut to a sentence or so. Chosen by hand, not measured: room for one long sentence, of about
/// 45 English words.
const SENTENCE_TOKENS: Tokens = 60;

/// How strongly age affects a unit.
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
    settings: &'p Settings,
    /// The savings from cutting the arguments of each call: reading them is most of the work, and every half-life needs
    /// them.
    of_arguments: RefCell<HashMap<BlockRef, u64>>,
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

impl<'p, 'v> Fader<'p, 'v> {
    pub(crate) fn new(view: &'p View<'v>, settings: &'p Settings) -> Self {
        Self { view, settings, of_arguments: RefCell::default() }
    }

    /// Returns the tokens that a fade saves, rather too few than too many. Linear in the unit.
    pub(crate) fn saving(&self, unit: usize, fade: Fade) -> u64 {
        self.cuts(unit, fade).iter().map(|cut| cut.saving).sum()
    }

    /// Returns the edits of a fade.
    pub(crate) fn edits(&self, unit: usize, fade: Fade, age: f64, focus: &Focus) -> Vec<Edit> {
        self.cuts(unit, fade).iter().filter_map(|cut| self.edit(cut, fade, age, focus)).collect()
    }

    fn cuts(&self, unit: usize, fade: Fade) -> Vec<Cut> {
        // A summary is as short already as it should be; it is folded in when it leaves.
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
            let read = || u64::from(argument_saving(self.view, at, self.settings.max_argument_chars));
            let saving = *self.of_arguments.borrow_mut().entry(at).or_insert_with(read);
            return (saving > 0).then_some(Cut { at, budget, kind, saving });
        }
        let stays = budget.max(mark);
        (tokens > stays + 2 * mark).then(|| Cut { at, budget, kind, saving: u64::from(tokens - stays) })
    }

    /// Returns the kind of a block, and how much of it stays; `None` where it stays whole.
    fn budget(&self, message: &Message, block: usize, fade: Fade) -> Option<(Kind, Tokens)> {
        let (light, medium) = (self.settings.light_result_tokens, SENTENCE_TOKENS);
        let is_output = message.role == Role::Tool || message.origin == Origin::ToolOutput;
        match &message.blocks[block].content {
            Content::ToolResult(_) | Content::Text { .. } if is_output => match fade {
                Fade::Whole => None,
                Fade::Light => Some((Kind::Output, light)),
                Fade::Medium => Some((Kind::Output, medium.min(light))),
                Fade::Heavy | Fade::Dropped => Some((Kind::Output, 0)),
            },
            // A call in plain text would not be a call any more.
            Content::Text { .. } if message.text_calls.iter().any(|call| call.block as usize == block) => None,
            Content::Text { .. } | Content::Thinking(_) => {
                let is_cuttable = message.blocks[block].excerptable().is_some();
                match fade {
                    Fade::Medium if is_cuttable && !message.is_typed() => Some((Kind::Prose, medium)),
                    // Typed text keeps a sentence: it names the subject of the rest.
                    Fade::Heavy | Fade::Dropped if is_cuttable && message.is_typed() => Some((Kind::Prose, medium)),
                    Fade::Heavy | Fade::Dropped if is_cuttable => Some((Kind::Prose, 0)),
                    _ => None,
                }
            }
            Content::ToolCall(_) if fade >= Fade::Heavy => Some((Kind::Arguments, 0)),
            Content::ToolCall(_) | Content::ToolResult(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {
                None
            }
        }
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
            Kind::Output => informative_lines(self.view, text, focus, cut.budget).keep,
            Kind::Prose | Kind::Arguments => {
                whole_sentences(self.view, text, self.view.block_tokens(cut.at), cut.budget, 0.0)
            }
        };
        if keep.first().is_some_and(|range| range.len() == text.len()) {
            return None;
        }
        let how = if cut.budget > 0 && fade >= Fade::Heavy { "to a sentence or so" } else { how };
        let detail = format!("{age:.1} half-lives old: {} tokens cut {how}", self.view.block_tokens(cut.at));
        Some(Edit::Excerpt { message, block, keep, reason: Reason::new(code, detail).with_score(weight(age)) })
    }
}
