//! The rule summary of recorded sessions: within its budget, deterministic, and said in words of the session.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use epitome_formats::{ReadOptions, read};
use epitome_providers::RuleSummarizer;
use epitome_strategy::session::Message;
use epitome_strategy::{Language, SummaryRequest, SummaryTask};

/// The recorded sessions' files, none when there is no such folder.
fn recorded() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or(root.join("../shared/data/dev"), PathBuf::from);
    let Ok(formats) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: no recorded sessions in {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = formats
        .filter_map(|format| std::fs::read_dir(format.ok()?.path()).ok())
        .flat_map(|files| files.filter_map(|file| Some(file.ok()?.path())).take(3))
        .collect();
    files.sort();
    files
}

#[test]
fn summaries_of_recorded_sessions_fit() {
    let counter = epitome_tokens::by_name("o200k_base").unwrap();
    for file in recorded() {
        let Ok(loaded) = read(std::fs::read(&file).unwrap(), ReadOptions::default()) else { continue };
        for session in loaded.sessions.iter().take(2) {
            let view = session.session.view();
            let half = view.len().div_ceil(2);
            let messages: Vec<Arc<Message>> = view[..half].iter().map(|entry| Arc::clone(&entry.message)).collect();
            for max_tokens in [30, 200, 1000] {
                let request = SummaryRequest::new(max_tokens, None);
                let language = Language::English;
                let task =
                    SummaryTask { messages: &messages, session: None, request: &request, language, counter: &*counter };
                let started = Instant::now();
                let Ok(summary) = RuleSummarizer.write(&task) else {
                    eprintln!("{}: nothing to say in {max_tokens} tokens", file.display());
                    continue;
                };
                let time = started.elapsed();
                let tokens = counter.count(&summary.text);
                assert!(tokens <= max_tokens, "{}: {tokens} exceed {max_tokens}", file.display());
                assert!(time.as_secs() < 20, "{}: {} messages took {time:?}", file.display(), messages.len());
                // Asked again with its own summary in front, it stays within the budget and covers more.
                let earlier =
                    Message::text("s", epitome_strategy::Role::User, epitome_strategy::Origin::Summary, summary.text);
                let again: Vec<Arc<Message>> =
                    std::iter::once(Arc::new(earlier)).chain(messages.iter().take(20).map(Arc::clone)).collect();
                let task =
                    SummaryTask { messages: &again, session: None, request: &request, language, counter: &*counter };
                assert!(RuleSummarizer.write(&task).is_ok_and(|again| counter.count(&again.text) <= max_tokens));
            }
        }
    }
}
