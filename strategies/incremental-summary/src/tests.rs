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
fn agent(steps: usize) -> String {
    let mut text = String::from("system: S\nuser: fix it\n");
    for step in 1..=steps {
        text.push_str(&format!("call Bash c{step} {{}}\nresult c{step}: line {step} … x140\n"));
    }
    text
}

/// A chat behind `count` summaries of about 254 tokens.
fn summarised(count: usize, turns: usize) -> String {
    let summaries = "user(summary): done … x200\n".repeat(count);
    chat(turns).replacen("assistant: a1 … x100\n", &summaries, 1)
}

#[track_caller]
fn check(fixture: &str, settings: &str, target: Tokens, expect: &str) {
    PlanCase::new::<IncrementalSummary>(fixture, settings).target(target).expect(expect);
}

#[test]
fn as_many_full_chunks_as_the_goal_needs() {
    // 100 rounds of 158 tokens: four chunks are full, the fifth stays whole.
    check(
        &chat(100),
        "max_chunk_share=100",
        14_000,
        "summarize u2..u40 in 1120 tokens (full-chunk)
           summarize u41..u80 in 1120 tokens (full-chunk)
           summarize u81..u120 in 1120 tokens (full-chunk)",
    );
    check(
        &chat(100),
        "max_chunk_share=100",
        10_000,
        "summarize u2..u40 in 800 tokens (full-chunk)
           summarize u41..u80 in 800 tokens (full-chunk)
           summarize u81..u120 in 800 tokens (full-chunk)
           summarize u121..u160 in 800 tokens (full-chunk)",
    );
    check(
        &chat(100),
        "chunk_rounds=10",
        14_000,
        "summarize u2..u40 in 1120 tokens (full-chunk)
           summarize u41..u80 in 1120 tokens (full-chunk)
           summarize u81..u120 in 1120 tokens (full-chunk)
           summarize u121..u140 in 1040 tokens (full-chunk)",
    );
}

#[test]
fn the_last_chunk_stays_whole() {
    check(&chat(39), "max_chunk_share=100", 1000, "summarize u2..u40 in 200 tokens (full-chunk)");
    check(
        &chat(19),
        "max_chunk_share=100",
        1000,
        "declined: no full chunk: the last one (rounds: 20, tokens: 3423) stays whole; a chunk has 20 rounds",
    );
    // A last chunk of nothing but the newest question is none.
    check(
        &chat(20),
        "max_chunk_share=100",
        1000,
        "declined: no full chunk: the last one (rounds: 20, tokens: 3631) stays whole; a chunk has 20 rounds",
    );
    check(&chat(21), "max_chunk_share=100", 1000, "summarize u2..u40 in 200 tokens (full-chunk)");
}

#[test]
fn long_rounds_are_several() {
    check(&agent(100), "max_chunk_share=100", 20_000, "summarize u2..u41 in 1600 tokens (full-chunk)");
    check(
        &agent(100),
        "max_chunk_share=100 steps_per_round=4",
        20_000,
        "summarize u2..u81 in 1600 tokens (full-chunk)",
    );
}

#[test]
fn chunks_are_no_larger_than_their_share() {
    check(
        &agent(100),
        "",
        4000,
        "summarize u2..u21 in 320 tokens (full-chunk)
           summarize u22..u39 in 320 tokens (full-chunk)
           summarize u40..u57 in 320 tokens (full-chunk)
           summarize u58..u75 in 320 tokens (full-chunk)
           summarize u76..u93 in 320 tokens (full-chunk)
           summarize u94..u99 in 320 tokens (full-chunk)",
    );
    check(
        &chat(30),
        "",
        2000,
        "summarize u2..u22 in 200 tokens (full-chunk)
           summarize u23..u38 in 200 tokens (full-chunk)
           summarize u39..u54 in 200 tokens (full-chunk)",
    );
}

