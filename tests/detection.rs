//! The detector against labelled recordings: the confusion matrix, agreement by file and by format, how much a
//! confidence means, and that the format of a file makes no difference.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use epitome_engine::{Engine, SignalDetector};
use epitome_formats::{ReadOptions, Wire, read, render};
use epitome_session::{Message, Session};
use epitome_strategy::{TaskKind, Verdict};
use epitome_testkit::FakeCounter;
use epitome_tests::{RecordedFile, loaded, recorded_sessions, tell};

/// Sessions with fewer messages are not judged: there is little to go by.
const LEAST_MESSAGES: usize = 20;

fn engine() -> Engine {
    Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector))
}

fn detect(session: &Session) -> Verdict {
    let engine = engine();
    engine.detect(session, &engine.ledger(session))
}

/// The kind of each file by the manifest beside the recordings; the columns are found by their names. `None`, said
/// visibly, where there is no manifest.
fn labels() -> Option<BTreeMap<String, TaskKind>> {
    let text = recorded_sessions().and_then(|folder| std::fs::read_to_string(folder.join("../MANIFEST.md")).ok());
    let Some(text) = text else {
        tell("NOT RUN: there is no MANIFEST.md with labels beside the recorded sessions");
        return None;
    };
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = text.lines().skip_while(|line| *line != "## dev/").filter(|line| line.starts_with('|'));
    let head = cells(lines.next()?);
    let column = |name: &str| head.iter().position(|cell| cell == name).unwrap();
    let (file, kind) = (column("file"), column("type"));
    let label = |line: &str| {
        let cells = cells(line);
        Some((cells.get(file)?.clone(), cells.get(kind)?.parse().ok()?))
    };
    Some(lines.filter_map(label).collect())
}

/// One session with its label and its verdict.
struct Judged<'a> {
    file: &'a str,
    label: TaskKind,
    verdict: Verdict,
}

impl Judged<'_> {
    fn agrees(&self) -> bool {
        self.label == self.verdict.kind
    }
}

/// The verdicts on every labelled session of enough messages, of its whole log or of what the model sees at its end.
fn judge<'a>(
    loaded: &'a [(String, RecordedFile)],
    labels: &BTreeMap<String, TaskKind>,
    whole: bool,
) -> Vec<Judged<'a>> {
    let mut judged = Vec::new();
    for (file, loaded) in loaded {
        let Some(label) = labels.get(file) else { continue };
        for one in loaded.sessions() {
            let session = if whole { one.session.without_journal() } else { one.session.clone() };
            if session.view().len() >= LEAST_MESSAGES {
                judged.push(Judged { file, label: *label, verdict: detect(&session) });
            }
        }
    }
    judged
}

