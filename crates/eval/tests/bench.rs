//! What the bench makes of methods that keep, lose and forge.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::Arc;

use epitome::session::{Entry, EntryKey, Message, Origin, Position, Role};
use epitome_eval::bench::{Bench, BenchFigure, BenchRow};
use epitome_eval::{KeptCount, Method};
use serde_json::json;

/// A method that keeps those typed messages, and shows the newest line of each tool's result in that way.
fn typed(name: &str, keeps: fn(usize) -> bool, shows: fn(usize, &str) -> Message) -> Method {
    Method::other(name, move |case, _| {
        let of = |wanted: fn(&Message) -> bool| {
            let view = case.prefix.view().iter().map(|entry| Message::clone(&entry.message));
            view.filter(wanted).collect::<Vec<Message>>()
        };
        let typed = of(Message::is_typed).into_iter().enumerate().filter(|(at, _)| keeps(*at));
        let line = |(at, message): (usize, Message)| {
            let text = message.blocks.iter().find_map(|block| block.as_result()).map_or("", |result| &result.text);
            shows(at, text.lines().last().unwrap_or_default())
        };
        let lines = of(|message| message.role == Role::Tool).into_iter().enumerate().map(line);
        let messages = typed.map(|(_, message)| message).chain(lines).enumerate();
        let entry = |(index, message): (usize, Message)| {
            let key = EntryKey::Synthetic { epoch: 0, index: index as u32 };
            Entry::new(key, Position::log(index as u32), Arc::new(message))
        };
        Ok(messages.map(entry).collect())
    })
}

/// Each line set in, whatever ends it.
fn summary(at: usize, line: &str) -> Message {
    let text = format!("[Summary of 2 earlier messages]\n→ printed\n {}", line.replace('\u{2028}', "\n "));
    Message::text(format!("s{at}"), Role::User, Origin::Summary, text)
}

fn forged(at: usize, line: &str) -> Message {
    let text = format!("[Summary of 2 earlier messages]\n« {line}");
    Message::text(format!("s{at}"), Role::User, Origin::Summary, text)
}

/// A session of six rounds: a person's sentence, a call, its long result, an answer.
fn session() -> serde_json::Value {
    let printed = (0..400).map(|line| format!("unit {line} of the release was compiled\n")).collect::<String>();
    let round = |at: usize| {
        let id = format!("c{at}");
        let call = json!({"id": id, "type": "function", "function": {"name": "make", "arguments": "{}"}});
        [
            json!({"role": "user", "content": format!("Build part {at}.")}),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": printed}),
            json!({"role": "assistant", "content": format!("Part {at} is built.")}),
        ]
    };
    json!({"messages": (0..6).flat_map(round).collect::<Vec<_>>()})
}

/// The figures of each method at the smallest budget.
fn measured(methods: Vec<Method>) -> Vec<BenchRow> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("parts")).unwrap();
    let probe = json!([{"id": "q", "kind": "user", "question": "?", "answer": "!", "facts": [["Build part 0"]]}]);
    fs::write(folder.path().join("parts/prefix.json"), session().to_string()).unwrap();
    fs::write(folder.path().join("parts/probes.json"), probe.to_string()).unwrap();
    let methods = methods.into_iter().map(Arc::new).collect();
    let prices = epitome_eval::replay::Prices::shipped().unwrap();
    let run = Bench { folder: folder.path().to_owned(), methods, prices }.run(&|_, _| {}).unwrap();
    run.rows.into_iter().filter(|row| row.budget == "0.04").collect()
}

#[test]
fn a_method_that_loses_or_forges_shows_it() {
    let rows = measured(vec![
        typed("keeps", |_| true, summary),
        typed("loses the first", |at| at > 0, summary),
        typed("forges", |_| true, forged),
    ]);
    let count = |row: &BenchRow, figure: BenchFigure| row.figures.count(figure);
    let all = |of: u32| KeptCount { kept: of, of };
    let [keeps, loses, forges] = rows.as_slice() else { unreachable!("{rows:?}") };
    assert_eq!(count(keeps, BenchFigure::Rules), all(45), "fifteen demands in three framings");
    assert_eq!(count(keeps, BenchFigure::Attacked), all(9));
    assert_eq!(count(loses, BenchFigure::Early), KeptCount { kept: 0, of: 15 });
    assert_eq!(count(loses, BenchFigure::Late), all(15));
    assert_eq!(count(loses, BenchFigure::Rules), KeptCount { kept: 30, of: 45 });
    assert_eq!(count(keeps, BenchFigure::Forged).kept, 0);
    assert!(count(keeps, BenchFigure::Forged).of >= 6, "{keeps:?}");
    assert_eq!(count(forges, BenchFigure::Forged), all(count(keeps, BenchFigure::Forged).of));
    assert_eq!(count(forges, BenchFigure::Rules), all(45));
}
