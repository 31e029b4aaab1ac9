//! The tools by which a model looks up its own past: their names, and how a log names them.

/// Searches what was said.
pub const SEARCH_HISTORY: &str = "search_history";
/// Returns what left the context under a handle.
pub const RECALL: &str = "recall";
/// Describes what the context contains.
pub const CONTEXT_STATUS: &str = "context_status";

/// All three.
pub const NAMES: [&str; 3] = [SEARCH_HISTORY, RECALL, CONTEXT_STATUS];

/// Whether a tool of a log is one of these: by its name, or with the server's in front as clients write it,
/// `mcp__epitome__search_history` or `epitome.search_history`.
///
/// ```
/// use epitome_recall::lookups::is_lookup;
///
/// assert!(is_lookup("recall") && is_lookup("mcp__past__recall") && is_lookup("past.recall"));
/// assert!(!is_lookup("product_recall") && !is_lookup("recall_all"));
/// ```
pub fn is_lookup(tool: &str) -> bool {
    let names_it = |name: &&str| {
        let front = tool.strip_suffix(name);
        front.is_some_and(|front| front.is_empty() || front.ends_with("__") || front.ends_with('.'))
    };
    NAMES.iter().any(names_it)
}
