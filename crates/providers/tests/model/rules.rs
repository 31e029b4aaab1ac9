//! What is added by rule.

use epitome_providers::chat::Stop;

use super::scripted::{Case, FIXING, GOOD, Scripted, said, summarizer};

/// What stands behind the model's text.
fn added(case: &Case, answer: &'static str) -> String {
    let model = Scripted::new(100_000, move |_, _| said(answer, Stop::End));
    let summary = case.ask(&model).unwrap();
    summary
        .text
        .split_once("\n- Measure the time.\n")
        .unwrap_or_else(|| unreachable!("{}", summary.text))
        .1
        .trim()
        .to_owned()
}

#[test]
fn what_was_said_and_done() {
    let fixture = FIXING
        .replace("cargo test\"", "cargo test --features ab_12\"")
        .replace("Report", "Use port 48213 and ticket LEX-77. See docs/grammar.md. Report");
    let wrote = "call Write c9 {\"file_path\":\"src/depth.rs\",\"content\":\"fn depth() {}\"}\nresult c9: ok\n";
    let case = Case::new(&format!("{fixture}{wrote}"));
    let expect = "## Said by the user, in order: later words win
- “Use port 48213 and ticket LEX-77.”
- “See docs/grammar.md.”

## Changed files, newest first
- src/depth.rs: changed";
    // What only calls held is no string that a reader needs, and the text tells of src/lexer.rs.
    assert_eq!(added(&case, GOOD), expect);
}

#[test]
fn what_was_added_before_is_not_told_twice() {
    let earlier = format!(
        "{GOOD}\n\n## Said by the user, in order: later words win\n- “Use port 48213.”\n\n## Changed files, newest first\n- src/old.rs: edited"
    );
    let fixture = format!(
        "user(summary):\n{}user: Keep docs/old.md. Go on word … x60\nassistant: more word … x60\ncall Write c9 {{\"file_path\":\"src/new.rs\"}}\nresult c9: x\n",
        earlier.lines().map(|line| format!("  {line}\n")).collect::<String>()
    );
    let case = Case::new(&fixture);
    let copied: &'static str = Box::leak(earlier.into_boxed_str());
    let model = Scripted::new(100_000, |_, _| said(copied, Stop::End));
    let text = case.ask(&model).unwrap().text;
    let said = "## Said by the user, in order: later words win\n- “Use port 48213.”\n- “Keep docs/old.md.”\n";
    assert!(
        text.contains(said)
            && text.ends_with("\n## Changed files, newest first\n- src/old.rs: edited\n- src/new.rs: changed"),
        "{text}"
    );
}

#[test]
fn too_long_a_text_is_cut_at_what_matters_least() {
    let case = Case::new(&format!("{FIXING}assistant: word … x4000\n"));
    let text: &'static str = Box::leak(
        GOOD.replace(
            "- error[E0308]",
            &format!("{}- error[E0308]", "- a small error that was fixed at once. \n".repeat(60)),
        )
        .replace("- none yet", &"- It was decided to edit the lexer.\n".repeat(40))
        .into_boxed_str(),
    );
    for max_tokens in [160, 200, 300, 500, 900] {
        let model = Scripted::new(100_000, move |_, _| said(text, Stop::End));
        let written = Case {
            request: epitome_strategy::SummaryRequest::new(max_tokens, None),
            ..Case::with_messages(case.messages.clone())
        }
        .write(&summarizer(&model))
        .unwrap()
        .text;
        assert!(written.contains("The user wants the lexer to accept nested brackets"), "{max_tokens}\n{written}");
        assert!(written.contains("The public API must never be touched."), "{max_tokens}\n{written}");
        assert!(written.contains("The agent has to write the time to README.md."), "{max_tokens}\n{written}");
        let errors = written.matches("a small error").count();
        let files = written.matches("It was decided").count();
        assert!(errors < 60 && (max_tokens > 200 || files + errors < 12), "{max_tokens}\n{written}");
    }
}
