//! Secrets leave what a compaction writes; what stays as it came keeps its bytes.

use epitome_session::Session;
use epitome_strategy::{Edit, SummaryText};
use epitome_testkit::session;

use super::support::{chain, compact, engine, reason, request};

/// The texts of the view.
fn shown(session: &Session) -> String {
    let blocks = session.view().iter().flat_map(|entry| &entry.message.blocks);
    blocks.filter_map(|block| Some(block.excerptable()?.to_string())).collect::<Vec<_>>().join("\n")
}

/// A key that no scanner takes for a real one.
fn key() -> String {
    format!("ghp_{}", "aB3dE6gH9jK2".repeat(3))
}

/// A task with a key, and steps of about 1,000 tokens, one with the key.
fn talk() -> Session {
    let steps: String = (0..10).map(|step| format!("assistant: step {step} word … x50\n")).collect();
    let log = format!(
        "assistant: I look.\ncall Bash c1 {{\"command\":\"env\"}}\nresult c1:\n  head\n  TOKEN={}\n  line {{n}} … x200 lines\n",
        key()
    );
    session(&format!("user: use {}\n{log}{steps}user: newest\nassistant: done\n", key()))
}

#[test]
fn secrets_leave_summaries_and_shortened_texts() {
    let summary = || Edit::Summarize {
        units: (2..12).collect(),
        summary: SummaryText::Ready(format!("It exported {} and went on.", key())),
        reason: reason(),
    };
    let cut = || Edit::Excerpt { message: 2, block: 0, keep: vec![0..60], reason: reason() };
    let mut session = talk();
    let (report, _) = compact(&engine(), &mut session, &request(200, chain(vec![summary(), cut()])));
    let text = shown(&session);
    assert!(text.contains("It exported [redacted GitHub token] and went on."), "{text}");
    assert!(text.contains("TOKEN=[redacted GitHub token]"), "{text}");
    assert!(text.contains(&format!("use {}", key())), "what stays keeps its bytes: {text}");
    assert_eq!(report.summary.as_deref(), Some("It exported [redacted GitHub token] and went on."));
    let mut session = talk();
    let mut keeping = engine();
    keeping.redact_secrets = false;
    compact(&keeping, &mut session, &request(200, chain(vec![summary(), cut()])));
    assert!(!shown(&session).contains("redacted"), "{}", shown(&session));
}

#[test]
fn secrets_leave_shortened_arguments() {
    let long = format!("curl -H 'Authorization: Bearer {}' {}", key(), "x".repeat(2_000));
    let steps: String = (0..3).map(|step| format!("assistant: step {step}\n")).collect();
    let mut session = session(&format!(
        "user: task\nassistant: I call.\ncall Bash c1 {{\"command\":\"{long}\"}}\nresult c1: ok\n{steps}user: newest\n"
    ));
    let trim = Edit::Trim { message: 1, block: 1, max_chars: 200, reason: reason() };
    compact(&engine(), &mut session, &request(200, chain(vec![trim])));
    let text = format!("{:?}", session.view());
    assert!(text.contains("Bearer [redacted"), "{text}");
}
