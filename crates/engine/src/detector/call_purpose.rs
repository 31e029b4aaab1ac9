//! The purpose of a call: of a call of the view, or of one in a line of a transcript.

use epitome_strategy::commands::script_in;
use epitome_strategy::tools::{self, ToolKind};
use epitome_strategy::transcript::{Rows, Sign};
use epitome_strategy::{Call, Value};

/// The parts of a call from which the kind of task is detected.
#[derive(Debug)]
pub(super) struct CallPurpose<'a> {
    pub(super) kind: ToolKind,
    arguments: &'a str,
    json: Option<Value>,
    /// The command and path that a transcript names, where the arguments are not recorded.
    transcribed: Option<TranscribedCall>,
}

/// A call as a transcript shows it.
#[derive(Debug)]
struct TranscribedCall {
    command: String,
    path: Option<String>,
}

impl<'a> CallPurpose<'a> {
    pub(super) fn of_call(call: &Call<'a>) -> Self {
        // Of other calls the tool says enough.
        let is_read = matches!(call.kind, ToolKind::Edit | ToolKind::Write | ToolKind::Shell);
        let json = if is_read { call.json() } else { None };
        Self { kind: call.kind, arguments: call.arguments, json, transcribed: None }
    }

    /// Returns the call of a transcript's line, with the arguments below it.
    pub(super) fn of_record(name: &str, head: &'a str, arguments: &[(Sign, Rows)]) -> Self {
        let further = arguments.iter().filter(|(sign, _)| *sign == Sign::Plain).map(|(_, rows)| rows.text());
        let command: Vec<String> = std::iter::once(head.to_owned()).chain(further).collect();
        let kind = tools::kind(name);
        // A command is not the name of a file, though it may have a dot.
        let names_file = matches!(kind, ToolKind::Edit | ToolKind::Write);
        let path = head.split(" | ").find(|part| names_file && part.contains('.'));
        let transcribed = TranscribedCall { command: command.join("\n"), path: path.map(str::to_owned) };
        Self { kind, arguments: head, json: None, transcribed: Some(transcribed) }
    }

    /// Whether it is a call of an editing tool with sub-commands that only looks.
    pub(super) fn is_view(&self) -> bool {
        self.arguments.contains("\"view\"") || (self.transcribed.is_some() && self.arguments.starts_with("view | "))
    }

    /// Returns the command of a shell call: the text of its arguments, or the script in their JSON.
    pub(super) fn command(&self) -> String {
        if let Some(call) = &self.transcribed {
            return call.command.clone();
        }
        let Some(json) = &self.json else { return self.arguments.to_owned() };
        script_in(json).unwrap_or_default()
    }

    /// Returns the files that the call changes: those that its arguments or a patch in them name.
    pub(super) fn changed_paths(&self) -> Vec<&str> {
        if let Some(call) = &self.transcribed {
            let patched = tools::patch_paths(&call.command);
            return call.path.as_deref().into_iter().chain(patched).collect();
        }
        let path = self.json.as_ref().and_then(tools::path_argument);
        let texts =
            self.json.iter().filter(|_| path.is_none()).flat_map(|json| json.as_object()).flat_map(|map| map.values());
        let plain = self.json.is_none().then_some(self.arguments);
        let patched = texts.filter_map(Value::as_str).chain(plain).flat_map(tools::patch_paths);
        path.into_iter().chain(patched).collect()
    }
}
