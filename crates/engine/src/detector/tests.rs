#![allow(clippy::unwrap_used)]

use epitome_session::{Language, units};
use epitome_strategy::commands::{Action, action};
use epitome_strategy::{EntryTokens, Protection};
use epitome_testkit::FakeCounter;
use epitome_testkit::fixture::session;

use super::*;

fn detect(fixture: &str) -> Verdict {
    let session = session(fixture);
    let units = units(session.view());
    let tokens: Vec<EntryTokens> = session
        .view()
        .iter()
        .map(|entry| EntryTokens { total: 1, blocks: vec![1; entry.message.blocks.len()] })
        .collect();
    let protections = vec![Protection::Free; units.len()];
    let view = View::new(session.view(), &units, &tokens, &protections, &FakeCounter, Language::English);
    let verdict = SignalDetector.detect(&view);
    assert_eq!(verdict, SignalDetector.detect(&view), "the same view, the same verdict");
    assert!((0.0..=1.0).contains(&verdict.confidence), "{verdict:?}");
    assert!(!verdict.evidence.is_empty(), "{verdict:?}");
    verdict
}

#[test]
fn kinds() {
    let check = |fixture: &str, expect: TaskKind| {
        let verdict = detect(fixture);
        assert_eq!(verdict.kind, expect, "{verdict:?}\n{fixture}");
    };
    let edits = "assistant: I change it.\ncall Edit c{n} {\"file_path\":\"src/parser.rs\"}\nresult c{n}: done\n";
    let reads = "assistant: I look.\ncall Read c{n} {\"file_path\":\"src/parser.rs\"}\nresult c{n}: fn main() {}\n";
    let notes = "assistant: I write.\ncall Write c{n} {\"file_path\":\"docs/plan.md\"}\nresult c{n}: done\n";
    let visits = "assistant: I read on.\ncall WebFetch c{n} {\"url\":\"https://example.org\"}\nresult c{n}: text\n";
    let books = "user: on Friday\nassistant: A moment.\ncall book_table c{n} {}\nresult c{n}: ok\nassistant: Done.\n";
    let times = |part: &str, count: usize| -> String {
        (0..count).map(|number| part.replace("{n}", &format!("{}{number}", part.len()))).collect()
    };
    // Code: files change, in whatever way the agent changes them.
    check(&format!("user: fix the parser\n{}{}", times(reads, 4), times(edits, 4)), TaskKind::Code);
    check(&format!("user: 修复解析器的代码\n{}{}", times(reads, 4), times(edits, 4)), TaskKind::Code);
    let shell = "assistant: I change it.\ntextcall bash: sed -i s/a/b/ src/a.c\nuser(output): done\n";
    check(&format!("user: fix the crash\n{}", times(shell, 5)), TaskKind::Code);
    let block = "user: rename it\nassistant: Here.\n  <<<<<<< SEARCH\n  a\n  =======\n  b\n  >>>>>>> REPLACE\n";
    check(&times(block, 4), TaskKind::Code);
    // Analysis: much is read, nothing changes.
    check(&format!("user: explain how the parser works\n{}assistant: So.\n", times(reads, 8)), TaskKind::Analysis);
    check(&format!("user: 解释一下这个解析器\n{}assistant: 如下。\n", times(reads, 8)), TaskKind::Analysis);
    check(&format!("user: who won?\n{}assistant: She did.\n", times(visits, 8)), TaskKind::Analysis);
    // Conversation: turns go to and fro; a service's tools help.
    check(&times("user: and then?\nassistant: We went home.\n", 8), TaskKind::Conversation);
    check(&times("user: 你觉得怎么样？\nassistant: 我觉得不错。\n", 8), TaskKind::Conversation);
    check(&times(books, 6), TaskKind::Conversation);
    // Mixed: documents are written; research and changes; talk and changes.
    check(&format!("user: write the plan\n{}{}", times(reads, 4), times(notes, 5)), TaskKind::Mixed);
    check(&format!("user: 写一份计划\n{}{}", times(reads, 4), times(notes, 5)), TaskKind::Mixed);
    let talk = "user: hm, and what about speed?\nassistant: It is linear.\n";
    check(&format!("{}{}{}", times(talk, 8), times(visits, 6), times(edits, 6)), TaskKind::Mixed);
    // Unknown: hardly anything there.
    check("user: hello\nassistant: hello\n", TaskKind::Unknown);
    check("", TaskKind::Unknown);
}

