use super::*;
use epitome_strategy::Protection;
use epitome_testkit::PlanCase;

/// `turns` questions and answers of about 79 tokens each behind a system prompt, and a last question.
fn chat(turns: usize) -> String {
    let mut text = String::from("system: S\n");
    for turn in 1..=turns {
        text.push_str(&format!("user: q{turn} … x100\nassistant: a{turn} … x100\n"));
    }
    text
}

fn case(turns: usize, settings: &str) -> PlanCase {
    PlanCase::new::<SlidingWindow>(&chat(turns), settings)
}

#[test]
fn runs_only_above_twice_the_window() {
    case(9, "").expect("declined: 18 messages: runs above 18");
    case(10, "fill_target=false").target(1500).expect("summarize u2..u11 in 225 tokens (older-than-window)");
    case(3, "window=2 min_summary_tokens=20").target(400).expect("summarize u2..u4 in 60 tokens (older-than-window)");
}

#[test]
fn the_window_grows_as_far_as_the_goal_allows() {
    let small = case(20, "").target(1500).run();
    let large = case(20, "").target(2800).run();
    assert_eq!(small.text, "summarize u2..u29 in 225 tokens (older-than-window)");
    assert_eq!(large.text, "summarize u2..u19 in 420 tokens (older-than-window)");
    assert!(small.after <= 1500 && small.after > 1300, "{}", small.after);
    assert!(large.after <= 2800 && large.after > 2600, "{}", large.after);
}

#[test]
fn the_window_shrinks_only_when_it_must() {
    case(10, "").target(610).expect("summarize u2..u17 in 200 tokens (window-shrunk)");
    // The newest question and the newest answer stay whatever the goal is.
    case(10, "").target(10).expect("summarize u2..u18 in 200 tokens (window-shrunk)");
}

#[test]
fn what_is_protected_stays_in_its_place() {
    case(20, "").target(1500).protect(5, Protection::Pinned).expect(
        "summarize u6..u30 in 225 tokens (older-than-window)
         drop u2..u4 (older-than-window)",
    );
}

#[test]
fn earlier_summaries_are_folded_in() {
    let fixture = chat(20).replacen("assistant: a1 … x100", "user(summary): goals … x50", 1);
    PlanCase::new::<SlidingWindow>(&fixture, "")
        .target(1500)
        .expect("summarize u2..u29 in 225 tokens (older-than-window)");
    let fixture = format!("user: go\nuser(summary): goals … x500\n{}", "user(pinned): x\nassistant: y\n".repeat(12));
    let mut case = PlanCase::new::<SlidingWindow>(&fixture, "window=2");
    for unit in (3..26).step_by(2) {
        case = case.protect(unit, Protection::Pinned);
    }
    case.target(300).expect("declined: nothing in front of the window may leave");
}

#[test]
fn a_window_starts_in_front_of_a_call() {
    let mut fixture = chat(9);
    fixture.push_str("call run c1 {}\ncall run c2 {}\nresult c1: x\nresult c2: x\nassistant: done\n");
    // The newest 3 messages start at a result: the step that called for it, text and all, stays whole.
    PlanCase::new::<SlidingWindow>(&fixture, "window=3 fill_target=false")
        .target(800)
        .expect("summarize u2..u16 in 200 tokens (older-than-window)");
}
