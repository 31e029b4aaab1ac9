//! What the model wrote is held against the session's log; hand-offs of the conversation's own model.

use epitome_providers::chat::{ChatModel, Stop};
use epitome_providers::model::{ModelSettings, ModelSummarizer};
use epitome_strategy::{SummarizeError, Summary, SummaryTask};
use std::sync::Arc;

use super::scripted::{Case, FIXING, GOOD, Scripted, good, said, with};
use epitome_engine::block_on;
use epitome_strategy::Summarizer;

/// A summary of [`FIXING`] that is held against nothing but its messages.
fn held_against_its_messages(
    answers: impl Fn(usize) -> String + Send + Sync + 'static,
) -> (Result<Summary, SummarizeError>, usize) {
    let case = Case::new(FIXING);
    let model = Scripted::new(100_000, move |_, number| said(&answers(number), Stop::End));
    let summarizer = ModelSummarizer::new(Arc::clone(&model) as Arc<dyn ChatModel>, ModelSettings::default()).unwrap();
    let task = SummaryTask { session: None, ..case.task() };
    (block_on(summarizer.summarize(&task)), model.requests().len())
}

#[test]
fn what_is_right_is_asked_for_once() {
    let (summary, asked) = held_against_its_messages(|_| GOOD.to_owned());
    let summary = summary.unwrap();
    assert_eq!(asked, 1, "{}", summary.text);
    let check = summary.check.unwrap();
    assert!(check.strings >= 5 && check.unknown.is_empty() && check.asked_again.is_none(), "{check:?}");
    assert_eq!((check.demands, check.files), (1, 1));
    assert!(check.added_demands.is_empty() && check.added_files.is_empty() && check.left_out.is_empty(), "{check:?}");
}

#[test]
fn strings_that_nobody_said_are_marked_and_nothing_is_asked_again() {
    let (summary, asked) = held_against_its_messages(|_| GOOD.replace("src/lexer.rs", "src/parser.rs"));
    let summary = summary.unwrap();
    assert!(asked == 1 && summary.text.contains("in src/parser.rs [unverified];"), "{}", summary.text);
    let check = summary.check.unwrap();
    assert_eq!((check.unknown, check.added_files), (vec!["src/parser.rs".to_owned()], vec!["src/lexer.rs".to_owned()]));
    assert_eq!(check.asked_again, None);
}

#[test]
fn without_a_check_the_text_stays_as_it_is() {
    let case = Case::new(FIXING);
    let wrong =
        GOOD.replace("src/lexer.rs", "src/parser.rs").replace("- The public API must never be touched.", "- see above");
    let settings = || ModelSettings { checks: false, ..ModelSettings::default() };
    let answer = wrong.clone();
    let model = Scripted::new(100_000, move |_, _| said(&answer, Stop::End));
    let summary = case.write(&with(&model, settings())).unwrap();
    assert_eq!((summary.text, summary.check), (wrong, None));
    assert!(!model.requests()[0].user.contains("each must stand"), "no strings are asked for");
    // One that is too long is cut all the same.
    let long =
        Scripted::new(100_000, |_, _| said(&format!("{GOOD}\n{}", "- Another finding.\n".repeat(2_000)), Stop::End));
    case.write(&with(&long, settings())).unwrap();
}

/// What a model makes of its own accord: other headings, or none, other lists, strings in parts.
#[test]
fn any_form_is_used_as_it_is() {
    let handoff = "# Hand-off: nested brackets\n\nThe user wants the lexer to accept nested brackets, the time it takes in README.md, and the \
        public API never touched.\n\n**Where it stands**\n\n1. `Lexer::next` dropped the depth counter (lexer.rs:41); `next_token()` counts it.\n   \
        E0308 is gone.\n2. `cargo test` is green: 3.\n\n### What comes now\n\nMeasure, then README.md.";
    let check = |text: &'static str| {
        let (summary, asked) = held_against_its_messages(move |_| text.to_owned());
        let summary = summary.unwrap();
        assert!(summary.text.starts_with(text), "{}", summary.text);
        let check = summary.check.unwrap();
        assert_eq!((asked, check.unknown.len(), check.added_demands.len()), (1, 0, 0), "{check:?}");
    };
    check(handoff);
    let prose = handoff.replace(['#', '*', '\n'], " ");
    check(Box::leak(prose.trim().to_owned().into_boxed_str()));
}

