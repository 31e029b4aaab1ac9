//! Recognises a summary in another language than was asked for.

use epitome_strategy::Language;
use epitome_strategy::text::is_cjk;
use whatlang::{Lang, Script};

/// Letters of prose that a guess between languages of one script needs; with fewer there is no guess.
const LEAST_LETTERS: usize = 240;
/// Words of English that no prose of some length is without. Source: the most frequent words of English.
const ENGLISH: &[&str] = &[
    "the", "of", "and", "to", "in", "is", "was", "a", "for", "it", "that", "with", "on", "by", "not", "be", "are",
    "as", "at", "from", "has", "no", "this", "were", "be", "or", "but", "an",
];
/// The share of such words from which on a text may be English whatever else it looks like: English prose has about .4, a list
/// of English notes .1.
const ENGLISH_SHARE: f64 = 0.04;

/// Whether a text is certainly written in another language than `language`, and not in the user's either, who typed `typed`.
/// Names and code are Latin in every language, so a Chinese summary may hold a lot of it, and an English one a Chinese
/// quotation. Linear.
pub(super) fn is_other_language(text: &str, language: Language, typed: &str) -> bool {
    let prose = prose(text);
    let (mut latin_words, mut chinese, mut kana) = (0usize, 0usize, 0usize);
    let mut in_word = false;
    for char in prose.chars() {
        chinese += usize::from(is_cjk(char));
        kana += usize::from(matches!(char, '\u{3041}'..='\u{30ff}'));
        let is_latin = char.is_alphabetic() && !is_cjk(char);
        latin_words += usize::from(is_latin && !in_word);
        in_word = is_latin;
    }
    let of_script = match language {
        Language::English => chinese > latin_words && chinese >= 20,
        Language::Chinese => chinese * 8 < latin_words && latin_words >= 20 || kana * 4 > chinese && kana >= 40,
    };
    let is_other = of_script || language == Language::English && is_not_english(&prose);
    is_other && !is_same_language(&prose, typed)
}

/// Whether prose is certainly in a language other than English, among those written in letters.
fn is_not_english(prose: &str) -> bool {
    let letters = prose.chars().filter(|char| char.is_alphabetic()).count();
    let guess = whatlang::detect(prose).filter(|guess| guess.is_reliable() && guess.lang() != Lang::Eng);
    let Some(guess) = guess.filter(|_| letters >= LEAST_LETTERS) else { return false };
    if guess.script() != Script::Latin {
        return prose.chars().filter(char::is_ascii_alphabetic).count() * 2 < letters;
    }
    let words: Vec<String> = prose.split(|char: char| !char.is_alphabetic()).map(str::to_lowercase).collect();
    let words = words.iter().filter(|word| !word.is_empty());
    let english = words.clone().filter(|word| ENGLISH.contains(&word.as_str())).count();
    (english as f64) < words.count() as f64 * ENGLISH_SHARE
}

/// Whether the user writes in the language of the prose.
fn is_same_language(prose: &str, typed: &str) -> bool {
    let language = |text: &str| whatlang::detect(text).map(|guess| guess.lang());
    // Of short requests nothing is certain: then it may be.
    language(prose).is_some_and(|lang| language(typed) == Some(lang))
}

/// A text without headings, code, quotations, paths and names: what its writer wrote in words.
fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        for (number, part) in line.split('`').enumerate() {
            if number % 2 == 0 {
                let is_word =
                    |word: &&str| !word.contains(['/', '_', '=', '(', '{', '<', '\\']) && !word.contains("::");
                part.split_whitespace().filter(is_word).for_each(|word| {
                    prose.push_str(word);
                    prose.push(' ');
                });
            }
        }
        prose.push('\n');
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    const GERMAN: &str = "## Goal\n- Der Benutzer will, dass der Lexer verschachtelte Klammern annimmt und zu jeder die Zeile meldet, \
        in der sie steht.\n\n## State\n- Die Funktion zählt jetzt die Tiefe mit; alle Prüfungen laufen durch, und die Datei mit den \
        Notizen wurde gelöscht, weil niemand sie mehr braucht.\n\n## Next step\n- Die Zeit messen und in die Anleitung schreiben.";
    const ENGLISH: &str = "## Goal\n- The user wants the lexer in src/lexer.rs to accept nested brackets and to report each of them \
        with its line.\n\n## Next step\n- The agent has to write the time that it takes into README.md, as the user asked.\n\n## Done\n- \
        The agent changed next_token so that it counts the depth; cargo test passes with 3 tests.";
    const CHINESE: &str =
        "用户要求修改 src/lexer.rs 中的 next_token，使其支持嵌套括号，并在 README.md 中写明耗时。用户要求修改端口。";

    #[test]
    fn languages() {
        let check = |text: &str, language: Language, typed: &str, expect: bool| {
            assert_eq!(is_other_language(text, language, typed), expect, "{text} {typed}");
        };
        let person = "Please make the lexer accept nested brackets and measure how long it takes.";
        check(CHINESE, Language::Chinese, "", false);
        check(CHINESE, Language::English, person, true);
        check(ENGLISH, Language::Chinese, "", true);
        check(ENGLISH, Language::English, person, false);
        check(GERMAN, Language::English, person, true);
        let german = "Bitte sorge dafür, dass der Lexer verschachtelte Klammern annimmt, und miss die Zeit.";
        check(GERMAN, Language::English, german, false);
        check(ENGLISH, Language::English, german, false);
        let russian =
            "Пользователь хочет, чтобы лексер принимал вложенные скобки и сообщал строку каждой из них. ".repeat(4);
        check(&russian, Language::English, person, true);
        check("The user quoted 你好世界 and asked what it means.", Language::English, person, false);
        check("## 目标\n- src/a.rs", Language::Chinese, "", false);
        // Where nothing is certain, nothing is refused.
        check("- Die Zeit messen.", Language::English, person, false);
        check(
            "- src/a.rs: next_token, peek_token\n- `cargo test` ok, 12 of 12, port 48213, ticket LEX-77\n"
                .repeat(9)
                .as_str(),
            Language::English,
            person,
            false,
        );
        let notes = "- added retry queue tests, gives up after five tries\n- wire format unchanged\n- open: flaky timer, slow build\n";
        check(&notes.repeat(6), Language::English, person, false);
        let japanese = "ユーザーはレクサーが入れ子の括弧を受け付けるようにしたいと考えています。".repeat(4);
        check(&japanese, Language::Chinese, "请让词法分析器接受嵌套括号。", true);
        check(&japanese, Language::Chinese, "レクサーが入れ子の括弧を受け付けるようにしてください。", false);
    }
}
