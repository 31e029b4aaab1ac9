//! Agents whose files are not read, and look like those of agents that are: each by marks of structure that only its own
//! writer leaves. Texts are not looked at.

use std::iter;

use serde_json::Value;

use crate::input::Probe;
use crate::json::value::items;
use crate::requests::candidates;

/// An agent whose files are not read.
pub(crate) struct ForeignAgent {
    /// Its name, for a person.
    pub name: &'static str,
    /// Whether a record, a message or the whole file has its marks.
    wrote: fn(&Value) -> bool,
}

pub(crate) const FOREIGN_AGENTS: &[ForeignAgent] = &[
    // The blocks and the metadata of a message: github.com/block/goose, crates/goose/src/conversation/message.rs; the head of
    // a session: crates/goose/src/session/session_manager.rs.
    ForeignAgent {
        name: "goose",
        wrote: |record| {
            let is_own = |block: &Value| match block["type"].as_str() {
                Some("toolRequest" | "frontendToolRequest") => block["toolCall"].is_object(),
                Some("toolResponse") => block["toolResult"].is_object(),
                _ => false,
            };
            items(&record["content"]).iter().any(is_own)
                || record["metadata"]["agentVisible"].is_boolean()
                || record["working_dir"].is_string() && record["message_count"].is_number()
        },
    },
    // Not public. The thread as a public reader and writer of it has it: github.com/jonathan-kellerai/
    // cross_agent_session_resumer, src/providers/amp.rs (`build_thread_json`, `build_amp_message`).
    ForeignAgent {
        name: "Amp",
        wrote: |record| {
            let is_result = |block: &Value| block["toolUseID"].is_string() && block["run"].is_object();
            items(&record["content"]).iter().any(is_result)
                || record["v"].is_number() && record["id"].as_str().is_some_and(|id| id.starts_with("T-"))
        },
    },
    // Not public. The first line as public readers have it: github.com/robertpelloni/borg,
    // agents/agent-sessions/AgentSessions/Services/DroidSessionParser.swift.
    ForeignAgent {
        name: "Factory Droid",
        wrote: |record| record["type"] == "session_start" && record["id"].is_string() && record["data"].is_null(),
    },
    // `context.jsonl` and `wire.jsonl`: github.com/MoonshotAI/kimi-cli, src/kimi_cli/soul/context.py and wire/file.py.
    ForeignAgent {
        name: "Kimi CLI",
        wrote: |record| {
            let message = &record["message"];
            matches!(record["role"].as_str(), Some("_system_prompt" | "_usage" | "_checkpoint"))
                || record["timestamp"].is_number() && message["type"].is_string() && message["payload"].is_object()
        },
    },
    // `wire.jsonl`: github.com/MoonshotAI/kimi-code, packages/agent-core/src/agent/records/types.ts. Its head, `metadata`, is
    // Kimi CLI's too.
    ForeignAgent {
        name: "Kimi Code",
        wrote: |record| match record["type"].as_str() {
            Some("metadata") => record["protocol_version"].is_string(),
            Some("context.append_message") => record["message"].is_object(),
            Some("context.append_loop_event") => record["event"].is_object(),
            _ => false,
        },
    },
    // A history with what is not sent any more: github.com/RooCodeInc/Roo-Code, src/core/task-persistence/apiMessages.ts
    // (3.52.1), whose fork Kilo Code was. A history without these marks is a list of Anthropic's messages, and read as that.
    ForeignAgent {
        name: "Roo Code or Kilo Code with a condensed history",
        wrote: |record| {
            let parts = ["condenseParent", "condenseId", "truncationParent", "truncationId"];
            record["role"].is_string()
                && (parts.iter().any(|name| record[*name].is_string())
                    || record["isTruncationMarker"] == true
                    || record["isSummary"] == true && record["ts"].is_number())
        },
    },
    // `ui_messages.json`: github.com/RooCodeInc/Roo-Code, packages/types/src/message.ts (`clineMessageSchema`), as in Cline.
    ForeignAgent {
        name: "the window of Cline, Roo Code or Kilo Code (what the model was sent is in `api_conversation_history.json`)",
        wrote: |record| {
            let kind = record["type"].as_str().filter(|kind| matches!(*kind, "ask" | "say"));
            record["ts"].is_number() && kind.is_some_and(|kind| record[kind].is_string())
        },
    },
    // Its first versions wrote Gemini CLI's document with a type of their own (github.com/QwenLM/qwen-code).
    ForeignAgent {
        name: "an early version of Qwen Code",
        wrote: |record| record["type"] == "qwen" && record["id"].is_string(),
    },
    // The first line, which is much like Pi's: packages/session/session-persistence-jsonl/src/format.ts (`HeaderLine`) of
    // @deepseek-ai/dsh-session-persistence-jsonl.
    ForeignAgent {
        name: "DeepSeek Harness",
        wrote: |record| {
            record["type"] == "session" && record["createdAt"].is_number() && record["delegationDepth"].is_number()
        },
    },
];

/// The agent that wrote the file, where it is one whose files are not read. Linear in what recognition looks at.
pub(crate) fn foreign_agent(probe: &Probe<'_>) -> Option<&'static str> {
    candidates(probe)
        .flat_map(|top| iter::once(top).chain(items(&top["messages"])).chain(items(&top["conversation"])))
        .find_map(|record| FOREIGN_AGENTS.iter().find(|agent| (agent.wrote)(record)))
        .map(|agent| agent.name)
}

#[cfg(test)]
#[path = "tests/foreign.rs"]
mod tests;
