//! Facts: what several strategies need to know of a view, computed once.

use std::collections::HashMap;
use std::sync::OnceLock;

use epitome_session::{Arguments, Content, Entry, Origin, Role, Unit};
use serde_json::Value;

use crate::services::Tokens;
use crate::tools::{self, ToolKind};
use crate::view::{BlockRef, EntryTokens};

/// A tool call of a view.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Where it stands.
    pub at: BlockRef,
    /// The unit that holds it.
    pub unit: u32,
    /// The tool's name.
    pub name: &'a str,
    /// What the tool does.
    pub kind: ToolKind,
    /// The arguments' text.
    pub arguments: &'a str,
    /// Whether the arguments are recorded as JSON.
    pub is_json: bool,
    /// Its result, or for a call in plain text the output that followed.
    pub output: Option<BlockRef>,
}

impl Call<'_> {
    /// The arguments as JSON, where they are. Linear in the arguments, parsed on each call.
    pub fn json(&self) -> Option<Value> {
        self.is_json.then(|| serde_json::from_str(self.arguments).ok()).flatten()
    }
}

/// What a tool printed: a tool result, or a user-role message that carries one.
#[derive(Debug, Clone)]
pub struct ToolOutput<'a> {
    /// Where it stands.
    pub at: BlockRef,
    /// The unit that holds it.
    pub unit: u32,
    /// The call that it answers, as a position in [`Facts::calls`].
    pub call: Option<u32>,
    /// The tool's name; empty when unknown.
    pub tool: &'a str,
    /// The text as the model sees it.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: Tokens,
    /// Whether the tool reported an error.
    pub is_error: bool,
    /// Whether an earlier edit has excerpted it already.
    pub is_excerpted: bool,
    /// How many units with tool output come after its own: 0 for the newest.
    pub newer_tool_units: u32,
}

/// What a call did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// Read the whole file.
    ReadWhole,
    /// Read a part of it.
    ReadPart,
    /// Changed a part of it.
    Edit,
    /// Wrote it whole.
    Write,
}

/// A call that names one file.
#[derive(Debug, Clone)]
pub struct FileEvent {
    /// The path as the call spells it.
    pub path: String,
    /// What was done.
    pub access: FileAccess,
    /// The part that was read, as the call spells it; empty for a whole file.
    pub part: String,
    /// The call, as a position in [`Facts::calls`].
    pub call: u32,
    /// Whether the tool reported an error.
    pub failed: bool,
}

/// What several strategies need to know of a view. Each part is computed on first use, in time linear in the view.
#[derive(Debug)]
pub struct Facts<'a> {
    entries: &'a [Entry],
    calls: Vec<Call<'a>>,
    outputs: Vec<ToolOutput<'a>>,
    file_events: OnceLock<Vec<FileEvent>>,
    repeats: OnceLock<Vec<(u32, u32)>>,
}

impl<'a> Facts<'a> {
    pub(crate) fn build(entries: &'a [Entry], units: &'a [Unit], tokens: &'a [EntryTokens]) -> Self {
        let mut facts = Self {
            entries,
            calls: Vec::new(),
            outputs: Vec::new(),
            file_events: OnceLock::new(),
            repeats: OnceLock::new(),
        };
        for (index, unit) in units.iter().enumerate() {
            facts.read_unit(index as u32, unit, tokens);
        }
        facts.count_newer();
        facts
    }

    fn read_unit(&mut self, index: u32, unit: &Unit, tokens: &[EntryTokens]) {
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

    fn count_newer(&mut self) {
        let (mut newer, mut last_unit) = (0, None);
        for output in self.outputs.iter_mut().rev() {
            if last_unit.is_some_and(|unit| unit != output.unit) {
                newer += 1;
            }
            last_unit = Some(output.unit);
            output.newer_tool_units = newer;
        }
    }

    /// Every tool call, in order.
    pub fn calls(&self) -> &[Call<'a>] {
        &self.calls
    }

    /// Everything that tools printed, in order.
    pub fn outputs(&self) -> &[ToolOutput<'a>] {
        &self.outputs
    }

    /// Calls that read, change or write one file, in order.
    pub fn file_events(&self) -> &[FileEvent] {
        self.file_events.get_or_init(|| {
            let failed: HashMap<u32, bool> =
                self.outputs.iter().filter_map(|output| Some((output.call?, output.is_error))).collect();
            let event = |(index, call): (usize, &Call<'a>)| {
                let index = index as u32;
                file_events_of(call).into_iter().map(move |(path, access, part)| (path, access, part, index))
            };
            self.calls
                .iter()
                .enumerate()
                .flat_map(event)
                .map(|(path, access, part, call)| {
                    let failed = failed.get(&call).copied().unwrap_or(false);
                    FileEvent { path, access, part, call, failed }
                })
                .collect()
        })
    }

    /// Tool outputs whose text stands again, byte for byte, in a later output: pairs of positions in
    /// [`outputs`](Self::outputs), the earlier one first and the newest one with the same text second.
    pub fn repeats(&self) -> &[(u32, u32)] {
        self.repeats.get_or_init(|| {
            let mut newest: HashMap<&str, u32> = HashMap::new();
            let mut pairs = Vec::new();
            for (index, output) in self.outputs.iter().enumerate().rev() {
                match newest.get(output.text) {
                    Some(later) => pairs.push((index as u32, *later)),
                    None => {
                        newest.insert(output.text, index as u32);
                    }
                }
            }
            pairs.reverse();
            pairs
        })
    }
}

/// The files that a call names, with what it does to them.
fn file_events_of(call: &Call<'_>) -> Vec<(String, FileAccess, String)> {
    let access = match call.kind {
        ToolKind::Read => FileAccess::ReadWhole,
        ToolKind::Edit => FileAccess::Edit,
        ToolKind::Write => FileAccess::Write,
        ToolKind::Search
        | ToolKind::Shell
        | ToolKind::Web
        | ToolKind::Plan
        | ToolKind::Delegate
        | ToolKind::Lookup
        | ToolKind::Other => return Vec::new(),
    };
    let Some(json) = call.json() else {
        return tools::patch_paths(call.arguments)
            .map(|path| (path.to_owned(), FileAccess::Edit, String::new()))
            .collect();
    };
    if let Some(patch) = json.get("patch").or_else(|| json.get("input")).and_then(Value::as_str)
        && tools::path_argument(&json).is_none()
    {
        return tools::patch_paths(patch).map(|path| (path.to_owned(), FileAccess::Edit, String::new())).collect();
    }
    let Some(path) = tools::path_argument(&json) else { return Vec::new() };
    // One tool with sub-commands reads and writes in some agents.
    let access = match json.get("command").and_then(Value::as_str) {
        Some("view") => FileAccess::ReadWhole,
        Some("create") => FileAccess::Write,
        _ => access,
    };
    let part: String = ["offset", "limit", "start_line", "end_line", "view_range", "pages"]
        .iter()
        .filter_map(|key| Some(format!("{key}={} ", json.get(key).filter(|value| !value.is_null())?)))
        .collect();
    let access = if access == FileAccess::ReadWhole && !part.is_empty() { FileAccess::ReadPart } else { access };
    vec![(path.to_owned(), access, part)]
}
