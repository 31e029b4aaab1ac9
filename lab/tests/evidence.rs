//! Chats with evidence as folders of probes, and what is measured on them.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use epitome_eval::probes::ProbeKind;
use epitome_eval::{BudgetSpec, Method, Row, Subject};
use epitome_lab::{plan, probes};
use serde_json::Value;

/// A chat in the shape of LoCoMo: two questions, each with its turn, and one whose turn is not in it.
fn chat() -> String {
    let said = |sitting: u32| -> Vec<Value> {
        let turn = |number: u32| {
            let text = match (sitting, number) {
                (1, 2) => "My sister moved to Lisbon in March and works at the harbour there.".to_owned(),
                (3, 11) => "We named the grey kitten Biscuit after all.".to_owned(),
                _ => format!(
                    "Nothing much happened on day {number} of week {sitting}, it rained and we read and cooked."
                ),
            };
            let speaker = if number.is_multiple_of(2) { "Bo" } else { "Ann" };
            serde_json::json!({"speaker": speaker, "dia_id": format!("D{sitting}:{number}"), "text": text})
        };
        (1..=24).map(turn).collect()
    };
    serde_json::json!([{
        "sample_id": "pair",
        "conversation": {
            "speaker_a": "Ann", "speaker_b": "Bo", "session_1": said(1), "session_2": said(2), "session_3": said(3),
        },
        "qa": [
            {"question": "Where did the sister of Bo move?", "answer": "Lisbon", "evidence": ["D1:2"]},
            {"question": "What is the kitten called?", "answer": "Biscuit", "evidence": ["D3:11"]},
            {"question": "Who won the race?", "answer": "Nobody", "evidence": ["D9:9"]},
        ],
    }])
    .to_string()
}

#[test]
fn turns_and_answers_are_probes() {
    let place = tempfile::tempdir().unwrap();
    let (file, folder) = (place.path().join("chat.json"), place.path().join("probes"));
    std::fs::write(&file, chat()).unwrap();
    assert_eq!(probes::evidence(&file, &folder).unwrap(), 1);
    let outside = |command: &str| Arc::new(Method::command(command, command, Duration::from_secs(60)));
    let newest = Method::parse("baseline:newest", &epitome::registry()).unwrap();
    let methods = vec![Arc::new(newest), outside("cat"), outside("false")];
    let run = plan::plan(Subject::Probes, &[folder], methods, &[BudgetSpec::Share(0.5)], 1).run(&|_, _, _| {}).unwrap();
    let found = |method: &str| {
        let row: &Row = run.rows.iter().find(|row| row.method == method).unwrap();
        let of = |kind: ProbeKind| row.scores.probes.count_of(kind);
        [of(ProbeKind::Content), of(ProbeKind::Exact)].map(|count| (count.kept, count.of))
    };
    // The newest half holds the second turn.
    assert_eq!(found("baseline:newest"), [(1, 2), (1, 2)]);
    // What is over its budget, and what fails, shows nothing of what there is.
    assert_eq!(found("cat"), [(0, 2), (0, 2)]);
    assert_eq!(found("false"), [(0, 2), (0, 2)]);
    // The sessions of a set are requests that the product reads.
    let chats = place.path().join("chats");
    assert_eq!(probes::convert(&file, &chats).unwrap(), 1);
    let bytes = std::fs::read(chats.join("000-pair.json")).unwrap();
    let loaded = epitome::formats::read(bytes, epitome::formats::ReadOptions::default()).unwrap();
    assert_eq!(loaded.sessions[0].session.log().len(), 72);
}
