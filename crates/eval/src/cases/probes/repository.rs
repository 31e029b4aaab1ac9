//! Which repository a probed session worked in.

/// Returns the repository in the name of a probed session such as `claude_code-my-stamp-shop-11-0a1b2c3d4e-0`: without
/// the agent in front of the first `-` and without the parts at the end that are hexadecimal numbers. The whole name
/// where nothing else is in it.
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
        check("claude_code-my-stamp-shop-11-0a1b2c3d4e-0", "my-stamp-shop");
        check("codex_rollout-ledger-tool-af-00ff00ff00-8", "ledger-tool");
        check("mini_swe_agent-owner__name-11111", "owner__name");
        check("langgraph_thread-garden-d0d0adaf", "garden");
        check("mine", "mine");
        check("mine-12", "mine-12");
    }
}
