use super::*;
use epitome_strategy::Protection;
use epitome_testkit::PlanCase;

/// A task, a chat of `turns` questions and answers of about 54 tokens a message, and a last question.
fn chat(turns: usize) -> String {
    let mut text = String::from("system: S\nuser: the task\n");
    for turn in 1..=turns {
        text.push_str(&format!("assistant: answer {turn} … x20\nuser: question {turn} … x20\n"));
    }
    text
}

/// A task and `steps` tool steps: number 3 fails, number 5 says that something is critical.
fn agent(steps: usize) -> String {
    let mut text = String::from("user: the task\n");
    for step in 1..=steps {
        let said = if step == 5 { "This is critical." } else { "I look." };
        let mark = if step == 3 { " error" } else { "" };
        text.push_str(&format!("assistant: {said}\ncall Read c{step} {{}}\nresult c{step}{mark}: line … x40\n"));
    }
    text
}

fn case(fixture: &str, settings: &str) -> PlanCase {
    PlanCase::new::<Importance>(fixture, &format!("min_summary_tokens=20 {settings}"))
}

fn scores(fixture: &str, settings: &str) -> Vec<String> {
    let planned = case(fixture, &format!("run_above=0 keep_newest=0 keep_score=1000 strict=true {settings}")).run();
    let evidence = planned.plan.edits.iter().flat_map(|edit| edit.reason().evidence.iter());
    evidence.map(|line| line.split_once(": ").unwrap_or_default().1.to_owned()).collect()
}

#[test]
fn messages_are_scored() {
    let check = |middle: &str, expect: &str| {
        let fixture = format!("user: t\n{middle}\nuser(injected): filler … x60\nuser: last");
        let scores = scores(&fixture, "keep_newest=0");
        assert!(scores.iter().any(|score| score == expect), "{middle}: {scores:?}");
    };
    check("user: the grey one", "5.0 = typed 5.0");
    check("assistant: It rains.", "2.0 = model 2.0");
    check("user(injected): the time", "1.0 = injected 1.0");
    check("assistant: We chose grey.", "2.5 = model 2.0 + keywords 0.5");
    check("assistant: 我们决定用灰色。", "2.5 = model 2.0 + keywords 0.5");
    check("assistant: The failure is there.", "4.0 = model 2.0 + error or fix 2.0");
    check("assistant: 修复", "4.0 = model 2.0 + error or fix 2.0");
    check("assistant: It is done.", "3.5 = model 2.0 + completion 1.5");
    check("assistant: 搞定", "3.5 = model 2.0 + completion 1.5");
    check("user: That is critical.", "8.0 = typed 5.0 + important 3.0");
    check("user: 这个很关键", "8.0 = typed 5.0 + important 3.0");
    check("user(summary): we decided that the failure is critical", "1.0 = summary 1.0");
    check("assistant: I look.\ncall Read c1 {}\nresult c1: x", "4.0 = model 2.0 + tool call 2.0");
    check("assistant: I look.\ntextcall bash: ls\nuser(output): x", "4.0 = model 2.0 + tool call 2.0");
}

#[test]
fn words_count_a_few_times() {
    let fixture = "user: t\nassistant: We decided, decided, decided.\nuser(injected): filler … x60\nuser: last";
    let check = |settings: &str, expect: &str| assert_eq!(scores(fixture, settings)[0], expect, "{settings}");
    check("", "3.5 = model 2.0 + keywords 1.5");
    check("max_keywords=2", "3.0 = model 2.0 + keywords 1.0");
    check("max_keywords=0", "2.0 = model 2.0");
}

#[test]
fn what_a_tool_printed_counts_for_how_it_went() {
    let check = |middle: &str, settings: &str, expect: &str| {
        let scores = scores(&format!("user: t\n{middle}\nuser(injected): filler … x60\nuser: last"), settings);
        assert!(scores.iter().any(|score| score == expect), "{middle}: {scores:?}");
    };
    let read = "call Read c1 {}\nresult c1: important error … x500";
    check(read, "", "4.0 = model 2.0 + tool call 2.0");
    check("call Read c1 {}\nresult c1 error: gone", "", "6.0 = model 2.0 + tool call 2.0 + error or fix 2.0");
    let shell = "call Bash c1 {}\nresult c1:\n  line … x500 lines\n  exit code 2";
    check(shell, "", "6.0 = model 2.0 + tool call 2.0 + error or fix 2.0");
    let shell = "call Bash c1 {}\nresult c1:\n  error here\n  line … x500 lines";
    check(shell, "", "4.0 = model 2.0 + tool call 2.0");
}

