#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
use super::*;
use crate::services::TokenCounter;
use epitome_session::Language;

/// One token a byte.
#[derive(Debug)]
struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str) -> Tokens {
        text.len() as Tokens
    }

    fn is_exact(&self) -> bool {
        true
    }
}

#[test]
fn pieces_cover_the_text() {
    let check = |text: &str, expect: usize| {
        let pieces = pieces(text);
        assert_eq!(pieces.len(), expect);
        assert_eq!(pieces.iter().map(|piece| &text[piece.clone()]).collect::<String>(), text);
        assert!(pieces.iter().all(|piece| piece.len() <= LONGEST_LINE));
    };
    check("", 0);
    check("a\nb\r\n", 2);
    check(&"x".repeat(400), 1);
    check(&"字".repeat(400), 10);
    check(&"{\"key\":1},".repeat(100), 9);
}

#[test]
fn what_is_kept_fits_with_its_marks() {
    let view = View::new(&[], &[], &[], &[], &Bytes, Language::English);
    let mark = view.mark_tokens();
    let two = mark + view.further_mark_tokens();
    let text: String = (0..40).map(|line| format!("{line:02}{}\n", "x".repeat(57))).collect();
    let pieces = pieces(&text);
    let check = |ranked: &[usize], budget: Tokens, expect: &[Range<u32>]| {
        assert_eq!(fit(&view, &text, &pieces, ranked.iter().copied(), budget), expect);
    };
    check(&[0, 39], 120 + mark, &[0..60, 2340..2400]);
    check(&[0, 39], 119 + mark, &[0..60]);
    check(&[5], 60 + two, &[300..360]);
    check(&[5], 59 + two, &[]);
    check(&[5, 0, 39], 120 + two, &[0..60, 300..360]);
    check(&(0..40).collect::<Vec<_>>(), 2400 + mark, &[0..2400]);
}

#[test]
fn both_ends() {
    assert_eq!(from_both_ends(5).collect::<Vec<_>>(), [0, 4, 1, 3, 2]);
    assert_eq!(from_both_ends(0).count(), 0);
}

#[test]
fn levels() {
    let check = |amounts: &[(Tokens, f64)], floor, need, expect: &[Tokens]| {
        let level = level(amounts, floor, need);
        let left: Vec<Tokens> =
            amounts.iter().map(|(tokens, weight)| (*tokens).min(allowed(level, *weight, floor))).collect();
        assert_eq!(left, expect, "at {level}");
    };
    check(&[(1000, 1.0), (100, 1.0)], 10, 500, &[500, 100]);
    check(&[(1000, 1.0), (1000, 1.0)], 10, 500, &[750, 750]);
    check(&[(1000, 0.5), (1000, 1.0)], 10, 500, &[500, 1000]);
    check(&[(1000, 1.0), (100, 1.0)], 10, 5000, &[10, 10]);
}

#[test]
fn lines_about_errors() {
    let check = |line: &str, expect: bool| assert_eq!(is_error_line(line), expect, "{line}");
    check("error[E0308]: mismatched types", true);
    check("test a ... FAILED", true);
    check("编译失败", true);
    check("test result: ok. 12 passed; 0 failed; 0 ignored", false);
    check("0 errors, but assertion broke", true);
    check("   Compiling epitome v0.1.0", false);
}

#[test]
fn focus_terms_match_at_word_starts() {
    let check = |question: &str, line: &str, expect: usize| {
        assert_eq!(Focus::new(Some(question)).hits(line), expect, "{question} / {line}");
    };
    check("why does the parser fail in lexer.rs?", "src/lexer.rs: Parser::next", 2);
    check("test", "the latest", 0);
    check("解析器报错", "这个解析器有问题", 2);
    check("the", "the", 0);
    let lines = ["a parser", "b parser", "c parser", "d", "e", "f", "g", "lexer"];
    let telling = Focus::new(Some("parser lexer")).telling(lines.iter().copied());
    assert_eq!((telling.hits("parser"), telling.hits("lexer")), (0, 1));
}
