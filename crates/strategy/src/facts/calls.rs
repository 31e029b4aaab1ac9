//! Calls and what tools printed, paired.

use epitome_session::{Arguments, Content, Entry, Origin, Role, Unit};

use super::{Call, Facts, ToolOutput};
use crate::tools;
use crate::view::{BlockRef, EntryTokens};

impl<'a> Facts<'a> {
    pub(super) fn read_unit(&mut self, index: u32, unit: &Unit, tokens: &[EntryTokens]) {
        let first_call = self.calls.len();
        for position in unit.entries.clone() {
            let entry = &self.entries[position];
            let message = &entry.message;
            let at = |block: usize| BlockRef { message: position as u32, block: block as u32 };
            for (block, content) in message.blocks.iter().map(|block| &block.content).enumerate() {
                let (text, id, name, is_error) = match content {
                    Content::ToolCall(call) => {
                        self.calls.push(Call {
                            at: at(block),
                            unit: index,
                            name: &call.name,
                            kind: tools::kind(&call.name),
                            arguments: call.arguments.text(),
                            is_json: matches!(call.arguments, Arguments::Json(_)),
                            output: None,
                        });
                        continue;
                    }
                    Content::ToolResult(result) => {
                        (&result.text, Some(&result.call_id), result.name.as_deref(), result.is_error)
                    }
                    Content::Text { text } if message.origin == Origin::ToolOutput => {
                        (text, None, message.name.as_deref(), false)
                    }
                    Content::Text { .. }
                    | Content::Thinking(_)
                    | Content::Media(_)
                    | Content::Opaque(_)
                    | Content::Gone => continue,
                };
                let call = self.answered_by(first_call, id.map(AsRef::as_ref));
                if let Some(call) = call {
                    self.calls[call].output.get_or_insert(at(block));
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
                self.read_text_calls(index, position, entry);
            }
        }
    }

    fn read_text_calls(&mut self, unit: u32, position: usize, entry: &'a Entry) {
        // Ranges refer to the recorded text: they hold only while the block is untouched.
        for call in &entry.message.text_calls {
            let Some(Content::Text { text }) = entry.original.blocks.get(call.block as usize).map(|it| &it.content)
            else {
                continue;
            };
            let Some(arguments) = text.get(call.start as usize..call.end as usize) else { continue };
            self.calls.push(Call {
                at: BlockRef { message: position as u32, block: call.block },
                unit,
                name: &call.name,
                kind: tools::kind(&call.name),
                arguments,
                is_json: arguments.trim_start().starts_with('{'),
                output: None,
            });
        }
    }

    /// The first unanswered call of the unit, of that id where there is one.
    fn answered_by(&self, first_call: usize, id: Option<&str>) -> Option<usize> {
        (first_call..self.calls.len()).find(|call| {
            let call = &self.calls[*call];
            let same =
                match (id, &self.entries[call.at.message as usize].message.blocks[call.at.block as usize].content) {
                    (Some(id), Content::ToolCall(made)) => made.id.as_ref() == id,
                    (None, Content::Text { .. }) => true,
                    _ => false,
                };
            call.output.is_none() && same
        })
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
