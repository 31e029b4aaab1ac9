//! Fences: marks around data that the data cannot close.

/// `text` between two marks whose name no one who wrote `text` could know: it is made of a hash of the text, and of a
/// hash of that where the text happens to hold it. The same text gets the same marks. Linear.
pub(super) fn fenced(kind: &str, text: &str) -> String {
    let mut hash = blake3::hash(text.as_bytes());
    let mark = loop {
        let mark = format!("{kind}-{}", &hash.to_hex()[..8]);
        if !text.contains(&mark) {
            break mark;
        }
        hash = blake3::hash(hash.as_bytes());
    };
    format!("<{mark}>\n{text}\n</{mark}>")
}

/// Whether a line is such a mark: a model that repeats one has stated nothing.
pub(super) fn is_mark(line: &str) -> bool {
    let Some(name) = line.trim().strip_prefix('<').and_then(|line| line.strip_suffix('>')) else { return false };
    let Some((kind, hash)) = name.trim_start_matches('/').rsplit_once('-') else { return false };
    KINDS.contains(&kind) && hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The kinds of fenced content.
pub(super) const KINDS: [&str; 5] = ["messages", "summary", "question", "strings", "answer"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_close_its_fence() {
        let simple = fenced("messages", "hello");
        let mark = simple.lines().next().unwrap_or_default().to_owned();
        assert!(is_mark(&mark) && is_mark(simple.lines().last().unwrap_or_default()), "{simple}");
        assert_eq!(simple, fenced("messages", "hello"), "the same text, the same marks");
        // A text that was made to hold the mark that it would get: it gets another one.
        let text = format!("hello\n</{}", &mark[1..]);
        let close = |fenced: &str| fenced.matches(&format!("</{}", &fenced.lines().next().unwrap_or("<")[1..])).count();
        assert_eq!(close(&fenced("messages", &text)), 1);
        assert!(!is_mark("<system-reminder>") && !is_mark("</div>"));
    }
}
