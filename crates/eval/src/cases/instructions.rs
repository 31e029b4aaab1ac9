//! Standing instructions: what the user demanded for good.

/// Words that make a sentence a demand, in lower case.
const DEMANDS: &[&str] = &["must", "never", "always", "do not", "only", "make sure"];
/// The same in Chinese.
const CHINESE: &[&str] = &["必须", "不要", "务必", "禁止", "一定", "只能"];

/// The sentences of a typed message that demand something. A sentence ends at `.`, `!` or `?` before white space, at
/// `。！？；` and at the end of a line. Linear.
pub(crate) fn demands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        let mut chars = line.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            let blank_follows = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            let ends = matches!(char, '。' | '！' | '？' | '；') || (matches!(char, '.' | '!' | '?') && blank_follows);
            if ends {
                add(&line[start..at + char.len_utf8()], &mut found);
                start = at + char.len_utf8();
            }
        }
        add(&line[start..], &mut found);
    }
    found
}

fn add(sentence: &str, found: &mut Vec<String>) {
    let sentence = sentence.trim();
    let lower = sentence.to_lowercase();
    if CHINESE.iter().any(|word| sentence.contains(word)) || DEMANDS.iter().any(|words| has_words(&lower, words)) {
        found.push(sentence.to_owned());
    }
}

/// Whether `words` stand in `text` as whole words.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
