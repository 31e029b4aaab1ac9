//! `epitome search`: what was said, found again.

use serde_json::{Value, json};

use crate::place::{Place, example};

/// A session of a request, a file that was read, and an answer.
fn session(partner: &str) -> String {
    let call = json!({"id": "c1", "type": "function", "function": {
        "name": "Read", "arguments": json!({"file_path": "/home/dev/ledger/export.py"}).to_string()}});
    json!({"messages": [
        {"role": "system", "content": "You are careful."},
        {"role": "user", "content": format!("Leave the export of partner {partner} alone.")},
        {"role": "assistant", "content": "I look at the export first.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "def write_export(rows):\n    return fingerprint(rows)\n"},
        {"role": "assistant", "content": "The export joins on the fingerprint, so it stays as it was."},
    ]})
    .to_string()
}

#[test]
fn what_was_said_is_found() {
    let place = Place::with("session.json", session("HLV-2209"));
    insta::assert_snapshot!(place.run("search session.json which partner did the user name").all(), @r#"
    exit 0
    ----- stdout
    #1 user  1.00
      #0 system:
      You are careful.
      #1 user:
      Leave the export of partner HLV-2209 alone.
      #2 assistant:
      I look at the export first.
      #2 calls Read:
      Read
      file_path: /home/dev/ledger/export.py
      #3 Read →
      def write_export(rows):
          return fingerprint(rows)
      #4 assistant:
      The export joins on the fingerprint, so it stays as it was.
    "#);
    insta::assert_snapshot!(place.run("search session.json write_export --source file --limit 1 --characters 150").all(), @r#"
    exit 0
    ----- stdout
    #3 tool Read  1.00  /home/dev/ledger/export.py
      #2 calls Read:
      Read
      file_path: /home/dev/ledger/export.py
      #3 Read →
      def write_export(rows):
          return fingerprint(rows)
    "#);
    insta::assert_snapshot!(place.run("search session.json --source user --newest").all(), @r#"
    exit 0
    ----- stdout
    #1 user  1.00
      Leave the export of partner HLV-2209 alone.
    "#);
    let printed = place.run("search session.json fingerprint --also write_export --json --limit 1").json();
    assert_eq!(printed["more"], false);
    let passage = &printed["passages"][0];
    let keys: Vec<&str> = passage.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["text", "message", "number", "role", "tool", "file", "handle", "in_context", "score"]);
    assert!(passage["text"].as_str().unwrap().contains("def write_export(rows):"), "{passage}");
    assert_eq!(place.run_with("search - HLV-2209 -q", session("HLV-2209").as_bytes()).code, 0);
}

/// Code says the name of a value again and again; a question asks for the value.
#[test]
fn what_a_question_asks_the_value_of_is_found_with_it() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let check = |words: &str, value: &str| {
        let found = place.run(&format!("search session.jsonl {words}"));
        assert!(found.code == 0 && found.text().contains(value), "{words}: no {value} in\n{}", found.text());
    };
    check("which port", "8417");
    check("what is the port of the server", "8417");
    check("which partner joins its reconciliation on the fingerprint", "HLV-2209");
    // Several sessions are ranked together, by the same rule.
    std::fs::create_dir_all(place.path("all")).unwrap();
    place.file("all/one.jsonl", example("session.jsonl"));
    place.file("all/two.json", session("HLV-2209"));
    let found = place.run("search all which port --limit 3 -q");
    assert!(found.text().contains("8417"), "{}", found.text());
}

#[test]
fn nothing_found_is_told_and_is_no_success() {
    let place = Place::with("session.json", session("HLV-2209"));
    insta::assert_snapshot!(place.run("search session.json zebra").all(), @r#"
    exit 1
    ----- stderr
    nothing matches in session.json
    "#);
    insta::assert_snapshot!(place.run("search session.json export --page 9").all(), @r#"
    exit 1
    ----- stderr
    nothing more matches in session.json
    "#);
    assert_eq!(place.run("search session.json zebra --json -q").json(), json!({"passages": [], "more": false}));
}

#[test]
fn pages_go_on_where_the_last_one_ended() {
    let place = Place::with("example.jsonl", example("session.jsonl"));
    let page = |number: u32| -> Vec<Value> {
        let line = format!("search example.jsonl fingerprint --limit 2 --characters 2000 --page {number} --json");
        place.run(&line).json()["passages"].as_array().unwrap().clone()
    };
    let (first, second) = (page(1), page(2));
    assert_eq!((first.len(), second.len()), (2, 2));
    assert!(first.iter().all(|passage| second.iter().all(|other| passage["text"] != other["text"])));
    let told = place.run("search example.jsonl fingerprint --limit 2");
    assert_eq!((told.code, &*told.stderr), (0, "more matches: --page 2\n"));
}

#[test]
fn a_folder_is_searched_as_one() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("all/older")).unwrap();
    place.file("all/one.json", session("HLV-2209"));
    place.file("all/older/two.json", session("KQD-8114"));
    place.file("all/notes.txt", "not a session");
    insta::assert_snapshot!(place.run("search all KQD-8114 --limit 1 --characters 200").all(), @r#"
    exit 0
    ----- stdout
    older/two.json  #1 user  1.00
      #0 system:
      You are careful.
      #1 user:
      Leave the export of partner KQD-8114 alone.
      #2 assistant:
      I look at the export first.
      #2 calls Read:
      Read
      file_path: /home/dev/ledger/export.py
    ----- stderr
    warning: all: 1 file passed over, 2 searched
    "#);
    let printed = place.run("search all partner --json -q").json();
    let paths: Vec<&str> =
        printed["passages"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"one.json") && paths.contains(&"older/two.json"), "{paths:?}");
    assert_eq!(place.run("search all zebra -q").code, 1);
}

#[test]
fn what_left_the_context_has_a_handle_that_brings_it_back() {
    let place = Place::with("example.jsonl", example("session.jsonl"));
    assert_eq!(place.run("compact example.jsonl --budget 12000 -o example.jsonl -q").code, 0);
    let printed = place.run("search example.jsonl parse_amount float int --source tool --json --limit 20").json();
    let passages = printed["passages"].as_array().unwrap();
    let left = passages.iter().find(|passage| passage["in_context"] == false).unwrap();
    let handle = left["handle"].as_str().unwrap();
    let recalled = place.run(&format!("restore example.jsonl --handle {handle} -q"));
    assert_eq!(recalled.code, 0, "{}", recalled.stderr);
}

#[test]
fn the_line_says_which_message_left_where_that_is_a_neighbour() {
    let place = Place::with("example.jsonl", example("session.jsonl"));
    assert_eq!(place.run("compact example.jsonl --budget 30k -o example.jsonl -q").code, 0);
    let found = place.run("search example.jsonl HLV-2209");
    let line = |name: &str| found.text().lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    // Message 50 was typed and is there; the output in front of it is not.
    insta::assert_snapshot!(line("#50 "), @"#50 user  0.93  #49 left the context, recall f3be233507b1");
    insta::assert_snapshot!(line("#165 "), @"#165 assistant  1.00");
    let alone = place.run("search example.jsonl new_fingerprint --source tool --limit 1");
    let heading = alone.text().lines().next().unwrap();
    assert!(heading.contains("  left the context, recall "), "{heading}");
}

#[test]
fn bad_input_is_told() {
    let place = Place::with("session.json", session("HLV-2209"));
    std::fs::create_dir(place.path("empty")).unwrap();
    insta::assert_snapshot!(place.run("search session.json x --source me").all(), @r#"
    exit 2
    ----- stderr
    error: invalid value 'me' for '--source <A,B>': `me` is not one of user, assistant, tool, file

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(place.run("search missing.json x").all(), @r#"
    exit 2
    ----- stderr
    error: cannot read missing.json: No such file or directory (os error 2)
      help: check the path; `-` reads standard input
    "#);
    insta::assert_snapshot!(place.run("search empty x").all(), @r#"
    exit 2
    ----- stderr
    error: empty holds no session that can be read
      help: name a folder of session files, or --from where it is not recognised
    "#);
    insta::assert_snapshot!(place.run("search empty x --newest").all(), @r#"
    exit 2
    ----- stderr
    error: --newest is of one session, and empty holds more
      help: name the file of one session
    "#);
    assert_eq!(place.run("search session.json").code, 2);
    place.file("prose.txt", "Just a few words.");
    insta::assert_snapshot!(place.run("search prose.txt x").all(), @r#"
    exit 2
    ----- stderr
    error: cannot read prose.txt: this is not a session in a known format (plain text that starts `Just a few words.`)
      help: where it is a session, `--from` names its format; `epitome convert --help` lists them
    "#);
    for (line, part) in [
        ("search session.json x --limit 0", "`limit` is 1 to 100 passages, not 0"),
        ("search session.json x --limit 101", "`limit` is 1 to 100 passages, not 101"),
        ("search session.json x --characters 200001", "`characters` is 1 to 200000, not 200001"),
        ("search session.json x --page 21", "20 pages at most"),
        ("search session.json x --page 0", "--page"),
    ] {
        let ran = place.run(line);
        assert!(ran.code == 2 && ran.stderr.contains(part), "{line}: {}", ran.stderr);
    }
}

#[test]
fn what_a_helper_did_is_found_in_its_own_file() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("project/s1/subagents")).unwrap();
    let record = |helper: Option<&str>, role: &str, text: &str| {
        let content = if role == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
        let mut record = json!({"type": role, "uuid": format!("{helper:?}{role}"), "parentUuid": null, "sessionId": "s1",
            "isSidechain": helper.is_some(), "message": {"role": role, "content": content}});
        if let Some(helper) = helper {
            record["agentId"] = helper.into();
        }
        format!("{record}\n")
    };
    let main = record(None, "user", "Count the animals.") + &record(None, "assistant", "Two helpers are at it.");
    place.file("project/s1.jsonl", &main);
    let helper = |id: &str, animal: &str| {
        record(Some(id), "user", "Count them.") + &record(Some(id), "assistant", &format!("There are 17 {animal}."))
    };
    place.file("project/agent-a1.jsonl", helper("a1", "zebras"));
    place.file("project/s1/subagents/agent-b2.jsonl", helper("b2", "walruses"));
    insta::assert_snapshot!(place.run("search project zebras walruses").all(), @r#"
    exit 0
    ----- stdout
    agent-a1.jsonl  s1/agent-a1  #1 assistant  1.00
      #0 to the model:
      Count them.
      #1 assistant:
      There are 17 zebras.

    s1/subagents/agent-b2.jsonl  s1/agent-b2  #1 assistant  1.00
      #0 to the model:
      Count them.
      #1 assistant:
      There are 17 walruses.
    "#);
    // A helper is told by the model, not by a person; nobody else reads its file as a session of its own.
    insta::assert_snapshot!(place.run("search project count --source user").all(), @r#"
    exit 0
    ----- stdout
    s1.jsonl  #0 user  1.00
      Count the animals.
    "#);
    insta::assert_snapshot!(place.run("search project/agent-a1.jsonl zebras").all(), @r#"
    exit 0
    ----- stdout
    #1 assistant  1.00
      #0 to the model:
      Count them.
      #1 assistant:
      There are 17 zebras.
    "#);
    assert!(place.run("inspect project/agent-a1.jsonl").stderr.contains("nobody has spoken in"));
}

#[test]
fn a_message_is_brought_back_by_its_number() {
    let place = Place::with("session.json", session("HLV-2209"));
    for name in ["#1", "1"] {
        let ran = place.run(&format!("restore session.json --handle {name} -q"));
        let restored: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let messages = restored["messages"].as_array().unwrap();
        assert_eq!((messages.len(), messages[0]["role"].as_str()), (1, Some("user")), "{restored}");
    }
    assert_eq!(place.run("restore session.json --handle 99 -q").code, 2);
}
