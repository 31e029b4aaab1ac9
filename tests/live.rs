//! Recorded sessions pushed message by message through a live session in a small window: ten compactions and more, with
//! summaries by level.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use epitome::engine::block_on;
use epitome::live::{LiveError, LiveSession, MaintainOutcome};
use epitome::strategy::{ModelUsage, SummarizeError, Summarizer, Summary, SummaryTask, async_trait};
use epitome::{Config, Session};
use epitome_formats::{Wire, render, validate};
use epitome_harness::laws::instructions::may_have_rules;
use epitome_session::{EntryKey, Message, MessageId, Origin, Role};
use epitome_tests::{RecordedFile, loaded, tell};
use rayon::prelude::*;

/// Compactions that a session has to go through to count.
const COMPACTIONS: usize = 10;
/// Tokens that one summary may take.
const MOST_SUMMARY_TOKENS: u32 = 600;

/// Writes a summary as long as it may be, and counts how often each message was summarised: as itself, or within the
/// summaries that it was summarised in.
#[derive(Debug, Default)]
struct Counting {
    /// For each message, how many summaries it went through; for a summary's text, the messages that it is of.
    times: Mutex<HashMap<MessageId, u32>>,
    behind: Mutex<HashMap<String, Vec<MessageId>>>,
    written: Mutex<u32>,
}

#[async_trait]
impl Summarizer for Counting {
    fn kind(&self) -> &str {
        "llm"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let mut behind = self.behind.lock().unwrap();
        let mut of: Vec<MessageId> = Vec::new();
        for message in task.messages {
            let text = message.plain_text();
            let earlier = text.split_once('\n').and_then(|(_, text)| behind.get(text));
            match earlier.filter(|_| message.origin == Origin::Summary) {
                Some(messages) => of.extend(messages.iter().cloned()),
                None if message.origin == Origin::Notice => {}
                None => of.push(message.id.clone()),
            }
        }
        let mut times = self.times.lock().unwrap();
        for id in &of {
            *times.entry(id.clone()).or_default() += 1;
        }
        let mut written = self.written.lock().unwrap();
        *written += 1;
        let mut text = format!("Summary {written} of {} messages.", of.len());
        while task.counter.count(&text) + 12 < task.request.max_tokens.min(MOST_SUMMARY_TOKENS) {
            text.push_str(" It says what was done and why.");
        }
        behind.insert(text.clone(), of);
        Ok(Summary {
            text,
            usage: ModelUsage { answers: 1, input_tokens: 1, output_tokens: 1, ..ModelUsage::default() }.into(),
            ..Summary::default()
        })
    }
}

/// A session in a window of which it fills about sixteen.
fn live(tokens: u32, summarizer: &Arc<Counting>) -> LiveSession {
    let toml = format!(
        "[budget]\nwindow = {}\nreserve_output = 0\n[live]\narrival_tokens = 0.2\n\
         [select]\nmode = \"fixed\"\nchain = \"levels\"\n[chains]\nlevels = [\"incremental-summary\"]\n\
         [strategies.incremental-summary]\nchunk_rounds = 4\n",
        (tokens / 16).max(6_000)
    );
    let registry = epitome::registry();
    let runtime = Config::parse(&toml, "live.toml", &registry).unwrap().build(&registry).unwrap();
    let mut engine = epitome::engine_of(&runtime);
    engine.summarizer = Some(Arc::clone(summarizer) as Arc<dyn Summarizer>);
    // What the room gives back is summarised again: this is of the levels alone.
    engine.refill = false;
    LiveSession::with_engine(engine, &runtime, Session::new())
}

