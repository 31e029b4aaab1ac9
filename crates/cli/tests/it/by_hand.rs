//! `epitome compact` with messages that a person keeps and drops.

use serde_json::{Value, json};

use crate::place::{Place, chat, example};

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("r.json")).unwrap()
}

#[test]
fn what_is_dropped_leaves_and_nothing_else() {
    let place = Place::with("chat.json", chat());
    let ran = place.run("compact chat.json --drop #3 --report r.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let after = ran.text();
    assert!(!after.contains("call_1") && !after.contains("unit 61 did not link"), "{after}");
    assert!(after.contains("Then fix unit 61."), "{after}");
    let report = report(&place);
    let expected = json!({"kept": [], "dropped": ["#2-#3"], "stayed": [], "gone": []});
    assert_eq!(report["by_hand"], expected);
    let codes: Vec<&Value> = report["edits"].as_array().unwrap().iter().map(|edit| &edit["reason"]["code"]).collect();
    assert_eq!(codes, ["dropped-by-hand"]);
    assert!(ran.stderr.contains("dropped  #2-#3"), "{}", ran.stderr);
    let handle = report["edits"][0]["recall"].as_str().unwrap();
    let restored = place.run(&format!("restore chat.json --handle {handle}"));
    assert!(restored.text().contains("error: unit 61 did not link"), "{}", restored.stderr);
}

#[test]
fn a_range_says_what_stays_and_why() {
    let place = Place::with("chat.json", chat());
    let ran = place.run("compact chat.json -b 100k --drop ..#4 --keep #4 --report r.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let by_hand = &report(&place)["by_hand"];
    assert_eq!((&by_hand["kept"], &by_hand["dropped"]), (&json!(["#4"]), &json!(["#2-#3"])));
    for line in ["#0: it is the system prompt", "#1: it is the task of the session", "#4: it is kept or pinned"] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
}

#[test]
fn what_cannot_be_done_is_named_and_nothing_written() {
    let place = Place::with("chat.json", chat());
    let check = |words: &str, says: &str| {
        let ran = place.run(&format!("compact chat.json -o out.json {words}"));
        assert_eq!((ran.code, ran.text()), (2, ""), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{words}: {}", ran.stderr);
        assert!(!place.path("out.json").exists(), "{words}");
    };
    check("-b 100k --drop #0", "message #0 cannot be dropped: it is the system prompt");
    check("-b 100k --drop #5", "it is the newest user message");
    check("-b 100k --drop #3 --keep #2", "message #3 cannot be dropped: it is kept or pinned");
    check("-b 100k --drop #2-#6", "there is no message #6: the last is #5");
    check("-b 100k --keep #9", "there is no message #9: the last is #5");
    check("-b 100k --drop three", "`three` names no messages");
    check("-b 100k --drop #3-#2", "names no messages");
    check("--keep #3", "--budget");
}

#[test]
fn what_is_kept_stays_in_a_file_that_records_it() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let listed = place.run("inspect session.jsonl --json").json();
    let units = listed["session"]["largest_units"].as_array().unwrap().clone();
    let unit = units.iter().find(|unit| unit["kind"] == "step").unwrap();
    let number = unit["number"].as_u64().unwrap();
    assert!(place.run("inspect session.jsonl").text().contains(&format!("#{number}")));
    let first = place.run(&format!("compact session.jsonl -b 20000 --keep #{number} -o small.jsonl --report r.json"));
    assert_eq!(first.code, 0, "{}", first.stderr);
    let id = &unit["message"];
    let outcome = |report: &Value| {
        let receipts = report["messages"].as_array().unwrap();
        receipts.iter().find(|receipt| receipt["id"] == *id).map(|receipt| receipt["outcome"].clone())
    };
    assert_eq!(outcome(&report(&place)), Some(json!("pinned")));
    let again = place.run("compact small.jsonl -b 12000 --report r.json -o smaller.jsonl");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(outcome(&report(&place)), Some(json!("pinned")), "without being asked again");
}
