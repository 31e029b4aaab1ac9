//! Hosts that cannot make every change to their list: the result has none that they cannot make.

use epitome::formats::{ReadOptions, Wire, read, validate};
use epitome::strategy::HostChanges;
use epitome_fit::{FitOptions, FitPiece, FitRequest, FitStatus, Fitted};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::lists::{List, chat, fitter, made_up, recorded, turn};

const HOSTS: [HostChanges; 3] = [HostChanges::Texts, HostChanges::Cut, HostChanges::Removals];

/// The compactions, replays and failures over the turns of a list.
#[derive(Debug, Default, Clone, Copy)]
struct Turns {
    compacted: usize,
    replayed: usize,
    infeasible: usize,
}

/// Fits a list as it grows for a host, and holds each result against what the host can do.
fn check(name: &str, list: &List, turns: &[usize], budget: u32, host: HostChanges) -> Turns {
    let mut options = FitOptions::within(budget);
    options.host = host;
    let fitter = fitter(list.profile, options);
    let mut seen = Turns::default();
    let mut last: Option<(Vec<String>, u32)> = None;
    for length in turns.iter().copied() {
        let place = format!("{name}, {host:?}, {:?}, {length} messages to {budget} tokens", list.profile);
        let fitted = fitter.fit(&list.request(length)).unwrap_or_else(|error| panic!("{place}: {error}"));
        obeys(&fitted, length, host, &place);
        let came = &list.messages[..length];
        let sent: Vec<String> = fitted.to_messages(came).unwrap().into_iter().map(String::from).collect();
        match fitted.status {
            FitStatus::Unchanged => assert!(sent == came, "{place}"),
            FitStatus::Replayed => seen.replayed += 1,
            FitStatus::Compacted => seen.compacted += 1,
            FitStatus::Infeasible => seen.infeasible += 1,
        }
        assert_ne!(fitted.detail, Some("not-written"), "{place}");
        assert!(fitted.status == FitStatus::Infeasible || fitted.tokens_after <= fitted.budget, "{place}");
        // Anthropic joins neighbours of one role itself.
        let is_broken =
            |rule: &str| (list.profile, rule) != (Wire::Anthropic, "alternation") || host == HostChanges::Any;
        let rules =
            |request: String| validate(&request, list.profile).iter().filter(|broken| is_broken(broken.rule)).count();
        let before = rules(format!(r#"{{"{}":[{}]}}"#, list.name(), came.join(",")));
        assert!(rules(list.sent(&fitted, length)) <= before, "{place}");
        if let Some((last, compactions)) = &last
            && fitted.compactions == *compactions
        {
            assert!(sent.starts_with(last), "{place}: what was sent is another beginning now");
        }
        last = Some((sent, fitted.compactions));
    }
    seen
}

/// The pieces have no change that the host cannot make.
fn obeys(fitted: &Fitted, length: usize, host: HostChanges, place: &str) {
    let place = format!("{place}: {:?}", fitted.pieces);
    let mut kept: Vec<usize> = Vec::new();
    let mut inserted = Vec::new();
    for piece in &fitted.pieces {
        match piece {
            FitPiece::Keep { start, end } => kept.extend(*start..*end),
            FitPiece::Edit { index, texts, message } => {
                let is_only_text = texts.is_some() || message.contains("{\"_elided\":");
                assert!(host == HostChanges::Texts && is_only_text, "{place}");
                kept.push(*index);
            }
            FitPiece::Insert { replaces, .. } => inserted.push((kept.len(), replaces.clone())),
        }
    }
    assert!(kept.is_sorted_by(|one, other| one < other) && fitted.system.is_none(), "{place}");
    let left: Vec<usize> = (0..length).filter(|number| !kept.contains(number)).collect();
    match host {
        HostChanges::Any => {}
        HostChanges::Texts => assert!(left.is_empty() && inserted.is_empty(), "{place}"),
        HostChanges::Cut => {
            let run: Vec<usize> = left.first().map_or(Vec::new(), |first| (*first..first + left.len()).collect());
            let texts: Vec<(usize, Vec<usize>)> = run.first().map(|first| (*first, run.clone())).into_iter().collect();
            assert!(left == run && inserted == texts, "{place}");
        }
        HostChanges::Removals => {
            assert!(inserted.len() <= 1, "{place}");
            let replaced = inserted.iter().flat_map(|(_, replaces)| replaces);
            assert!(replaced.into_iter().all(|number| left.contains(number)), "{place}");
        }
    }
}

#[test]
fn the_example() {
    for host in HOSTS {
        for profile in Wire::ALL {
            let list = List::example(profile);
            let seen = check("the example", &list, &list.turns(12), 30_000, host);
            assert!(seen.compacted + seen.infeasible > 0, "{host:?} {profile:?}: {seen:?}");
        }
    }
}

#[test]
fn a_chat_of_one_task() {
    let request = format!(r#"{{"messages":[{}]}}"#, chat(40).join(","));
    let loaded = read(request.into_bytes(), ReadOptions::default()).unwrap();
    for (host, profile) in HOSTS.into_iter().flat_map(|host| Wire::ALL.map(|profile| (host, profile))) {
        let list = List::new(&loaded.sessions[0].session, profile);
        let seen = check("a chat", &list, &(1..=list.messages.len()).step_by(2).collect::<Vec<_>>(), 8_000, host);
        assert!(seen.compacted > 0 && seen.replayed > 10 && seen.infeasible == 0, "{host:?}: {seen:?}");
    }
}

/// Results without their calls, as a gateway sends them that withholds what the model said.
#[test]
fn results_without_calls() {
    let output = |number: usize| (0..60).map(|line| format!("{number}:{line}: nothing to see")).collect::<Vec<_>>();
    let row =
        |number| json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": output(number).join("\n")});
    let mut rows = vec![json!({"role": "user", "content": "Find out why the build fails."})];
    rows.extend((0..30).map(row));
    let list: Vec<String> = rows.iter().map(Value::to_string).collect();
    let mut options = FitOptions::once(6_000);
    options.host = HostChanges::Texts;
    let fitted = fitter(Wire::OpenaiChat, options).fit(&FitRequest::new(&list)).unwrap();
    obeys(&fitted, list.len(), HostChanges::Texts, "rows");
    assert_eq!(fitted.status, FitStatus::Compacted);
    let sent = fitted.to_messages(&list).unwrap();
    for (row, sent) in rows.iter().zip(&sent) {
        let sent: Value = serde_json::from_str(sent).unwrap();
        assert_eq!((&sent["role"], &sent["tool_call_id"]), (&row["role"], &row["tool_call_id"]));
    }
}

/// Rows of older forms and of several parts shrink like others, each in its own form.
#[test]
fn rows_of_other_forms() {
    let lines = |number: usize| (0..60).map(|line| format!("{number}:{line}: nothing to see")).collect::<Vec<_>>();
    let check = |profile: Wire, step: &dyn Fn(usize) -> Vec<Value>| {
        let mut rows = vec![json!({"role": "user", "content": "Find out why the build fails."})];
        rows.extend((0..30).flat_map(step));
        let list: Vec<String> = rows.iter().map(Value::to_string).collect();
        let mut options = FitOptions::once(6_000);
        options.host = HostChanges::Texts;
        let fitted = fitter(profile, options).fit(&FitRequest::new(&list)).unwrap();
        assert_eq!((fitted.status, fitted.detail), (FitStatus::Compacted, None), "{}", rows[1]);
        let sent = fitted.to_messages(&list).unwrap();
        assert_eq!(sent.len(), rows.len());
        for (row, sent) in rows.iter().zip(&sent) {
            let sent: Value = serde_json::from_str(sent).unwrap();
            for name in ["role", "type", "name", "id"] {
                assert_eq!(sent[name], row[name], "{sent}");
            }
            assert_eq!(sent["function_call"]["name"], row["function_call"]["name"], "{sent}");
        }
    };
    check(Wire::OpenaiChat, &|number| {
        let arguments = json!({"command": "make", "script": lines(number).join("; ")}).to_string();
        vec![
            json!({"role": "assistant", "content": null, "function_call": {"name": "bash", "arguments": arguments}}),
            json!({"role": "function", "name": "bash", "content": lines(number).join("\n")}),
        ]
    });
    check(Wire::OpenaiResponses, &|number| {
        let id = format!("c{number}");
        let part = |lines: &[String]| json!({"type": "summary_text", "text": lines.join("\n")});
        let lines = lines(number);
        let summary = [part(&lines[..30]), part(&lines[30..])];
        vec![
            json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": summary}),
            json!({"type": "function_call", "call_id": id, "name": "bash", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": lines.join("\n")}),
        ]
    });
}

/// A task that alone is more than the budget keeps head and tail, and the result says so; a pinned one is out of reach.
#[test]
fn a_task_that_is_cut_is_told() {
    let words: Vec<String> = (0..3_000).map(|number| format!("Requirement {number}: keep it.")).collect();
    let check = |mark: &str, host: HostChanges| {
        let task = json!({"role": "user", "content": format!("{mark}{}", words.join("\n"))}).to_string();
        let list = [task, r#"{"role":"assistant","content":"I begin."}"#.to_owned()];
        let mut options = FitOptions::within(4_000);
        options.host = host;
        fitter(Wire::OpenaiChat, options).fit(&FitRequest::new(&list)).unwrap()
    };
    for host in [HostChanges::Any, HostChanges::Texts] {
        let fitted = check("", host);
        assert_eq!(fitted.status, FitStatus::Compacted, "{host:?}: {fitted:?}");
        let is_edit = |piece: &FitPiece| matches!(piece, FitPiece::Edit { index: 0, texts: Some(_), .. });
        assert!(fitted.pieces.iter().any(is_edit), "{host:?}: {:?}", fitted.pieces);
        let removal = fitted.removals.iter().find(|removal| removal.messages == [0]).unwrap();
        assert!(removal.reason.ends_with("tokens stay"), "{removal:?}");
        let report = fitted.report.unwrap();
        assert!(report.edits.iter().any(|edit| &*edit.reason.code == "message-over-budget"), "{report:?}");
    }
    for (mark, host) in [("<Pin> ", HostChanges::Any), ("", HostChanges::Cut), ("", HostChanges::Removals)] {
        let fitted = check(mark, host);
        assert_eq!(fitted.status, FitStatus::Infeasible, "{host:?}: {fitted:?}");
        assert!(fitted.is_unchanged() && fitted.floor.is_some(), "{host:?}: {fitted:?}");
    }
}

/// Decisions for one host are not done again for another.
#[test]
fn another_host_decides_anew() {
    let messages = chat(40);
    let first = fitter(Wire::OpenaiChat, FitOptions::within(8_000));
    assert_eq!(first.fit(&FitRequest::new(&messages)).unwrap().status, FitStatus::Compacted);
    let mut options = FitOptions::within(8_000);
    options.host = HostChanges::Texts;
    let other = epitome_fit::Fitter::from_state(
        &first.state().unwrap(),
        &crate::lists::runtime(),
        Some(Wire::OpenaiChat),
        options,
    );
    let fitted = other.unwrap().fit(&FitRequest::new(&messages)).unwrap();
    assert_eq!(fitted.status, FitStatus::Compacted);
    obeys(&fitted, messages.len(), HostChanges::Texts, "another host");
}

#[test]
fn recorded_sessions() {
    let mut all = [Turns::default(); 3];
    let files = recorded();
    for (number, file) in files.iter().step_by(9).enumerate() {
        let Some(list) = List::recorded(file, Wire::ALL[number % Wire::ALL.len()]) else { continue };
        let bytes: usize = list.messages.iter().map(String::len).sum();
        for (host, all) in HOSTS.into_iter().zip(&mut all) {
            let budget = (bytes as u32 / 8).max(2_500);
            let seen = check(&file.display().to_string(), &list, &list.turns(5), budget, host);
            all.compacted += seen.compacted;
            all.replayed += seen.replayed;
            all.infeasible += seen.infeasible;
        }
    }
    // Where there are recorded sessions, each host was given something to do.
    let has_replayed = all.iter().any(|seen| seen.replayed > 0);
    assert!(files.is_empty() || has_replayed && all.iter().all(|seen| seen.compacted > 0), "{all:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn made_up_lists(turns in prop::collection::vec(turn(), 4..24), budget in 400_u32..4_000, host in 0_usize..3) {
        let (list, ends) = made_up(&turns);
        check("a made-up list", &list, &ends, budget, HOSTS[host]);
    }
}