/// What must hold after each compaction.
fn check(live: &LiveSession, task: Option<&(EntryKey, Arc<Message>)>, name: &str) {
    let usable = live.budget().usable();
    assert!(live.tokens() <= usable, "{name}: {} tokens for {usable}", live.tokens());
    assert_eq!(live.tokens(), live.engine().ledger(live.session()).total(), "{name}: not what a recount gives");
    let view = live.session().view();
    for profile in [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::Anthropic] {
        let rendered = render(view, profile, live.session().tools.as_deref(), None);
        let violations = validate(&rendered.json, profile);
        assert!(violations.is_empty(), "{name}, {profile:?}: {:?}", violations.first());
    }
    if let Some((key, message)) = task {
        let shown = view.iter().find(|entry| entry.key == *key);
        // Cut or not: when it may be cut is a law of its own, checked on every session in `recorded.rs`.
        let stays = shown.is_some_and(|entry| entry.message == *message || entry.is_edited());
        assert!(stays, "{name}: the original task left");
    }
    let summaries = view.iter().filter(|entry| entry.message.origin == Origin::Summary);
    let (count, tokens) = summaries.fold((0, 0), |(count, tokens), entry| {
        (count + 1, tokens + live.engine().counter.count(&entry.message.plain_text()))
    });
    // What loads tools stays, and so do rules, and a summary stands for neighbours: each such result may part two of them.
    let rules = may_have_rules(view);
    let pinned = view.iter().filter(|entry| entry.message.pinned || rules.contains(&entry.key)).count();
    assert!(count <= 14 + pinned, "{name}: {count} summaries, {pinned} messages that stay");
    assert!(f64::from(tokens) <= 0.6 * f64::from(usable), "{name}: summaries take {tokens} of {usable} tokens");
}

/// Pushes a recording through a live session; what came of it in a line, or `None` for one of too few compactions.
fn line(name: &str, recorded: &Session) -> Option<String> {
    let summarizer = Arc::new(Counting::default());
    let whole = live(u32::MAX, &summarizer).engine().ledger(&recorded.without_journal()).total();
    if whole < 100_000 {
        return None;
    }
    let mut live = live(whole, &summarizer);
    let mut task = None;
    let mut compactions = 0;
    for message in recorded.log() {
        let maintained = if message.role == Role::Assistant { Some(block_on(live.maintain())) } else { None };
        if let Some(Err(error)) = &maintained {
            // A system prompt that is larger than the small window: nothing can be shown with it.
            assert!(matches!(error, LiveError::Infeasible { .. }), "{name}: {error}");
            return None;
        }
        if let Some(Ok(MaintainOutcome::Compacted(report))) = maintained {
            compactions += usize::from(report.status.is_compaction());
            check(&live, task.as_ref(), name);
        }
        let key = live.push(Message::clone(message)).unwrap();
        if message.is_typed() && task.is_none() {
            task = live.session().log().last().map(|message| (key, Arc::clone(message)));
        }
    }
    if compactions < COMPACTIONS {
        return None;
    }
    let times = summarizer.times.lock().unwrap();
    let most = times.values().max().copied().unwrap_or(0);
    let mean = f64::from(times.values().sum::<u32>()) / times.len().max(1) as f64;
    // A summary is of two of the level below at least.
    let written = *summarizer.written.lock().unwrap();
    let bound = 1 + f64::from(written).log2().ceil() as u32;
    assert!(most <= bound, "{name}: a message was summarised {most} times in {written} summaries");
    Some(format!(
        "{whole} tokens, {compactions} compactions, {written} summaries: \
         each message summarised {mean:.2} times, at most {most} (bound {bound})"
    ))
}

#[test]
fn ten_compactions_and_more_by_levels() {
    let all = loaded();
    if all.is_empty() {
        return;
    }
    let sessions = |(file, loaded): &(String, RecordedFile)| {
        let one = |it: &epitome_formats::LoadedSession| (format!("{file} {}", it.name), it.session.clone());
        loaded.sessions().iter().map(one).collect::<Vec<_>>()
    };
    let sessions: Vec<(String, Session)> = all.iter().flat_map(sessions).collect();
    let lines: Vec<String> = sessions.par_iter().filter_map(|(name, session)| line(name, session)).collect();
    lines.iter().for_each(|line| tell(line));
    assert!(lines.len() >= 20, "too few sessions of that length: {lines:?}");
}