#[test]
fn summaries_share_what_the_goal_leaves() {
    check(
        &chat(100),
        "max_chunk_share=100 summary_share=1.0",
        6000,
        "summarize u2..u40 in 395 tokens (full-chunk)
           summarize u41..u80 in 395 tokens (full-chunk)
           summarize u81..u120 in 395 tokens (full-chunk)
           summarize u121..u160 in 395 tokens (full-chunk)",
    );
    // The least is more than the goal leaves: neighbours share one summary.
    check(
        &chat(100),
        "max_chunk_share=100 min_summary_tokens=300",
        5000,
        "summarize u2..u80 in 320 tokens (full-chunk)
           summarize u81..u160 in 320 tokens (full-chunk)",
    );
}

#[test]
fn piles_of_summaries_are_folded() {
    check(
        &summarised(6, 60),
        "max_chunk_share=100",
        9000,
        "summarize u8..u47 in 720 tokens (full-chunk)
           summarize u48..u87 in 720 tokens (full-chunk)",
    );
    check(
        &summarised(7, 60),
        "max_chunk_share=100",
        9000,
        "summarize u2..u8 in 720 tokens (summaries-folded)
           summarize u9..u48 in 720 tokens (full-chunk)
           summarize u49..u88 in 720 tokens (full-chunk)",
    );
    check(
        &summarised(7, 60),
        "max_chunk_share=100",
        7000,
        "summarize u2..u8 in 560 tokens (summaries-folded)
           summarize u9..u48 in 560 tokens (full-chunk)
           summarize u49..u88 in 560 tokens (full-chunk)",
    );
    // Before their time where full chunks are not enough; never one alone.
    check(
        &summarised(3, 10),
        "",
        1000,
        "summarize u5..u16 in 200 tokens (full-chunk)
           summarize u2..u4 in 200 tokens (summaries-folded)",
    );
    check(
        &summarised(1, 10),
        "max_chunk_share=100",
        1000,
        "declined: no full chunk: the last one (rounds: 10, tokens: 1472) stays whole; a chunk has 20 rounds",
    );
    // Text between two summaries is older than the second.
    let between = chat(10) + "user(summary): done … x200\n" + &chat(3).replace("system: S\n", "");
    check(&between, "max_chunk_share=100", 1000, "summarize u2..u21 in 200 tokens (full-chunk)");
}

#[test]
fn what_is_protected_stays_in_its_place() {
    PlanCase::new::<IncrementalSummary>(&chat(60), "max_chunk_share=100")
        .target(9000)
        .protect(5, Protection::Pinned)
        .expect(
            "summarize u6..u40 in 720 tokens (full-chunk)
         drop u2..u4 (full-chunk)
         summarize u41..u80 in 720 tokens (full-chunk)",
        );
}

#[test]
fn chinese_sessions() {
    let mut text = String::from("system: 你是助手。\n");
    for turn in 1..=60 {
        text.push_str(&format!("user: 第{turn}个问题？ … x20\nassistant: 第{turn}个回答。 … x20\n"));
    }
    PlanCase::new::<IncrementalSummary>(&text, "")
        .language(Language::Chinese)
        .focus("问题")
        .target(9000)
        .expect("summarize u2..u40 in 720 tokens (full-chunk)");
}

#[test]
fn agents_that_call_tools_in_plain_text() {
    let mut text = String::from("system: S\nuser: fix it\n");
    for step in 1..=100 {
        text.push_str(&format!("textcall bash: ls {step}\nuser(output): out … x200\n"));
    }
    check(
        &text,
        "",
        8000,
        "summarize u2..u19 in 640 tokens (full-chunk)
           summarize u20..u37 in 640 tokens (full-chunk)
           summarize u38..u55 in 640 tokens (full-chunk)
           summarize u56..u73 in 640 tokens (full-chunk)
           summarize u74..u91 in 640 tokens (full-chunk)",
    );
}

#[test]
fn declines() {
    // Chunks of a few words are no longer than their summaries.
    let small = "user: hi\nassistant: ho\n".repeat(100);
    check(&small, "max_chunk_share=100", 300, "declined: 4 full chunks, each no longer than its summary would be");
}
