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
    assert_eq!(text.lines().collect::<Vec<_>>(), expect, "\n{text}\n");
}

const FIXING: &str = r#"
user: Make the lexer accept nested brackets. Never touch the public API. Report the time it takes in README.md.
assistant: Let me look at the lexer first.
call Read c1 {"file_path":"src/lexer.rs"}
result c1: fn next() {} … x50
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
        "## User
         - Make the lexer accept nested brackets.
         - Report the time it takes in README.md.
         ## Standing instructions
         - Never touch the public API.
         ## Files
         - src/lexer.rs: edited, read (fn next_token)
         ## Done
         - `cargo test` ×2: test result: ok. 3 passed; 0 failed
         - finished: fix the lexer
         ## Findings
         - The root cause is that Lexer::next drops the depth counter at line 41.
         - Nested brackets work now: next_token counts the depth.
         ## Errors
         - `cargo test`: error[E0308]: mismatched types — a later run succeeded
         ## Open
         - write the time to README.md
         - Should I write README.md next?
         ## Context
         - Covers 1 user, 6 assistant and 5 tool messages.
         - code in: Rust",
    );
}

#[test]
fn small_budgets_keep_what_matters_most() {
    check(
        FIXING,
        60,
        "User: Make the lexer accept nested brackets.
         Standing instructions: Never touch the public API.
         Done: finished: fix the lexer
         Open: write the time to README.md; Should I write README.md next?",
    );
    // A line never stands without the heading that says whose it is.
    check(
        FIXING,
        30,
        "Standing instructions: Never touch the public API.
         Open: write the time to README.md",
    );
    check(FIXING, 20, "Standing instructions: Never touch the public API.");
}

#[test]
fn what_is_in_focus_goes_first() {
    let text = summary(FIXING, 30, Some("what was mismatched?"), Language::English).unwrap();
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
    let expect = "## 用户
- 请修复 src/lexer.rs 的嵌套括号问题。
## 长期指示
- 不要修改公共接口。
## 已执行
- `cargo test`: 测试全部通过
## 结论
- 原因是 depth 计数器在第 41 行被清零，现已修复并通过测试。
## 背景
- 涵盖用户消息 1 条、助手消息 2 条、工具消息 1 条。";
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
        "
         ## User
         - Find the failing test in this repository.
         ## Files
         - money.py: edited
         ## Done
         - `pytest tests/test_money.py`: failed
         - `sed -i s/int/round/ money.py && pytest tests/test_money.py`: 4 passed in 0.11s
         ## Errors
         - `pytest tests/test_money.py`: 1 failed, 3 passed in 0.12s
         ## Open
         - in progress: The rounding in money.py is wrong because it truncates.
         ## Context
         - Covers 1 user, 2 assistant and 2 tool messages.
         - code in: Python",
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
        "
         ## User
         - I want to change my flight on reservation ZFA04Y.
         ## Done
         - get_reservation_details reservation_id=ZFA04Y → {\"reservation_id\":\"ZFA04Y\",\"user_id\":\"sophia_silva_7557\",\"cabin\":\"economy\"}
         - update_reservation reservation_id=ZFA04Y cabin=business failed → Error: payment method gift_card_6847880 not found
         - notify user_id=sophia_silva_7557 → [No result was recorded for this call.]
         ## Context
         - Covers 1 user, 3 assistant and 3 tool messages.",
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
        "
         ## User
         - Make the lexer accept nested brackets.
         - Report the time it takes in README.md.
         - Go on with README.md please.
         ## Standing instructions
         - Never touch the public API.
         ## Files
         - src/lexer.rs: edited 2×, read (fn next_token, fn depth)
         ## Done
         - `cargo test` ×2: test result: ok. 3 passed; 0 failed
         - finished: fix the lexer
         - finished: write the time to README.md
         ## Findings
         - The root cause is that Lexer::next drops the depth counter at line 41.
         - Nested brackets work now: next_token counts the depth.
         - README.md now has the time: 12 ms.
         ## Errors
         - `cargo test`: error[E0308]: mismatched types — a later run succeeded
         ## Context
         - Covers 2 user, 9 assistant and 7 tool messages.
         - code in: Rust",
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
        "
         ## User
         - Continue the work on it now.
         ## Standing instructions
         - The user asked for a parser in src/parser.rs that never panics.
         ## Findings
         - src/parser.rs holds the Parser struct.
         - The parser handles EOF now.
         ## Context
         - Covers 1 user, 1 assistant and 0 tool messages.",
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
  ## Files
  - src/a.rs: the parser, rewritten
  - src/b.rs holds the tests
  ## Open
  - error messages
  - [x] parse numbers
  - [ ] parse strings
  ## Said by the user, in order: later words win
  - “Keep port 48213.”
  ## Changed files, newest first
  - src/c.rs: wrote, deleted
user: Continue the work on it now.
assistant: The parser handles EOF now.
",
        400,
        "
         ## User
         - The user wants a parser.
         - Continue the work on it now.
         ## Standing instructions
         - “Keep port 48213.”
         ## Files
         - src/a.rs: the parser, rewritten
         - src/b.rs holds the tests
         - src/c.rs: wrote, deleted
         ## Done
         - parse numbers
         ## Findings
         - The parser handles EOF now.
         ## Open
         - error messages
         - parse strings
         ## Context
         - Covers 1 user, 1 assistant and 0 tool messages.",
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
    for expect in ["- src/new.py: wrote", "- src/old.py: edited", "- /repo/src/third.py: edited"] {
        assert!(text.contains(expect), "{expect}:\n{text}");
    }
}

#[test]
fn the_languages_of_the_code_are_named_also_by_the_next_summary() {
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
    assert!(first.contains("- code in: Rust, Python, SQL"), "{first}");
    let chinese = summary(fixture, 500, None, Language::Chinese).unwrap();
    assert!(chinese.contains("- 代码语言：Rust, Python, SQL"), "{chinese}");
    let line = first.lines().find(|line| line.contains("code in")).unwrap();
    assert_eq!(languages::read(line.trim_start_matches("- ")).unwrap(), ["Rust", "Python", "SQL"]);
}
