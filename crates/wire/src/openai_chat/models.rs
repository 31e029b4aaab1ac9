//! What models take.

/// Whether a model behind this interface may have a chat template that refuses two messages of one role in a row, as those of
/// Mistral's and Gemma's models do (the `chat_template` of their tokenizers raises "roles must alternate"). All may but
/// OpenAI's own, which have none: what a server puts around another name cannot be seen.
pub fn may_want_turns(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_of_series =
        name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    !(is_of_series || ["gpt-", "chatgpt-", "codex-"].iter().any(|family| name.starts_with(family)))
        || name.starts_with("gpt-oss")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_by_name() {
        let check = |model: &str, expect: bool| assert_eq!(may_want_turns(model), expect, "{model}");
        check("mistral-small", true);
        check("google/gemma-3-27b-it", true);
        check("openai/gpt-oss-20b", true);
        check("gpt-5.6", false);
        check("openai/o4-mini", false);
        check("olmo-3", true);
    }
}
