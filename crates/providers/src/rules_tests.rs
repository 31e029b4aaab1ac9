#![allow(clippy::unwrap_used)]
use std::sync::Arc;

use super::*;
use epitome_strategy::{Language, Message, SummaryRequest};
use epitome_testkit::{FakeCounter, session};

/// The summary of a fixture, by a counter of four bytes a token.
fn summary(fixture: &str, max_tokens: u32, focus: Option<&str>, language: Language) -> Result<String, SummarizeError> {
    let session = session(fixture);
    let messages: Vec<Arc<Message>> = session.view().iter().map(|entry| Arc::clone(&entry.message)).collect();
    let request = SummaryRequest::new(max_tokens, focus.map(str::to_owned));
    let task = SummaryTask { messages: &messages, session: None, request: &request, language, counter: &FakeCounter };
    let written = RuleSummarizer.write(&task)?;
    assert_eq!(RuleSummarizer.write(&task).as_ref(), Ok(&written), "twice the same");
    let tokens = (written.text.len() as u32).div_ceil(4);
    assert!(tokens <= max_tokens, "{tokens} tokens exceed {max_tokens}:\n{}", written.text);
    Ok(written.text)
}

fn check(fixture: &str, max_tokens: u32, expect: &str) {
    let text = summary(fixture, max_tokens, None, Language::English).unwrap();
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(text.lines().map(str::trim).collect::<Vec<_>>(), expect, "\n{text}\n");
}

const FIXING: &str = r#"
user: Make the lexer accept nested brackets. Never touch the public API. Report the time it takes in README.md.
assistant: Let me look at the lexer first.
call Read c1 {"file_path":"src/lexer.rs"}
result c1: fn next() {}
call Bash c2 {"command":"cd /repo && cargo test"}
result c2 error:
  running 3 tests
  error[E0308]: mismatched types
   --> src/lexer.rs:41
  test result: FAILED. 2 passed; 1 failed
assistant: The root cause is that Lexer::next drops the depth counter at line 41.
call Edit c3 {"file_path":"src/lexer.rs","old_string":"x","new_string":"pub fn next_token() {\n}"}
result c3: done
call Bash c4 {"command":"cargo test"}
result c4: test result: ok. 3 passed; 0 failed
call TodoWrite c5 {"todos":[{"content":"fix the lexer","status":"completed"},{"content":"write the time to README.md","status":"pending"}]}
result c5: ok
assistant: Nested brackets work now: next_token counts the depth. Should I write README.md next?
"#;

