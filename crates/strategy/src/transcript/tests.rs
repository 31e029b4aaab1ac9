use proptest::prelude::*;

use epitome_session::Language;

use super::*;

fn rows(lines: &[&str]) -> Rows {
    let mut rows = Rows::default();
    lines.iter().for_each(|line| rows.push(line, false));
    rows
}

fn example() -> Vec<Record> {
    let mut shortened = rows(&["running 3 tests"]);
    shortened.push("test result: FAILED", true);
    shortened.leave_out();
    vec![
        Record::Speech { speaker: Speaker::Assistant, rows: rows(&["I run the tests.", "▸ is only a mark here"]) },
        Record::Call {
            name: "Bash".to_owned(),
            head: "cargo test".to_owned(),
            ending: Some(Ending::Failed),
            arguments: vec![],
            output: shortened,
        },
        Record::Call {
            name: "Edit".to_owned(),
            head: "src/lib.rs".to_owned(),
            ending: None,
            arguments: vec![(Sign::Old, rows(&["    one()"])), (Sign::New, rows(&["    two()", "- three"]))],
            output: rows(&["done", "- a list", "\\» escaped"]),
        },
        Record::Speech { speaker: Speaker::User, rows: rows(&["No, keep one()."]) },
        Record::Unsaid,
        Record::Speech { speaker: Speaker::User, rows: rows(&["Yes."]) },
        Record::LeftOut(LeftOutCalls {
            calls: 7,
            failures: 2,
            names: vec!["src/a b.rs".to_owned(), "c.md".to_owned()],
        }),
        Record::Speech { speaker: Speaker::Assistant, rows: rows(&["So I do."]) },
        Record::LeftOut(LeftOutCalls { calls: 1, failures: 1, names: vec![] }),
        Record::Call {
            name: "Stop".to_owned(),
            head: String::new(),
            ending: Some(Ending::Fine),
            arguments: vec![],
            output: Rows::default(),
        },
    ]
}

#[test]
fn the_form() {
    let expect = "\
» I run the tests.
\x20\\▸ is only a mark here
▸ Bash: cargo test ✗
→ running 3 tests …
\x20test result: FAILED …
▸ Edit: src/lib.rs
-     one()
+     two()
+ - three
→ done
\x20- a list
\x20\\\\» escaped
« No, keep one().
» …
« Yes.
▸ … ×7 (✗ ×2): src/a b.rs, c.md
» So I do.
▸ … (✗)
▸ Stop ✓";
    assert_eq!(write(&example()), expect);
    assert_eq!(read(expect), example());
    assert!(is_transcript(expect) && is_transcript(&format!("{}\n{expect}", legend(Language::Chinese))));
    assert!(!is_transcript("## Goal\n- a summary of another kind"));
}

/// Lines as they can stand in a record: one line each, the first not empty.
fn lines() -> impl Strategy<Value = Rows> {
    let line = prop_oneof![
        "[a-z+-|»«▸→◦…\\\\ ]{1,12}",
        "[ -~]{1,30}",
        "[»«▸→◦] ?[a-z]{0,5}",
        "▸? ?…( ×[0-9])?",
        "… … [a-z]{0,3}",
        "… [a-z]{1,5} …"
    ];
    let rows = (prop::collection::vec((line, any::<bool>()), 1..5), any::<bool>()).prop_map(|(lines, gap)| {
        let mut rows = Rows::default();
        lines.iter().for_each(|(line, gap)| rows.push(line, *gap));
        if gap {
            rows.leave_out();
        }
        rows
    });
    rows.prop_filter("nothing but marks of what was left out", |rows| !rows.is_empty())
}

fn record() -> impl Strategy<Value = Record> {
    let speaker = prop::sample::select(Speaker::ALL.to_vec());
    let speech = (speaker, lines()).prop_map(|(speaker, rows)| Record::Speech { speaker, rows });
    let arguments = (prop::option::of(lines()), prop::option::of(lines())).prop_map(|(old, new)| {
        let signed = [(Sign::Old, old), (Sign::New, new)];
        signed.into_iter().filter_map(|(sign, rows)| Some((sign, rows?))).collect::<Vec<_>>()
    });
    let output = prop_oneof![Just(Rows::default()), lines()];
    let ending = prop::option::of(prop::sample::select(Ending::ALL.to_vec()));
    let call = ("[a-zA-Z_]{1,8}", "[a-z/. :]{0,12}( ?[✓✗∅]\\\\{0,2})?", ending, arguments, output)
        .prop_map(|(name, head, ending, arguments, output)| Record::Call { name, head, ending, arguments, output });
    let left_out = (1..1_000_u32, 0..9_u32, prop::collection::vec("[ -~▸…×✗]{1,12}", 0..6)).prop_map(
        |(calls, failures, names)| {
            let one = |name: &String| LeftOutCalls { calls: 0, failures: 0, ..LeftOutCalls::new(None, Some(name)) };
            let mut left_out = LeftOutCalls { calls, failures, names: vec![] };
            names.iter().for_each(|name| left_out += one(name));
            Record::LeftOut(left_out)
        },
    );
    prop_oneof![speech, call, left_out, Just(Record::Unsaid)]
}

#[test]
fn records_of_a_text_with_other_lines() {
    let text = "What the signs mean.\n» I look.\n And think.\n \\▸ No call.\n▸ … ×3 (✗)\n» …\n▸ Bash: cat a.rs ✗\n| | head\n→ fn a() …\n▸ Stop ✓\n« No: wait.";
    let texts = |record: &Record| match record {
        Record::Speech { speaker, rows } => format!("{speaker:?}: {}", rows.text()),
        Record::Call { name, head, arguments, output, .. } => {
            format!(
                "{name} {head} {:?} → {}",
                arguments.iter().map(|(_, rows)| rows.text()).collect::<Vec<_>>(),
                output.text()
            )
        }
        Record::LeftOut(_) | Record::Unsaid => "…".to_owned(),
    };
    let read: Vec<String> = read(text).iter().map(texts).collect();
    let expect = [
        "Assistant: I look.\nAnd think.\n▸ No call.",
        "…",
        "…",
        "Bash cat a.rs [\"| head\"] → fn a() …",
        "Stop  [] → ",
        "User: No: wait.",
    ];
    assert_eq!(read, expect);
    assert!(super::read("## Goal\n- no transcript").is_empty());
}

proptest! {
    /// Written records are read back, whatever their text.
    #[test]
    fn a_transcript_is_read_back(mut records in prop::collection::vec(record(), 1..6)) {
        // What a tool printed behind a call without output is that call's.
        let mut is_of_call = false;
        records.retain(|record| {
            let is_tool = matches!(record, Record::Speech { speaker: Speaker::Tool, .. });
            let stays = !(is_of_call && is_tool);
            is_of_call = match record {
                Record::Call { output, .. } => output.is_empty(),
                _ => is_of_call && is_tool,
            };
            stays
        });
        prop_assert_eq!(read(&write(&records)), records);
    }
}
