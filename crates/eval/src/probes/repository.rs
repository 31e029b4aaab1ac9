//! Which repository a probed session worked in.

/// The repository in the name of a probed session such as `claude_code-oh-my-posh-11-6e27a41b09-0`: without the agent in
/// front of the first `-` and without the parts at the end that are hexadecimal numbers. The whole name where nothing
/// else is in it.
pub(crate) fn repository(name: &str) -> String {
    let parts: Vec<&str> = name.split('-').collect();
    let is_number = |part: &&str| !part.is_empty() && part.chars().all(|char| char.is_ascii_hexdigit());
    let behind = parts.get(1..).unwrap_or_default();
    let numbers = behind.iter().rev().take_while(|part| is_number(part)).count();
    match &behind[..behind.len() - numbers] {
        [] => name.to_owned(),
        parts => parts.join("-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_parts_of_names() {
        fn check(name: &str, expect: &str) {
            assert_eq!(repository(name), expect);
        }
        check("claude_code-oh-my-posh-11-6e27a41b09-0", "oh-my-posh");
        check("codex_rollout-session-bridge-af-8e1ffd64b6-8", "session-bridge");
        check("mini_swe_agent-django__django-11138", "django__django");
        check("langgraph_thread-deerflow-d3e5adaf", "deerflow");
        check("mine", "mine");
        check("mine-12", "mine-12");
    }
}