#[test]
fn every_kind_of_line() {
    check(
        FIXING,
        2000,
        "## What the user demanded
         - Never touch the public API. Report the time it takes in README.md.
         ## Task list
         - fix the lexer | completed
         - write the time to README.md | pending
         ## Files
         changed: src/lexer.rs
         ## Decisions
         - The root cause is that Lexer::next drops the depth counter at line 41.
         ## Open questions
         - Nested brackets work now: next_token counts the depth. Should I write README.md next?
         ## Exact lines, oldest first
         « Make the lexer accept nested brackets. …
         » Let me look at the lexer first.
         ▸ Read: src/lexer.rs
         → fn next() {}
         ▸ Bash: cd /repo && cargo test ✗
         → running 3 tests
         error[E0308]: mismatched types
         --> src/lexer.rs:41
         test result: FAILED. 2 passed; 1 failed
         ▸ Edit: src/lexer.rs
         - x
         + pub fn next_token() {
         → done
         ▸ Bash: cargo test
         → test result: ok. 3 passed; 0 failed
         ▸ …
         ## Covered messages
         - 1 of the user, 6 of the model, 5 of tools; code in Rust",
    );
}

#[test]
fn small_budgets_keep_what_matters_most() {
    check(
        FIXING,
        60,
        "« … Never touch the public API. Report the time it takes in README.md.
         ▸ … ×5 (✗): cargo test, lexer.rs
         » Nested brackets work now: next_token counts the depth. Should I write README.md next?",
    );
    check(
        FIXING,
        30,
        "« … Never touch the public API. Report the time it takes in README.md.
         ▸ … ×5 (✗): cargo test, lexer.rs",
    );
    check(FIXING, 8, "« Never touch the public API.");
}

#[test]
fn what_is_in_focus_goes_first() {
    let text = summary(FIXING, 60, Some("what was mismatched?"), Language::English).unwrap();
    assert!(text.contains("error[E0308]: mismatched types"), "{text}");
}

#[test]
fn chinese_sessions() {
    let fixture = "
user: 请修复 src/lexer.rs 的嵌套括号问题。不要修改公共接口。
assistant: 好的，我来看一下这个文件。
call Bash c1 {\"command\":\"cargo test\"}
result c1: 测试全部通过
assistant: 原因是 depth 计数器在第 41 行被清零，现已修复并通过测试。
";
    let text = summary(fixture, 400, None, Language::Chinese).unwrap();
    let expect = "## 用户的要求
- 请修复 src/lexer.rs 的嵌套括号问题。不要修改公共接口。
## 决定
- 原因是 depth 计数器在第 41 行被清零，现已修复并通过测试。
## 原文摘录（从旧到新）
» 好的，我来看一下这个文件。
▸ Bash: cargo test
→ 测试全部通过
## 涵盖的消息
- 用户 1 条，模型 2 条，工具 1 条";
    assert_eq!(text, expect);
}

#[test]
fn calls_in_plain_text_count_too() {
    check(
        "
user: Find the failing test in this repository.
assistant: I run the tests.
textcall bash: pytest tests/test_money.py
user(output): 1 failed, 3 passed in 0.12s
assistant: The rounding in money.py is wrong because it truncates.
textcall bash: sed -i s/int/round/ money.py && pytest tests/test_money.py
user(output): 4 passed in 0.11s
",
        400,
        "## Files
         changed: money.py
         ## Exact lines, oldest first
         « Find the failing test in this repository.
         » I run the tests.
         ▸ bash: pytest tests/test_money.py ✗
         → 1 failed, 3 passed in 0.12s
         » The rounding in money.py is wrong because it truncates.
         ▸ bash: sed -i s/int/round/ money.py && pytest tests/test_money.py
         → 4 passed in 0.11s
         ## Covered messages
         - 1 of the user, 2 of the model, 2 of tools; code in Python",
    );
}

#[test]
fn other_calls_are_quoted_with_their_answers() {
    check(
        r#"
user: I want to change my flight on reservation ZFA04Y.
call get_reservation_details c1 {"reservation_id":"ZFA04Y"}
result c1: {"reservation_id":"ZFA04Y","user_id":"sophia_silva_7557","cabin":"economy"}
call update_reservation c2 {"reservation_id":"ZFA04Y","cabin":"business"}
result c2 error: Error: payment method gift_card_6847880 not found
call notify c3 {"user_id":"sophia_silva_7557"}
result c3 error: [No result was recorded for this call.]
"#,
        400,
        "## What the user demanded
         - I want to change my flight on reservation ZFA04Y.
         ## Exact lines, oldest first
         ▸ get_reservation_details: reservation_id=ZFA04Y
         → {\"reservation_id\":\"ZFA04Y\",\"user_id\":\"sophia_silva_7557\",\"cabin\":\"economy\"}
         ▸ update_reservation: reservation_id=ZFA04Y cabin=business ✗
         → Error: payment method gift_card_6847880 not found
         ▸ notify: user_id=sophia_silva_7557
         → [No result was recorded for this call.]
         ## Covered messages
         - 1 of the user, 3 of the model, 3 of tools",
    );
}

#[test]
fn summaries_of_summaries_do_not_nest() {
    let first = summary(FIXING, 2000, None, Language::English).unwrap();
    let indented: String = first.lines().map(|line| format!("  {line}\n")).collect();
    let fixture = format!(
        "user(summary): [Summary of 12 earlier messages · recall 0c4d]\n{indented}\
         user: Go on with README.md please.\n\
         call Edit c9 {{\"file_path\":\"src/lexer.rs\",\"old_string\":\"x\",\"new_string\":\"fn depth() {{}}\"}}\n\
         result c9: done\n\
         call TodoWrite c8 {{\"todos\":[{{\"content\":\"write the time to README.md\",\"status\":\"completed\"}}]}}\n\
         result c8: ok\n\
         assistant: README.md now has the time: 12 ms.\n"
    );
    check(
        &fixture,
        2000,
        "## What the user demanded
         - Never touch the public API. Report the time it takes in README.md.
         - Go on with README.md please.
         ## Task list
         - write the time to README.md | completed
         ## Files
         changed: src/lexer.rs
         ## Decisions
         - The root cause is that Lexer::next drops the depth counter at line 41.
         ## Open questions
         - Nested brackets work now: next_token counts the depth. Should I write README.md next?
         ## Exact lines, oldest first
         ▸ …
         « Make the lexer accept nested brackets. …
         » Let me look at the lexer first.
         ▸ Read: src/lexer.rs
         → fn next() {}
         ▸ Bash: cd /repo && cargo test ✗
         → running 3 tests
         error[E0308]: mismatched types
         --> src/lexer.rs:41
         test result: FAILED. 2 passed; 1 failed
         ▸ Edit: src/lexer.rs
         - x
         + pub fn next_token() {
         → done
         ▸ Bash: cargo test
         → test result: ok. 3 passed; 0 failed
         ▸ Edit: src/lexer.rs
         - x
         + fn depth() {}
         → done
         ▸ …
         » README.md now has the time: 12 ms.
         ## Covered messages
         - 1 of the user, 3 of the model, 2 of tools; code in Rust",
    );
}

#[test]
fn a_foreign_summary_gives_its_sentences() {
    check(
        "
user(summary):
  [Summary]
  ## Primary Request
  1. The user asked for a parser in src/parser.rs that never panics.
  Key files:
  - src/parser.rs holds the Parser struct.
user: Continue the work on it now.
assistant: The parser handles EOF now.
",
        400,
        "## Exact lines, oldest first
         ◦ [Summary]
         ## Primary Request
         1. The user asked for a parser in src/parser.rs that never panics.
         Key files:
         - src/parser.rs holds the Parser struct.
         « Continue the work on it now.
         » The parser handles EOF now.
         ## Covered messages
         - 1 of the user, 1 of the model, 0 of tools",
    );
}

#[test]
fn nothing_to_say() {
    assert!(summary("user: ok\nassistant: ok", 1, None, Language::English).is_err());
    assert!(!summary(FIXING, 5, None, Language::English).is_ok_and(|text| text.is_empty()));
}

#[test]
fn every_budget_is_met_and_words_stay_whole() {
    let session = session(FIXING);
    let source: String = session.view().iter().map(|entry| format!("{:?}", entry.message.blocks)).collect();
    for budget in 8..400 {
        let Ok(text) = summary(FIXING, budget, None, Language::English) else { continue };
        for word in epitome_strategy::exact_strings(&text).into_iter().filter(|word| word.contains(['/', '_', '['])) {
            assert!(source.contains(word), "`{word}` at {budget}");
        }
    }
}

#[test]
fn a_models_summary_is_carried_over() {
    check(
        "
user(summary):
  ## Goal
  - The user wants a parser.
  ## Said by the user, in order: later words win
  - “Keep port 48213.”
  ## Context
  The file is TOML.
  ## Decisions
  - The tokens are bytes.
user: Continue the work on it now.
assistant: The parser handles EOF now.
",
        400,
        "## Exact lines, oldest first
         ◦ ## Goal
         - The user wants a parser.
         ## Said by the user, in order: later words win
         - “Keep port 48213.”
         ## Context
         The file is TOML.
         » The tokens are bytes.
         « Continue the work on it now.
         » The parser handles EOF now.
         ## Covered messages
         - 1 of the user, 1 of the model, 0 of tools",
    );
}

#[test]
fn what_was_brought_about_is_told() {
    let mut fixture = String::from("user: Fix the parser and open a pull request.\n");
    for step in 1..=30 {
        fixture.push_str(&format!(
            "call Bash c{step} {{\"command\":\"cargo test -p part{step}\"}}\nresult c{step}: test result: ok. {step} passed; 0 failed\n"
        ));
    }
    fixture.push_str(
        "call Bash p {\"command\":\"git add -A\\ngit commit -qm 'Fix the parser'\\ngit push -u origin fix\\ngh pr create --fill\"}\n\
         result p:\n  [fix 1a2b3c4] Fix the parser\n   2 files changed, 10 insertions(+)\n  https://git.example/owner/repo/pull/17\n\
         call Bash q {\"command\":\"ls\"}\nresult q: a.rs\nassistant: I look at the next thing.\n",
    );
    for max_tokens in [150, 300, 1_000] {
        let text = summary(&fixture, max_tokens, None, Language::English).unwrap();
        for expect in ["[fix 1a2b3c4] Fix the parser", "https://git.example/owner/repo/pull/17"] {
            assert!(text.contains(expect), "{max_tokens}:\n{text}");
        }
    }
}

#[test]
fn files_that_scripts_in_plain_text_change_are_listed() {
    let fixture = "user: fix it\n\
                   textcall bash: cat > src/new.py <<'EOF'\n  x = 1\n  EOF\nuser(output): ok\n\
                   textcall bash: cd /repo && sed -i 's/a/b/' src/old.py\nuser(output): ok\n\
                   textcall str_replace_editor: str_replace_editor str_replace /repo/src/third.py --old_str a --new_str b\n\
                   user(output): edited\n";
    let text = summary(fixture, 1_000, None, Language::English).unwrap();
    assert!(text.contains("changed: /repo/src/third.py, src/old.py, src/new.py\n"), "{text}");
}

#[test]
fn the_languages_of_the_code_are_named() {
    let fixture = "
user: Port the importer, please.
call Read c1 {\"file_path\":\"tools/import.py\"}
result c1: import csv
call Write c2 {\"file_path\":\"src/import.rs\",\"content\":\"fn main() {}\"}
result c2: ok
call Write c3 {\"file_path\":\"src/rows.rs\",\"content\":\"fn rows() {}\"}
result c3: ok
assistant:
  The table is made by this, and the importer is ported.
  ```sql
  create table rows (id integer)
  ```
user: thanks
assistant: You are welcome, the import is complete now.
";
    let first = summary(fixture, 500, None, Language::English).unwrap();
    assert!(first.contains("; code in Rust, Python, SQL"), "{first}");
    let chinese = summary(fixture, 500, None, Language::Chinese).unwrap();
    assert!(chinese.contains("；代码语言：Rust, Python, SQL"), "{chinese}");
}