/// The share of sessions that agree; each session alike, or each file.
fn agreement(judged: &[Judged<'_>], by_file: bool) -> f64 {
    let mut files: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for one in judged {
        let (agree, all) = files.entry(if by_file { one.file } else { "" }).or_default();
        *agree += f64::from(u8::from(one.agrees()));
        *all += 1.0;
    }
    files.values().map(|(agree, all)| agree / all).sum::<f64>() / files.len() as f64
}

fn matrix(judged: &[Judged<'_>]) -> String {
    let mut out =
        String::from("| label | code | analysis | conversation | mixed | unknown |\n|---|---|---|---|---|---|\n");
    for label in TaskKind::ALL {
        let count = |kind| judged.iter().filter(|one| one.label == label && one.verdict.kind == kind).count();
        let cells: Vec<String> = TaskKind::ALL.iter().map(|kind| count(*kind).to_string()).collect();
        let _ = writeln!(out, "| {label} | {} |", cells.join(" | "));
    }
    out
}

#[test]
fn labelled_sessions() {
    let loaded = loaded();
    let Some(labels) = labels() else { return };
    let judged = judge(&loaded, &labels, true);
    let mut out = matrix(&judged);
    let (by_session, by_file) = (agreement(&judged, false), agreement(&judged, true));
    let _ = writeln!(out, "{} sessions: {by_session:.3} agree, by file {by_file:.3}", judged.len());
    let seen = judge(&loaded, &labels, false);
    let (seen_session, seen_file) = (agreement(&seen, false), agreement(&seen, true));
    let _ =
        writeln!(out, "at the end of the session: {} sessions: {seen_session:.3}, by file {seen_file:.3}", seen.len());
    let mut formats: BTreeMap<&str, Vec<&Judged<'_>>> = BTreeMap::new();
    for one in &judged {
        formats.entry(one.file.split('/').next().unwrap()).or_default().push(one);
    }
    for (format, of) in formats {
        let _ = writeln!(out, "| `{format}` | {} | {} |", of.len(), of.iter().filter(|one| one.agrees()).count());
    }
    for (least, most) in [(0.0, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.1)] {
        let bin: Vec<&Judged<'_>> =
            judged.iter().filter(|one| (least..most).contains(&one.verdict.confidence)).collect();
        let files: BTreeMap<&str, bool> = bin.iter().map(|one| (one.file, one.agrees())).collect();
        let agree = bin.iter().filter(|one| one.agrees()).count();
        let _ = writeln!(
            out,
            "confidence {least} to {most}: {agree} of {} sessions, {} of {} files",
            bin.len(),
            files.values().filter(|agrees| **agrees).count(),
            files.len()
        );
    }
    for one in judged.iter().filter(|one| !one.agrees()) {
        let _ = writeln!(out, "{} ≠ {} ({:.2}) {}", one.label, one.verdict.kind, one.verdict.confidence, one.file);
        let _ = writeln!(out, "    {}", one.verdict.evidence.join("; "));
    }
    tell(&out);
    assert!(judged.len() > 100, "{} labelled sessions", judged.len());
    assert!(by_session >= 0.85, "{by_session} of the sessions agree");
    assert!(by_file >= 0.8, "{by_file} of the files agree");
    assert!(judged.iter().all(|one| (0.0..=1.0).contains(&one.verdict.confidence)));
}

/// The session, written in a profile's format and read again.
fn through(session: &Session, profile: Wire) -> Session {
    let rendered = render(session.view(), profile, session.tools.as_deref(), None);
    let options = ReadOptions { format: Some(profile.into()), strict: true, ..ReadOptions::default() };
    read(rendered.json.into_bytes(), options).unwrap().sessions.remove(0).session
}

/// What the detector may go by, without the recording's own ids: provided that it is the same, so is the verdict.
fn said(session: &Session) -> Vec<String> {
    let one = |message: &Message| {
        let calls: Vec<String> =
            message.calls().map(|(_, call)| format!("{}{}", call.name, call.arguments.text())).collect();
        let texts = message.text_calls.iter().map(|call| call.name.to_string()).collect::<Vec<_>>().join(" ");
        format!("{:?} {} {calls:?} {texts}", message.origin, message.plain_text())
    };
    session.view().iter().map(|entry| one(&entry.message)).collect()
}

#[test]
fn the_format_makes_no_difference() {
    let mut compared = 0;
    let mut check = |session: &Session, label: &str| {
        // What was compacted has a past that the detector reads and that a request does not have.
        if session.view().len() != session.log().len() {
            return;
        }
        let expect = detect(session);
        for profile in [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::Anthropic] {
            let again = through(session, profile);
            if said(&again) == said(session) {
                compared += 1;
                assert_eq!(detect(&again), expect, "{label} as {profile:?}");
            }
        }
    };
    let fixture = "user: fix the parser\nassistant: I look.\ncall Read c1 {\"file_path\":\"a.rs\"}\nresult c1: fn main() {}\n\
                   assistant: Now the edit.\ncall Edit c2 {\"file_path\":\"a.rs\"}\nresult c2: done\n\
                   user: and the tests?\nassistant: They pass.\n";
    check(&epitome_testkit::fixture::session(fixture), "fixture");
    for (file, loaded) in &loaded() {
        for one in loaded.sessions().iter().take(3) {
            check(&one.session, file);
        }
    }
    tell(&format!("{compared} sessions read through another format"));
    assert!(compared >= 2, "{compared} comparisons");
}
