//! Calls and what tools printed, paired.

use std::collections::VecDeque;

use epitome_session::{Arguments, Content, Entry, OpenCalls, Origin, Role, Unit};

use super::Facts;
use super::call::{Call, ToolOutput};
use crate::block::{BlockRef, EntryTokens};
use crate::commands::first_exit_code;
use crate::tools::{self, ToolKind};

/// The calls of a unit that have no result yet, as positions in [`Facts::calls`], oldest first.
#[derive(Default)]
struct UnansweredCalls {
    by_id: OpenCalls<usize>,
    /// Calls in plain text, which have no ids.
    in_text: VecDeque<usize>,
}

impl<'a> Facts<'a> {
    pub(super) fn read_unit(&mut self, index: u32, unit: &Unit, tokens: &[EntryTokens]) {
        let mut unanswered = UnansweredCalls::default();
        for position in unit.entries.clone() {
            let entry = &self.entries[position];
            let message = &entry.message;
            let at = |block: usize| BlockRef { message: position as u32, block: block as u32 };
            for (block, content) in message.blocks.iter().map(|block| &block.content).enumerate() {
                let (text, call, name, is_error) = match content {
                    Content::ToolCall(call) => {
                        unanswered.by_id.open(position, call, self.calls.len());
                        self.calls.push(Call {
                            at: at(block),
                            unit: index,
                            name: &call.name,
                            kind: tools::kind(&call.name),
                            arguments: call.arguments.text(),
                            is_json: matches!(call.arguments, Arguments::Json(_)),
                            output: None,
                            failed: None,
                        });
                        continue;
                    }
                    Content::ToolResult(result) => {
                        let call = unanswered.by_id.answer(result).map(|(_, call)| call);
                        (&result.text, call, result.name.as_deref(), result.is_error)
                    }
                    Content::Text { text } if message.origin == Origin::ToolOutput => {
                        (text, unanswered.in_text.pop_front(), message.name.as_deref(), false)
                    }
                    Content::Text { .. }
                    | Content::Thinking(_)
                    | Content::Media(_)
                    | Content::Opaque(_)
                    | Content::Gone => continue,
                };
                if let Some(call) = call {
                    let call = &mut self.calls[call];
                    let exited = || call.kind == ToolKind::Shell && first_exit_code(text).is_some_and(|code| code != 0);
                    call.failed = Some(is_error || exited());
                    call.output = Some(at(block));
                }
                self.outputs.push(ToolOutput {
                    at: at(block),
                    unit: index,
                    call: call.map(|call| call as u32),
                    tool: call.map(|call| self.calls[call].name).or(name).unwrap_or(""),
                    text,
                    tokens: tokens[position].blocks[block],
                    is_error,
                    is_excerpted: entry.excerpt(block as u32).is_some(),
                    newer_tool_units: 0,
                });
            }
            if message.role == Role::Assistant {
                self.read_text_calls(index, position, entry, &mut unanswered);
            }
        }
    }

    fn read_text_calls(&mut self, unit: u32, position: usize, entry: &'a Entry, unanswered: &mut UnansweredCalls) {
        // Ranges refer to the recorded text: they are valid only while the block is unchanged.
        for call in &entry.message.text_calls {
            let Some(Content::Text { text }) = entry.original.blocks.get(call.block as usize).map(|it| &it.content)
            else {
                continue;
            };
            let Some(arguments) = text.get(call.start as usize..call.end as usize) else { continue };
            // An edit may have removed the text: then no later text answers the call.
            let shown = entry.message.blocks.get(call.block as usize).map(|it| &it.content);
            if matches!(shown, Some(Content::Text { .. })) {
                unanswered.in_text.push_back(self.calls.len());
            }
            self.calls.push(Call {
                at: BlockRef { message: position as u32, block: call.block },
                unit,
                name: &call.name,
                kind: tools::kind(&call.name),
                arguments,
                is_json: arguments.trim_start().starts_with('{'),
                output: None,
                failed: None,
            });
        }
    }

    pub(super) fn count_newer(&mut self) {
        let (mut newer, mut last_unit) = (0, None);
        for output in self.outputs.iter_mut().rev() {
            if last_unit.is_some_and(|unit| unit != output.unit) {
                newer += 1;
            }
            last_unit = Some(output.unit);
            output.newer_tool_units = newer;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use epitome_session::{Block, Message, Session, ToolCall, ToolResult, units};

    use super::*;
    use crate::lexicon::Lexicon;

    /// Returns which call each result of one step answers: the calls have the ids `ids`, the results `answers`.
    fn match_answers(ids: &[u32], answers: &[u32]) -> Vec<Option<u32>> {
        let call = |id: &u32| {
            let id = Arc::from(format!("c{id}"));
            Block::new(Content::ToolCall(ToolCall { id, name: "Read".into(), arguments: Arguments::Json("{}".into()) }))
        };
        let result = |id: &u32| {
            let call_id = Arc::from(format!("c{id}"));
            let text = "x".into();
            Message::result("", ToolResult { call_id, name: None, text, attachments: Vec::new(), is_error: false })
        };
        let mut session = Session::new();
        session.push(Message::new("", Role::Assistant, Origin::Model, ids.iter().map(call).collect()));
        session.extend(answers.iter().map(result));
        let entries = session.view();
        let tokens = |entry: &Entry| EntryTokens { total: 0, blocks: vec![0; entry.message.blocks.len()] };
        let tokens: Vec<EntryTokens> = entries.iter().map(tokens).collect();
        let units = units(entries);
        let facts = Facts::build(entries, &units, &tokens, Lexicon::shipped());
        let given: BTreeMap<_, _> = facts.outputs().iter().map(|output| (output.at, output.call)).collect();
        for (index, call) in facts.calls().iter().enumerate() {
            assert_eq!(call.output.and_then(|at| given[&at]), call.output.map(|_| index as u32), "both ways");
        }
        facts.outputs().iter().map(|output| output.call).collect()
    }

    #[test]
    fn results_find_their_calls() {
        let check = |ids: &[u32], answers: &[u32], expect: &[Option<u32>]| {
            assert_eq!(match_answers(ids, answers), expect, "{ids:?} answered by {answers:?}");
        };
        check(&[1, 2, 3], &[1, 2, 3], &[Some(0), Some(1), Some(2)]);
        check(&[1, 2, 3], &[3, 1], &[Some(2), Some(0)]);
        check(&[1, 1, 2], &[1, 2, 1], &[Some(0), Some(2), Some(1)]);
        check(&[1], &[1, 1], &[Some(0), None]);
        let many: Vec<u32> = (0..2_000).collect();
        let backwards: Vec<u32> = many.iter().rev().copied().collect();
        check(&many, &backwards, &backwards.iter().copied().map(Some).collect::<Vec<_>>());
        check(&[7; 2_000], &[7; 2_000], &many.iter().copied().map(Some).collect::<Vec<_>>());
    }
}
