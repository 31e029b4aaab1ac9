//! Removes the thoughts that a model writes before its answer.

/// `text` without the thoughts in front of it: `<think>…</think>` and the like, once or more, or what comes before a
/// closing `</think>` on a line of its own, where the service has put the opening one into the prompt. Marks that the
/// text only mentions do not count. Thoughts that never end leave nothing. Linear.
pub fn without_thoughts(text: &str) -> &str {
    const MARKS: [(&str, &str); 4] = [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
        ("<analysis>", "</analysis>"),
    ];
    let mut rest = text.trim_start();
    let mut has_thought = false;
    while let Some((open, close)) = MARKS.iter().find(|(open, _)| rest.starts_with(open)) {
        has_thought = true;
        rest = rest[open.len()..].split_once(close).map_or("", |(_, after)| after).trim_start();
    }
    if !has_thought && let Some(end) = rest.find("</think>") {
        let (thoughts, after) = (&rest[..end], &rest[end + "</think>".len()..]);
        let is_own_line = thoughts.trim_end_matches([' ', '\t']).ends_with('\n')
            && (after.is_empty() || after.trim_start_matches([' ', '\t', '\r']).starts_with('\n'));
        if is_own_line && !thoughts.contains("<think>") {
            rest = after;
        }
    }
    rest.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts() {
        let check = |text: &str, expect: &str| assert_eq!(without_thoughts(text), expect, "{text}");
        check(" The answer\n", "The answer");
        check("<think>\nhm\n</think>\n\nThe answer", "The answer");
        check("\n<think></think><think>more</think>The answer", "The answer");
        check("<thinking>hm</thinking> The answer", "The answer");
        check("<analysis>hm</analysis>\n<reasoning>so</reasoning>The answer", "The answer");
        check("It closes\n</analysis>\nDone", "It closes\n</analysis>\nDone");
        check("hm, so\n</think>\n\nThe answer", "The answer");
        check("<think>hm, and no end", "");
        check("It strips `<think>` and `</think>` marks.", "It strips `<think>` and `</think>` marks.");
        check("It closes with `</think>`.\nDone", "It closes with `</think>`.\nDone");
        check("Example:\n<think>\nhm\n</think>\nDone", "Example:\n<think>\nhm\n</think>\nDone");
    }
}
