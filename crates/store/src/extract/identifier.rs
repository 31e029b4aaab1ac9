//! Exact strings that are bound to what they are: "the staging database is db-7".

use epitome_strategy::text::is_cjk;

/// The words between the name of a thing and the string, in English and Chinese.
const BINDS: &[&str] =
    &[" is called ", " is named ", " is at ", " is on ", " is ", " runs on ", " listens on ", " = ", "是", "为"];

/// The first word of a thing's name: it marks a thing that the reader may know.
const KNOWN: &[&str] = &["the", "our", "my"];

/// The most words of a name.
const LONGEST_NAME: usize = 6;

/// Returns the name of the thing whose exact string a sentence gives, in lower case without its first word, and the
/// string; `None` where the sentence gives none. Linear in the sentence.
pub(crate) fn named_string(sentence: &str) -> Option<(String, &str)> {
    BINDS.iter().find_map(|bind| {
        let (before, behind) = sentence.split_once(bind)?;
        let ends = |char: char| char.is_whitespace() || is_cjk(char) || "，。；（(".contains(char);
        let string = behind.trim_start().split(ends).next()?.trim_matches(['"', '\'', '`', ',', '.', ';', ':', '!']);
        let has_letter = string.contains(|char: char| char.is_ascii_alphabetic());
        // A bare number behind a Chinese word is mostly an amount or a year.
        let is_bound = is_exact(string) && (has_letter || !before.ends_with(is_cjk));
        Some((name_of(before)?, string)).filter(|_| is_bound)
    })
}

/// Returns the name at the end of the words in front of a binding; of several clauses the last one is bound: "I have no
/// invoice, but my customer number is C-7741".
fn name_of(before: &str) -> Option<String> {
    let clause = before.rsplit([',', ';', ':', '，', '；', '：', '。']).next()?.trim();
    if clause.contains(is_cjk) {
        let length = clause.chars().count();
        return (3..=16).contains(&length).then(|| clause.to_lowercase());
    }
    let words: Vec<String> = clause.split_whitespace().map(str::to_lowercase).collect();
    let start = words.iter().rposition(|word| KNOWN.contains(&word.as_str()))?;
    let name = &words[start + 1..];
    let is_name = (1..=LONGEST_NAME).contains(&name.len());
    is_name.then(|| name.join(" "))
}

/// Whether a string cannot be guessed: letters with digits or signs of a name, addresses, paths, long numbers.
fn is_exact(string: &str) -> bool {
    let has = |test: fn(&u8) -> bool| string.bytes().any(|byte| test(&byte));
    let is_plain = string.len() >= 3 && string.bytes().all(|byte| byte.is_ascii_graphic());
    let (digits, letters) = (has(u8::is_ascii_digit), has(u8::is_ascii_alphabetic));
    // "10am", "5GB" and "3rd" are quantities.
    let is_quantity = string.as_bytes().first().is_some_and(u8::is_ascii_digit)
        && string.trim_start_matches(|char: char| char.is_ascii_digit() || matches!(char, '.' | ':')).len() <= 3
        && string.bytes().filter(u8::is_ascii_digit).count() < 4;
    let is_address = string.contains("://") || string.contains('@') && string.contains('.');
    let is_name = letters && (digits || string.contains('_') || string.matches('/').count() >= 2);
    let is_number = string.len() >= 4 && string.bytes().all(|byte| byte.is_ascii_digit());
    is_plain && !is_quantity && (is_address || is_name || is_number)
}
