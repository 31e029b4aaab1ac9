use super::*;
use epitome_testkit::PlanCase;

/// A session of `Read`, `Write` and `Edit` calls: one word each, such as `R:a.rs`, `R:a.rs@10+20` (offset and limit),
/// `W:a.rs`, `E:a.rs`, `F:a.rs` (a read that fails); `=text` after it gives the output, 100 tokens of `x` when not given.
fn fixture(words: &str) -> String {
    let mut text = String::from("user: go\n");
    for (index, word) in words.split_whitespace().enumerate() {
        let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
        let (target, output) = rest.split_once('=').unwrap_or((rest, ""));
        let (path, part) = target.split_once('@').unwrap_or((target, ""));
        let part = part
            .split_once('+')
            .map_or(String::new(), |(offset, limit)| format!(r#","offset":{offset},"limit":{limit}"#));
        let (tool, more, status) = match kind {
            "R" => ("Read", part, ""),
            "F" => ("Read", part, " error"),
            "W" => ("Write", r#","content":"new""#.to_owned(), ""),
            _ => ("Edit", r#","old_string":"a","new_string":"b""#.to_owned(), ""),
        };
        // Outputs differ unless a case says otherwise.
        let output = if output.is_empty() { format!("{index}xx … x100") } else { format!("{output} … x100") };
        text.push_str(&format!(
            "call {tool} c{index} {{\"file_path\":\"{path}\"{more}}}\nresult c{index}{status}: {output}\n"
        ));
    }
    text.push_str("user: on\nassistant: end\n");
    text
}

/// The numbers of the calls whose outputs are cleared, with the reasons.
fn check(words: &str, settings: &str, expect: &str) {
    let planned = PlanCase::new::<SupersededReads>(&fixture(words), settings).run();
    let shown: Vec<String> = planned
        .plan
        .edits
        .iter()
        .map(|edit| match edit {
            Edit::Excerpt { message, keep, reason, .. } if keep.is_empty() => {
                format!("{}:{}", message / 2 - 1, reason.code)
            }
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(shown.join(" "), expect, "{words}\n{}", planned.text);
}

#[test]
fn a_file_read_again() {
    check("R:a.rs R:b.rs R:a.rs", "", "0:read-again");
    check("R:a.rs R:a.rs R:a.rs", "", "0:read-again 1:read-again");
    check("R:a.rs F:a.rs", "", "");
    check("R:a.rs R:./a.rs R:/repo/a.rs", "", "0:read-again 1:read-again");
}

#[test]
fn a_part_read_again() {
    check("R:a.rs@10+20 R:a.rs", "", "0:read-again");
    check("R:a.rs R:a.rs@10+20", "", "");
    check("R:a.rs@10+20 R:a.rs@5+100", "", "0:read-again");
    check("R:a.rs@10+20 R:a.rs@20+20", "", "");
}

#[test]
fn a_file_changed_later() {
    check("R:a.rs E:a.rs", "", "");
    check("R:a.rs W:a.rs", "", "0:written-later");
    check("R:a.rs E:a.rs R:a.rs", "", "0:read-again");
    check("W:a.rs R:a.rs", "", "");
    check("R:a.rs E:a.rs R:a.rs E:a.rs", "", "0:read-again");
}

#[test]
fn duplicates_of_any_output() {
    check("R:a.rs=same R:b.rs=same", "", "0:duplicate-output");
    check("R:a.rs=same R:b.rs=same", "min_tokens=500", "");
}

#[test]
fn a_read_that_shows_less_supersedes_nothing() {
    let read = |id: &str, output: &str| format!("call Read {id} {{\"file_path\":\"a.rs\"}}\nresult {id}: {output}\n");
    let check = |second: &str, expect: &str| {
        let fixture =
            format!("user: go\n{}{}user: on\nassistant: end\n", read("c1", "text … x500"), read("c2", second));
        PlanCase::new::<SupersededReads>(&fixture, "").expect(expect);
    };
    check("more … x400", "excerpt m2.0 keep nothing (read-again)");
    check("less … x100", "declined: no tool output is redundant");
    check("File unchanged since last read.", "declined: no tool output is redundant");
}

#[test]
fn nothing_to_do() {
    check("R:a.rs R:b.rs", "", "");
}

#[test]
fn parts_of_files() {
    let span = |part: &str| {
        let access = FileAccess::ReadPart;
        Span::new(&FileEvent { path: String::new(), access, part: part.to_owned(), call: 0, failed: false })
    };
    assert_eq!(span("offset=10 limit=5 "), Span::Lines(10, 15));
    assert_eq!(span("offset=10 "), Span::Lines(10, 2010));
    assert_eq!(span("start_line=3 end_line=9 "), Span::Lines(3, 10));
    assert_eq!(span("view_range=[3,9] "), Span::Lines(3, 10));
    assert_eq!(span("view_range=[3,-1] "), Span::Lines(3, u64::MAX));
    assert_eq!(span("pages=\"1-3\" "), Span::Named("pages=\"1-3\" ".to_owned()));
    assert!(!Span::Lines(0, 9).covers(&Span::Whole));
}
