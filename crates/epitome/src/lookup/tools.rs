//! The tools: their names, descriptions and parameters. The same over every protocol; the one that compacts only where the
//! context is the server's own.

pub use crate::live::COMPACT_CONTEXT;
use epitome_recall::Query;
pub use epitome_recall::lookups::{CONTEXT_STATUS, RECALL, SEARCH_HISTORY};
use serde_json::{Value, json};

/// The description of a tool, for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its purpose and use.
    pub description: &'static str,
    /// The JSON schema of its arguments, an object.
    pub schema: Value,
}

/// The name of the argument that chooses the session.
pub const SESSION: &str = "session";

/// Returns the tools that are served over the Model Context Protocol. With `names_session` each takes the id of a
/// session, for a server that has many; with `compacts` there is the tool that compacts.
pub fn tools(names_session: bool, compacts: bool) -> Vec<Tool> {
    let mut tools = vec![search_history(), recall(), context_status()];
    tools.extend(compacts.then(compact_context));
    for tool in tools.iter_mut().filter(|_| names_session) {
        let about = "The session's id, where the server was started without one.";
        tool.schema["properties"][SESSION] = json!({"type": "string", "description": about});
    }
    tools
}

/// Returns the tool that searches.
pub fn search_history() -> Tool {
    Tool {
        name: SEARCH_HISTORY,
        description: "Searches everything that was said and done in this conversation, also what has left the context: \
                      messages, tool calls and what they printed. Pass the question in words, and beside it the \
                      identifiers that the answer is likely to hold: file names, functions, error texts, numbers. Look \
                      here before you say that something is not known, or do it a second time.",
        schema: json!({
            "type": "object",
            "properties": {
                "queries": {
                    "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": Query::MOST_QUERIES,
                    "description": "One or several: the question, and likely identifiers. They are searched together.",
                },
                "from": {
                    "type": "array", "items": {"type": "string", "enum": ["user", "assistant", "tool", "file"]},
                    "description": "Only what these said: `file` is calls that read or change a file. Leave out for all.",
                },
                "newest": {"type": "boolean", "description": "The newest first among what matches."},
                "page": {"type": "integer", "minimum": 0, "maximum": Query::MOST_PAGES - 1, "description": "0 for the best, 1 for those after them."},
            },
            "required": ["queries"],
        }),
    }
}

/// Returns the tool that recalls.
pub fn recall() -> Tool {
    Tool {
        name: RECALL,
        description: "Gives back word for word what has left the context, by the handle that a summary, a mark or a found \
                      passage names (`recall 0a1b2c3d4e5f`), or one message by its number (`recall #37`).",
        schema: json!({
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "A handle such as 0a1b2c3d4e5f, or a message's number such as #37."},
                "offset": {"type": "integer", "minimum": 0, "description": "The character to begin at; 0 without it."},
                "limit": {"type": "integer", "minimum": 1, "description": "Characters at most; 9000 without it."},
            },
            "required": ["handle"],
        }),
    }
}

/// Returns the tool by which a model asks for a compaction.
pub fn compact_context() -> Tool {
    Tool {
        name: COMPACT_CONTEXT,
        description: "Compacts this conversation's context now. Call it when a task of your list is done, or before you begin \
                      with another subject. Do not call it in the middle of a derivation, of an edit or of a search for a \
                      fault, nor with other calls open. The answer says whether it was done; it is refused while the context \
                      is not full enough, and soon after the last time.",
        schema: json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "What is done, so that this is a good moment."},
                "next_step": {"type": "string", "description": "What you do next: what is relevant to it stays first."},
                "keep": {
                    "type": "array", "items": {"type": "string"}, "maxItems": 8,
                    "description": "What the next context has to hold: numbers of messages (#37, #40-#52), or exact texts.",
                },
            },
            "required": ["reason", "next_step"],
        }),
    }
}

/// Returns the tool that describes the context.
fn context_status() -> Tool {
    Tool {
        name: CONTEXT_STATUS,
        description: "Tells how full the context is, what takes the room, and how much has left it.",
        schema: json!({"type": "object", "properties": {}}),
    }
}
