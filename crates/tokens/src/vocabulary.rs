//! Whose vocabulary a counter has.

/// The vocabularies of models whose own is published, by the beginning of the model's name: the longest counts. Source:
/// OpenAI's tiktoken.
const VOCABULARIES: &[(&str, &str)] = &[
    ("chatgpt-4o", "o200k_base"),
    ("codex-mini", "o200k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-4.1", "o200k_base"),
    ("gpt-4.5", "o200k_base"),
    ("gpt-4o", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-oss", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4-mini", "o200k_base"),
];

/// Returns the vocabulary of a model by its name in small letters, where it is published.
pub(crate) fn vocabulary_of(model: &str) -> Option<&'static str> {
    // Services put a vendor or a kind in front: `openai/gpt-4o`, `openai.gpt-oss-20b`, `ft:gpt-4o:me`.
    let begins =
        |known: &str| model.match_indices(known).any(|(at, _)| at == 0 || model[..at].ends_with(['/', '.', ':']));
    let known = VOCABULARIES.iter().filter(|(beginning, _)| begins(beginning)).max_by_key(|(name, _)| name.len());
    known.map(|(_, vocabulary)| *vocabulary)
}

/// Whether a counter of this name has the vocabulary of the model: not that of one whose vocabulary is not known.
pub fn has_vocabulary(counter: &str, model: &str) -> bool {
    vocabulary_of(&model.to_lowercase()) == Some(counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_vocabulary_a_counter_has() {
        let check = |model: &str, expect: &str| {
            let counters = ["o200k_base", "cl100k_base", "halves"];
            let own: Vec<&str> = counters.into_iter().filter(|counter| has_vocabulary(counter, model)).collect();
            assert_eq!(own.join(" "), expect, "{model}");
        };
        check("gpt-4o", "o200k_base");
        check("GPT-5.1-codex", "o200k_base");
        check("openai/gpt-4.1-mini", "o200k_base");
        check("openai.gpt-oss-20b-1:0", "o200k_base");
        check("ft:gpt-3.5-turbo:me", "cl100k_base");
        check("gpt-4-turbo", "cl100k_base");
        for model in ["claude-sonnet-5", "gemini-3-flash", "deepseek-r1", "foo1", "m", ""] {
            check(model, "");
        }
    }
}
