//! What models take.

/// The first version whose models take system messages among the others (Anthropic's "What's new in Claude 4.8").
const SYSTEM_AMONG_MESSAGES: (u32, u32) = (4, 8);

/// Whether a model takes system messages among the others. Models whose names say no version do: they are newer, or somebody
/// else's.
pub fn takes_system_among_messages(model: &str) -> bool {
    version_of(model).is_none_or(|version| version >= SYSTEM_AMONG_MESSAGES)
}

/// The images that a model takes in one request: 100 those with a window of 200,000 tokens, which are those before version 5, and
/// 600 the others (Anthropic's "Images and vision", "General limits").
pub(super) fn images_of(model: Option<&str>) -> usize {
    let is_newer = model.and_then(version_of).is_some_and(|version| version >= (5, 0));
    if is_newer { 600 } else { 100 }
}

/// The version in a Claude model's name: `claude-opus-4-8`, `anthropic/claude-sonnet-4.5`, `claude-3-5-haiku-20241022`.
fn version_of(model: &str) -> Option<(u32, u32)> {
    let (_, name) = model.rsplit_once("claude-")?;
    // Longer numbers are dates.
    let numbers = name.split(['-', '.', '@', ':']).skip_while(|part| part.parse::<u32>().is_err());
    let mut numbers = numbers.map_while(|part| part.parse::<u32>().ok().filter(|number| *number < 100));
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_by_version() {
        let check = |model: Option<&str>, expect: usize| assert_eq!(images_of(model), expect, "{model:?}");
        check(Some("claude-opus-5-5"), 600);
        check(Some("claude-haiku-4.5"), 100);
        check(Some("glm-4.6"), 100);
        check(None, 100);
    }

    #[test]
    fn models_by_version() {
        let check = |model: &str, expect: bool| assert_eq!(takes_system_among_messages(model), expect, "{model}");
        check("claude-opus-4-8", true);
        check("claude-opus-4.8-20260528", true);
        check("claude-opus-5-5", true);
        check("claude-fable-5", true);
        check("anthropic/claude-sonnet-4.5", false);
        check("claude-3-5-haiku-20241022", false);
        check("claude-opus-4-20250514", false);
        check("us.anthropic.claude-opus-4-1-20250805-v1:0", false);
        check("claude-latest", true);
        check("glm-4.6", true);
    }
}
