use super::*;
use epitome_strategy::{Language, Protection};
use epitome_testkit::PlanCase;

/// `turns` questions and answers of about 79 tokens each behind a system prompt, and a last question.
fn chat(turns: usize) -> String {
    let mut text = String::from("system: S\n");
    for turn in 1..=turns {
        text.push_str(&format!("user: q{turn} … x100\nassistant: a{turn} … x100\n"));
    }
    text + "user: and now?\n"
}

/// One typed message and `steps` calls with results of about 260 tokens.
fn agent(steps: usize, more: &str) -> String {
    let mut text = String::from("system: S\nuser: fix it\n");
    for step in 1..=steps {
        text.push_str(&format!("call Bash c{step} {{}}\nresult c{step}: line {step} … x140\n"));
        if step == steps / 4 {
            text.push_str(more);
        }
    }
    text
}

#[track_caller]
fn check(fixture: &str, settings: &str, target: Tokens, expect: &str) {
    PlanCase::new::<Summary>(fixture, settings).target(target).expect(expect);
}

#[test]
fn everything_between_task_and_tail_is_one_summary() {
    // 8k tokens; the tail takes what the summary leaves.
    check(&chat(40), "min_summary_tokens=1024", 4000, "summarize u2..u53 in 1024 tokens (before-tail)");
    let small = "min_summary_tokens=100";
    check(&chat(40), small, 4000, "summarize u2..u49 in 600 tokens (before-tail)");
    check(&agent(60, ""), small, 4000, "summarize u2..u50 in 600 tokens (before-tail)");
}

#[test]
fn the_tail_may_be_fixed() {
    check(&chat(40), "fill_target=false", 4000, "summarize u2..u69 in 1024 tokens (before-tail)");
    check(&chat(40), "fill_target=false tail_share=0.1", 4000, "summarize u2..u77 in 1024 tokens (before-tail)");
}

#[test]
fn summary_and_tail_share_a_small_room() {
    check(&chat(40), "tail_share=0.3", 1000, "summarize u2..u75 in 360 tokens (before-tail)");
    check(&chat(40), "tail_share=0.3", 10, "summarize u2..u80 in 64 tokens (before-tail)");
    let short = PlanCase::new::<Summary>(&chat(40), "").max_summary_tokens(200).target(4000);
    short.expect("summarize u2..u45 in 200 tokens (before-tail)");
}

#[test]
fn a_large_step_gets_into_a_short_tail() {
    let large = agent(40, "") + "call Read r {}\nresult r: x … x6400\nassistant: done\n";
    check(&large, "", 4200, "summarize u2..u41 in 942 tokens (before-tail)");
    check(&large, "", 3500, "summarize u2..u42 in 1024 tokens (before-tail)");
}

#[test]
fn task_list_and_diff_statistics_stay() {
    let list = "call todo_write t1 {\"todos\":[\"one\"]}\nresult t1: ok\n";
    let stat =
        "call Bash g1 {\"command\":\"git diff --stat\"}\nresult g1:\n  a.rs | 2 +-\n  1 file changed, 1 insertion(+)\n";
    let settings = "min_summary_tokens=100";
    check(
        &agent(60, list),
        settings,
        4000,
        "summarize u2..u16 in 165 tokens (before-tail)
         summarize u18..u51 in 404 tokens (before-tail)",
    );
    check(
        &agent(60, stat),
        settings,
        4000,
        "summarize u2..u16 in 165 tokens (before-tail)
         summarize u18..u51 in 404 tokens (before-tail)",
    );
    check(
        &agent(60, &(list.to_owned() + stat)),
        settings,
        4000,
        "summarize u2..u16 in 165 tokens (before-tail)
         summarize u19..u52 in 404 tokens (before-tail)",
    );
    // A list that the tool refused, and one that would take too much.
    let refused = list.replace("result t1:", "result t1 error:");
    check(&agent(60, &refused), settings, 4000, "summarize u2..u51 in 600 tokens (before-tail)");
    check(
        &agent(60, list),
        "min_summary_tokens=100 kept_share=0.001",
        4000,
        "summarize u2..u51 in 600 tokens (before-tail)",
    );
}

#[test]
fn what_is_protected_stays_in_its_place() {
    PlanCase::new::<Summary>(&chat(40), "").target(4000).protect(5, Protection::Pinned).expect(
        "summarize u2..u4 in 64 tokens (before-tail)
         summarize u6..u54 in 946 tokens (before-tail)",
    );
}

#[test]
fn earlier_summaries_are_folded_in() {
    let fixture = chat(40).replacen("assistant: a1 … x100", "user(summary): goals … x50", 1);
    check(&fixture, "", 4000, "summarize u2..u53 in 1024 tokens (before-tail)");
    // An old summary alone is not written anew.
    check(
        "user: go\nuser(summary): goals … x500\nuser: x\nassistant: y",
        "",
        300,
        "declined: nothing in front of the newest messages may leave",
    );
}

#[test]
fn chinese_sessions() {
    let mut text = String::from("system: 你是助手。\n");
    for turn in 1..=40 {
        text.push_str(&format!("user: 第{turn}个问题？ … x20\nassistant: 第{turn}个回答。 … x20\n"));
    }
    PlanCase::new::<Summary>(&text, "")
        .language(Language::Chinese)
        .focus("问题")
        .target(4000)
        .expect("summarize u2..u50 in 1024 tokens (before-tail)");
}

#[test]
fn agents_that_call_tools_in_plain_text() {
    let mut text = String::from("system: S\nuser: fix it\n");
    for step in 1..=40 {
        text.push_str(&format!("textcall bash: ls {step}\nuser(output): out … x200\n"));
    }
    check(&text, "", 4000, "summarize u2..u28 in 1024 tokens (before-tail)");
}

#[test]
fn declines() {
    check(
        "system: S\nuser: … x100\nassistant: a … x100",
        "",
        30,
        "declined: nothing in front of the newest messages may leave",
    );
    check(
        "user: a\nassistant: b\nuser: c\nassistant: d",
        "",
        1,
        "declined: what may leave is 5 tokens, no longer than its summary would be",
    );
}