#[test]
fn runs_above_ten_messages() {
    case(&chat(5), "").target(100).expect("summarize u2..u10 in 20 tokens (lowest-score)");
    let fixture = chat(5).replacen("user: the task\n", "", 1);
    case(&fixture, "").target(100).expect("declined: 10 messages: runs above 10");
}

#[test]
fn the_threshold_to_the_letter() {
    // Answers score 2.0, questions 5.0: the answers leave, of them the newest five stay.
    case(&chat(8), "strict=true").target(10).expect(
        "drop u2 (low-score)
         drop u4 (low-score)
         drop u6 (low-score)",
    );
    case(&chat(8), "strict=true keep_newest=6").target(10).expect(
        "drop u2 (low-score)
         drop u4 (low-score)",
    );
    case(&agent(20), "strict=true").target(10).expect("declined: no unit that may leave scores below 3");
}

#[test]
fn as_many_leave_as_the_goal_needs() {
    let planned = case(&chat(20), "").target(1850).run();
    assert_eq!(
        planned.text,
        (1..=15).map(|answer| format!("drop u{} (low-score)", 2 * answer)).collect::<Vec<_>>().join("\n"),
        "each answer stands alone, and none is worth a summary"
    );
    assert!(planned.after <= 1850 && planned.after > 1500, "{}", planned.after);
}

#[test]
fn beyond_the_threshold_the_lowest_score_goes_first() {
    // Every step scores 4.0 or more; the failed one and the critical one stay longest.
    let planned = case(&agent(12), "tail_share=0").target(500);
    let planned = planned.expect(
        "drop u1..u2 (lowest-score)
         drop u4 (lowest-score)
         drop u6..u8 (lowest-score)",
    );
    assert_eq!(planned.plan.edits[0].reason().score, Some(4.0));
    case(&agent(12), "tail_share=0").target(120).expect("summarize u1..u11 in 20 tokens (lowest-score)");
}

#[test]
fn the_newest_leave_last() {
    // Questions are worth more than answers, but not more than the newest answers.
    let text = case(&chat(8), "tail_share=0.4").target(500).run().text;
    assert_eq!(
        text,
        "drop u2..u7 (lowest-score)\ndrop u9 (lowest-score)\ndrop u11 (lowest-score)\ndrop u13 (lowest-score)"
    );
}

#[test]
fn each_run_has_a_summary_of_its_own_where_it_is_long_enough() {
    let mut fixture = String::from("user: the task\n");
    for step in 1..=30 {
        let said = if step % 6 == 0 { "This is critical." } else { "I look." };
        fixture.push_str(&format!("assistant: {said}\ncall Read c {{}}\nresult c: line … x40\n"));
    }
    let check = |settings: &str, expect: &str| case(&fixture, settings).target(1000).expect(expect);
    check(
        "min_run_tokens=60",
        "summarize u1..u5 in 30 tokens (lowest-score)
         summarize u7..u11 in 30 tokens (lowest-score)
         summarize u13..u17 in 30 tokens (lowest-score)
         drop u19..u21 (lowest-score)",
    );
    let none = "drop u1..u5 (lowest-score)
         drop u7..u11 (lowest-score)
         drop u13..u17 (lowest-score)
         drop u19..u21 (lowest-score)";
    check("min_run_tokens=5000", none);
    check("", none);
}

#[test]
fn what_is_protected_stays() {
    case(&chat(20), "").target(1950).protect(2, Protection::Pinned).expect(
        "drop u4 (low-score)
         drop u6 (low-score)
         drop u8 (low-score)
         drop u10 (low-score)
         drop u12 (low-score)
         drop u14 (low-score)
         drop u16 (low-score)
         drop u18 (low-score)
         drop u20 (low-score)
         drop u22 (low-score)
         drop u24 (low-score)
         drop u26 (low-score)
         drop u28 (low-score)",
    );
}

#[test]
fn earlier_summaries_are_folded_in() {
    let fixture = chat(20).replacen("assistant: answer 1 … x20", "user(summary): goals … x50", 1);
    let text = case(&fixture, "").target(1850).run().text;
    // Alone it stays: it has nothing to be folded with.
    assert!(text.starts_with("drop u4 (low-score)\ndrop u6"), "{text}");
    let mut lone = case(&fixture, "strict=true");
    for unit in 3..42 {
        lone = lone.protect(unit, Protection::Pinned);
    }
    lone.target(100).expect("declined: what may leave is no longer than its summary would be");
}