#[test]
fn a_demand_that_was_left_out_is_added_word_for_word() {
    let (summary, asked) =
        held_against_its_messages(|_| GOOD.replace("- The public API must never be touched.", "- see above"));
    let summary = summary.unwrap();
    assert_eq!(asked, 1, "rules do it");
    let added = "- Measure the time.\n\n## Said by the user, in order: later words win\n- “Never touch the public API.";
    assert!(summary.text.contains(added), "{}", summary.text);
    assert_eq!(summary.check.unwrap().added_demands.len(), 1);
}

#[test]
fn demands_that_were_left_out_stand_in_the_order_in_which_they_were_said() {
    let case = Case::new(&format!(
        "{FIXING}user: You must always use tabs.\nassistant: ok\nuser: You must never use tabs, always use blanks.\n"
    ));
    let model = Scripted::new(100_000, |_, _| said(GOOD, Stop::End));
    let summarizer = ModelSummarizer::new(model as Arc<dyn ChatModel>, ModelSettings::default()).unwrap();
    let summary = block_on(summarizer.summarize(&SummaryTask { session: None, ..case.task() })).unwrap();
    let added = "## Said by the user, in order: later words win\n- “You must always use tabs.” \
        Later: “You must never use tabs, always use blanks.”\n- “You must never use tabs, always use blanks.”";
    assert!(summary.text.contains(added), "{}", summary.text);
}

#[test]
fn a_state_that_the_log_contradicts_is_corrected() {
    let stated = GOOD.replace("## State\n", "## State\n- `cargo test`: failed\n- `src/lexer.rs`: deleted\n");
    assert_ne!(stated, GOOD);
    let (summary, asked) = held_against_its_messages(move |_| stated.clone());
    let summary = summary.unwrap();
    let right = "- `cargo test`: passed\n- `src/lexer.rs`: deleted [unverified]\n";
    assert!(asked == 1 && summary.text.contains(right), "{}", summary.text);
    assert_eq!(summary.check.unwrap().corrected, ["- `cargo test`: failed", "- `src/lexer.rs`: deleted"]);
}

#[test]
fn the_conversation_is_asked_for_hand_offs_only() {
    let model = Scripted::new(0, |_, _| good());
    let asked = Arc::clone(&model) as Arc<dyn ChatModel>;
    let summarizer = ModelSummarizer::in_conversation(asked, ModelSettings::default()).unwrap();
    let mut case = Case::new(FIXING);
    let error = block_on(summarizer.summarize(&case.task())).unwrap_err();
    assert!(error.message.contains("a part of the session") && model.requests().is_empty(), "{error}");
    case.request.about = vec![0, 1, 2];
    let summary = block_on(summarizer.summarize(&case.task())).unwrap();
    assert!(summary.text.starts_with(GOOD), "{}", summary.text);
    let prompt = &model.requests()[0].user;
    assert!(prompt.starts_with("This is not a part of the work.") && prompt.contains("## Next step\n"), "{prompt}");
    assert!(!prompt.contains(">>> ") && !prompt.contains("An earlier hand-off"), "{prompt}");
    // The same again is asked again: it is the end of another conversation.
    block_on(summarizer.summarize(&case.task())).unwrap();
    assert_eq!(model.requests().len(), 2);
    let mut later = Case::new(&format!("user(summary): ## Goal\n{FIXING}"));
    later.request.about = vec![0, 1, 2];
    block_on(summarizer.summarize(&later.task())).unwrap();
    assert!(model.requests()[2].user.contains("An earlier hand-off stands in the conversation"));
}
