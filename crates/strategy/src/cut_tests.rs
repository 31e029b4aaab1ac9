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
fn stop_words_are_in_order() {
    assert!(super::is_stop_word("which") && super::is_stop_word("your") && !super::is_stop_word("parser"));
    assert!(super::is_stop_word("a") && super::is_stop_word("using"));
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
    let telling = Focus::new(Some("parser lexer")).distinctive(lines.iter().copied());
    assert_eq!((telling.hits("parser"), telling.hits("lexer")), (0, 1));
}

#[test]
fn notes_mind_the_number() {
    let check = |errors: usize, matches: usize, expect: &str| {
        assert_eq!(InformativeLines { errors, matches, ..InformativeLines::default() }.note(), expect);
    };
    check(0, 0, ", its two ends kept");
    check(1, 0, ", 1 error line and its two ends kept");
    check(0, 1, ", 1 line in focus and its two ends kept");
    check(2, 1, ", 2 error lines, 1 line in focus and its two ends kept");
}

#[test]
fn telling_lines_are_errors_the_focus_and_both_ends() {
    let view = View::new(&[], &[], &[], &[], &Bytes, Language::English);
    let mut lines: Vec<String> = (0..60).map(|line| format!("line {line:02} {}\n", "x".repeat(50))).collect();
    lines[20] = format!("error: no such file {}\n", "e".repeat(39));
    lines[40] = format!("the lexer is in focus {}\n", "f".repeat(36));
    let text = lines.concat();
    let kept = |budget, focus: Option<&str>| {
        let ranges = informative_lines(&view, &text, &Focus::new(focus), budget).keep;
        ranges.iter().map(|range| text[range.start as usize..range.end as usize].to_owned()).collect::<Vec<_>>()
    };
    let check = |budget, focus, expect: &[usize]| {
        assert_eq!(kept(budget, focus), expect.iter().map(|line| lines[*line].clone()).collect::<Vec<_>>());
    };
    let marks = view.mark_tokens() + view.further_mark_tokens();
    let line = lines[0].len() as Tokens;
    check(0, None, &[]);
    check(view.mark_tokens() + 2 * line, None, &[0, 59]);
    check(marks + 3 * line + 10, None, &[0, 20, 59]);
    check(marks + view.further_mark_tokens() + 4 * line + 10, Some("where is the lexer?"), &[0, 20, 40, 59]);
}

#[test]
fn a_run_of_one_line_is_told_once() {
    let view = View::new(&[], &[], &[], &[], &Bytes, Language::English);
    let text = format!("start\n{}end\n", "error: connection refused by the host\n".repeat(30));
    let keep = informative_lines(&view, &text, &Focus::new(None), 400).keep;
    let shown: String = keep.iter().map(|range| &text[range.start as usize..range.end as usize]).collect();
    assert_eq!(shown.matches("refused").count(), 1, "{shown}");
    assert!(shown.starts_with("start") && shown.ends_with("end\n"), "{shown}");
}
