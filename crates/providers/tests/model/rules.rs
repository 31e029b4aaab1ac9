//! What is added by rule.

use epitome_providers::chat::Stop;

use super::scripted::{Case, FIXING, GOOD, Scripted, good, said, summarizer};

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
fn exact_strings_that_the_text_does_not_hold() {
    let fixture = FIXING
        .replace("cargo test\"", "cargo test --features ab_12\"")
        .replace("Report", "Use port 48213 and ticket LEX-77. See docs/grammar.md. Report");
    let case = Case::new(&fixture);
    let expect = "## Said by the user, in order: later words win
- “Use port 48213 and ticket LEX-77.”

## Changed files, newest first
- src/lexer.rs: edited

## Exact strings
- docs/grammar.md";
    // What only calls held is no string that a reader needs.
    assert_eq!(added(&case, GOOD), expect);
}

#[test]
fn the_state_of_the_work() {
    let fixture = format!(
        "{FIXING}call TodoWrite t1 {{\"todos\":[{{\"content\":\"fix the lexer\",\"status\":\"completed\"}},{{\"content\":\"measure the time\",\"status\":\"in_progress\"}},{{\"content\":\"write README.md\",\"status\":\"pending\"}}]}}\nresult t1: ok\ncall Bash g1 {{\"command\":\"git diff --stat\"}}\nresult g1:\n   src/lexer.rs | 12 ++--\n   1 file changed, 8 insertions(+), 4 deletions(-)\n"
    );
    let case = Case::new(&fixture);
    let added = added(&case, GOOD);
    let expect = "## Changed files, newest first
- src/lexer.rs: edited

## Task list at the end of this part
- [x] fix the lexer
- [ ] measure the time (in progress)
- [ ] write README.md

## Changes as git counted them
- src/lexer.rs | 12 ++--
- 1 file changed, 8 insertions(+), 4 deletions(-)";
    assert!(added.starts_with(expect), "{added}");
}

#[test]
fn what_was_added_before_is_carried_and_not_told_twice() {
    let earlier = format!(
        "{GOOD}\n\n## Task list at the end of this part\n- [ ] write README.md\n\n## Exact strings\n- docs/old.md · src/lexer.rs\n- Bash: --port 48213 of it"
    );
    let fixture = format!(
        "user(summary):\n{}user: go on word … x60\nassistant: more word … x60\ncall Read c9 {{\"file_path\":\"src/new.rs\"}}\nresult c9: x\n",
        earlier.lines().map(|line| format!("  {line}\n")).collect::<String>()
    );
    let case = Case::new(&fixture);
    let model = Scripted::new(100_000, |_, _| good());
    let summary = case.ask(&model).unwrap();
    let prompt = &model.requests()[0].user;
    assert!(
        prompt.contains("\n- [ ] write README.md") && !summary.text.contains("[ ]"),
        "the model knows what became of it"
    );
    assert!(!prompt.contains("Exact strings"), "rules carry it, {prompt}");
    // Of strings those are carried that somebody still asks for.
    let asked = fixture.replace("user: go on word", "user: Always keep docs/old.md as it is. Go on word");
    let summary = Case::new(&asked).ask(&Scripted::new(100_000, |_, _| good())).unwrap();
    assert!(summary.text.ends_with("\n\n## Exact strings\n- docs/old.md"), "{}", summary.text);
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

#[test]
fn a_section_that_the_model_copies_is_not_there_twice() {
    let answer = format!("{GOOD}\n\n## Changed files, newest first\n- Something else.\n\n## Mood\n- fine");
    let case = Case::new(FIXING);
    let model = Scripted::new(100_000, move |_, _| said(&answer, Stop::End));
    let text = case.ask(&model).unwrap().text;
    assert!(
        text.contains("## Mood\n- fine\n\n## Changed files, newest first\n- src/lexer.rs: edited")
            && !text.contains("Something"),
        "{text}"
    );
}
