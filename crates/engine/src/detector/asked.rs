//! What a call asks for: a call of the view, of a message behind a summary, or of a transcript's line.

use epitome_session::{Arguments, Content, Message};
use epitome_strategy::commands::script_in;
use epitome_strategy::tools::{self, ToolKind};
use epitome_strategy::transcript::{ARGUMENT, OUTPUT};
use epitome_strategy::{Call, Value};

/// A call, as far as the kind of task depends on it.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) kind: ToolKind,
    arguments: &'a str,
    json: Option<Value>,
    /// What a transcript tells of it, where its arguments are not recorded.
    told: Option<Told>,
}

/// What a transcript tells of a call.
#[derive(Debug)]
struct Told {
    command: String,
    path: Option<String>,
}

impl<'a> Asked<'a> {
    pub(super) fn of_call(call: &Call<'a>) -> Self {
        Self::recorded(call.name, call.arguments, call.is_json)
    }

    /// Returns the calls of a message, those in plain text included. Linear in its calls.
    pub(super) fn of_message(message: &'a Message) -> impl Iterator<Item = Self> {
        let native = message.calls().map(|(_, call)| {
            let text = call.arguments.text();
            let is_json = matches!(call.arguments, Arguments::Json(_));
            Self::recorded(&call.name, text, is_json)
        });
        let in_text = message.text_calls.iter().filter_map(|call| {
            let Content::Text { text } = &message.blocks.get(call.block as usize)?.content else { return None };
            let text = text.get(call.start as usize..call.end as usize)?;
            Some(Self::recorded(&call.name, text, text.trim_start().starts_with('{')))
        });
        native.chain(in_text)
    }

    fn recorded(name: &str, arguments: &'a str, is_json: bool) -> Self {
        let kind = tools::kind(name);
        // Of other calls the tool says enough.
        let is_read = is_json && matches!(kind, ToolKind::Edit | ToolKind::Write | ToolKind::Shell);
        let json = is_read.then(|| arguments.parse().ok()).flatten();
        Self { kind, arguments, json, told: None }
    }

    /// Returns the call of a transcript's line, with the lines below it.
    pub(super) fn of_record(name: &str, head: &'a str, below: &str) -> Self {
        let further = below.lines().take_while(|line| !line.starts_with(OUTPUT));
        let further = further.filter_map(|line| line.strip_prefix(ARGUMENT));
        let command: Vec<&str> = std::iter::once(head).chain(further).collect();
        let kind = tools::kind(name);
        // A command is not the name of a file, though it may have a dot.
        let names_file = matches!(kind, ToolKind::Edit | ToolKind::Write);
        let path = head.split(" | ").find(|part| names_file && part.contains('.'));
        let told = Told { command: command.join("\n"), path: path.map(str::to_owned) };
        Self { kind, arguments: head, json: None, told: Some(told) }
    }

    /// Whether it is a call of an editing tool with sub-commands that only looks.
    pub(super) fn is_view(&self) -> bool {
        self.arguments.contains("\"view\"") || (self.told.is_some() && self.arguments.starts_with("view | "))
    }

    /// Returns the command of a shell call: the text of its arguments, or the script in their JSON.
    pub(super) fn command(&self) -> String {
        if let Some(told) = &self.told {
            return told.command.clone();
        }
        let Some(json) = &self.json else { return self.arguments.to_owned() };
        script_in(json).unwrap_or_default()
    }

    /// Returns the files that the call changes: those that its arguments or a patch in them name.
    pub(super) fn changed_paths(&self) -> Vec<&str> {
        if let Some(told) = &self.told {
            let patched = tools::patch_paths(&told.command);
            return told.path.as_deref().into_iter().chain(patched).collect();
        }
        let path = self.json.as_ref().and_then(tools::path_argument);
        let texts =
            self.json.iter().filter(|_| path.is_none()).flat_map(|json| json.as_object()).flat_map(|map| map.values());
        let plain = self.json.is_none().then_some(self.arguments);
        let patched = texts.filter_map(Value::as_str).chain(plain).flat_map(tools::patch_paths);
        path.into_iter().chain(patched).collect()
    }
}