#[test]
fn what_tools_print_and_runtimes_inject_is_not_the_users() {
    let session = |origin: &str| {
        let line = format!("user{origin}: please refactor the function and commit the code\nassistant: Hm.\n");
        detect(&format!("{}{}", "user: and you?\nassistant: Fine.\n".repeat(6), line.repeat(6)))
    };
    let typed = session("");
    assert!(typed.evidence.iter().any(|line| line.contains("speak of code")), "{typed:?}");
    let injected = session("(injected)");
    assert!(!injected.evidence.iter().any(|line| line.contains("speak of code")), "{injected:?}");
}

#[test]
fn shell_commands() {
    let check = |command: &str, expect: Action| assert_eq!(action(command), expect, "{command}");
    check("cat src/a.rs | head -20", Action::Look);
    check("cd /repo && rg -n 'fn main' src", Action::Look);
    check("sed -n 1,20p a.py", Action::Look);
    check("sed -i 's/a/b/' a.py", Action::Change);
    check("cat <<'EOF' > fix.py\nimport os\nEOF", Action::Change);
    check("cat <<'EOF'\nrm -rf x > y\nEOF", Action::Look);
    check("python3 - <<'EOF'\nopen('a','w').write('b')\nEOF", Action::Change);
    check("apply_patch <<'EOF'\n*** Begin Patch\nEOF", Action::Change);
    check("cargo test 2>&1 | tail -5", Action::Run);
    check("go test ./... > /tmp/out.txt 2>&1", Action::Run);
    check("FOO=1 timeout 60 ./scripts/check.sh", Action::Run);
    check("git log --oneline -5", Action::Look);
    check("git -C /repo commit -m 'x'", Action::Commit);
    check("git apply fix.patch", Action::Change);
    check("curl -s https://example.org", Action::Web);
    check("str_replace_editor view /repo/a.py", Action::Look);
    check("str_replace_editor create /repo/a.py", Action::Change);
    check("if [ $a -gt 3 ]; then echo yes; fi", Action::Nothing);
    check("cd /repo", Action::Nothing);
    check("", Action::Nothing);
}

#[test]
fn the_evidence_names_figures() {
    let reads = "assistant: I look.\ncall Read c{n} {}\nresult c{n}: text\n";
    let reads: String = (0..8).map(|number| reads.replace("{n}", &number.to_string())).collect();
    let verdict = detect(&format!("user: explain the parser\n{reads}assistant: So.\n"));
    assert_eq!(verdict.evidence[0], "8 of 8 tool calls read or search, 0 change files", "{verdict:?}");
}

#[test]
fn what_a_summary_says_was_called_counts() {
    let check = |summary: &str, expect: TaskKind| {
        let summary: String = summary.lines().map(|line| format!("  {line}\n")).collect();
        let session =
            format!("user: go on\nuser(summary):\n{summary}assistant: Done.\nuser: thanks\nassistant: Bye.\n");
        let verdict = detect(&session);
        assert_eq!(verdict.kind, expect, "{verdict:?}\n{session}");
    };
    let heading = "[Summary of 40 earlier messages]";
    let edits = "» I change it.\n▸ Edit: src/parser.rs ✓\n- one\n+ two\n▸ Bash: cargo test ✗\n→ 1 failed\n".repeat(5);
    check(&format!("{heading}\n{edits}"), TaskKind::Code);
    check(
        &format!("{heading}\n{}", "▸ Bash: cat src/a.rs ✓\n▸ Read: src/b.rs\n→ fn b() {}\n".repeat(5)),
        TaskKind::Analysis,
    );
    check(&format!("{heading}\n{}", "▸ Write: docs/plan.md ✓\n▸ Read: notes.md ✓\n".repeat(5)), TaskKind::Mixed);
    // An agent's own words are none of these records.
    check("I changed src/parser.rs and ran cargo test.", TaskKind::Unknown);
}
