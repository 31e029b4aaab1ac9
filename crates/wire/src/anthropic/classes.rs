//! What the content blocks are.

use crate::PartClass;

/// Returns the class of a block of the kind `kind`, its `type`.
///
/// Calls and results go by the ends of their kinds: the provider adds tools of its own, each with kinds for both
/// (`web_search_tool_result`, `mcp_tool_use`), and their names are made in the same way.
pub fn class_of_block(kind: &str) -> PartClass {
    match kind {
        "text" | "image" | "document" | "search_result" => PartClass::Speech,
        "thinking" | "redacted_thinking" => PartClass::Reasoning,
        "tool_use" => PartClass::Call,
        "tool_result" => PartClass::Result,
        "tool_addition" | "tool_removal" | "tool_reference" => PartClass::Configuration,
        // What a server offers, as it was when it was asked.
        _ if kind.ends_with("_tool_listing") => PartClass::Configuration,
        "compaction" => PartClass::Compaction,
        _ if kind.ends_with("_tool_use") => PartClass::Call,
        _ if kind.ends_with("_tool_result") => PartClass::Result,
        _ => PartClass::Opaque,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_blocks() {
        let check = |kinds: &[&str], expect: PartClass| {
            kinds.iter().for_each(|kind| assert_eq!(class_of_block(kind), expect, "{kind}"));
        };
        check(&["tool_use", "server_tool_use", "mcp_tool_use"], PartClass::Call);
        check(&["tool_result", "web_search_tool_result", "bash_code_execution_tool_result"], PartClass::Result);
        check(&["tool_addition", "tool_removal", "mcp_tool_listing"], PartClass::Configuration);
        check(&["", "container_upload", "tool", "novelty"], PartClass::Opaque);
    }
}
