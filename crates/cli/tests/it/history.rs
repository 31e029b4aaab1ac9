//! Looking back: history and restore, over epitome's own files and over agents'.

use epitome::live::LiveSession;
use epitome::session::{Message, Origin, Role};
use epitome::store::SessionFile;

use crate::place::{Place, Ran, chat, example, several, shape_only};

/// A session in a file of epitome's own, compacted twice.
fn keep(place: &Place, name: &str) {
    let registry = epitome::registry();
    let settings = "[budget]\nwindow = 2_000\nreserve_output = 0\ntarget = 0.5\n[select]\nmode = \"fixed\"\nchain = \"plain\"\n\
                    [chains]\nplain = [\"sliding-window\"]\n[strategies.sliding-window]\nwindow = 2\n";
    let config = epitome::Config::parse(settings, "c.toml", &registry).unwrap();
    let mut live = LiveSession::new(&config.build(&registry).unwrap());
    live.keep_in(place.path(name)).unwrap();
    for compaction in 0..2 {
        for turn in 0..10 {
            let text = format!("turn {compaction}.{turn}: {}", "the parser reads another line ".repeat(20));
            let (role, origin) =
                if turn % 2 == 0 { (Role::User, Origin::Typed) } else { (Role::Assistant, Origin::Model) };
            live.push(Message::text("", role, origin, text)).unwrap();
        }
        epitome::engine::block_on(live.compact(&Default::default())).unwrap();
    }
}

#[test]
fn history_of_a_kept_session() {
    let place = Place::new();
    keep(&place, "kept.jsonl");
    let before = place.read("kept.jsonl");
    let shape = shape_only();
    insta::assert_snapshot!(place.run("history kept.jsonl").all(), @r#"
    exit #
    ----- stdout
    kept.jsonl epitome, # messages, # compactions

    Compaction # by epitome, manual, after # messages
      tokens # → #
      edits sliding-window #
      handles [HANDLE]
      summary [Summary of # earlier messages] ## Exact lines, oldest first « turn #: the parser rea…

    Compaction # by epitome, manual, after # messages
      tokens # → #
      edits sliding-window #
      handles [HANDLE]
      summary [Summary of # earlier messages] ## Exact lines, oldest first « turn #: the parser re…
    "#);
    drop(shape);
    let printed = place.run("history kept.jsonl --json").json();
    assert_eq!((&printed["format"], printed["compactions"].as_array().unwrap().len()), (&"epitome".into(), 2));
    assert_eq!(printed["compactions"][1]["epoch"], 1);
    assert_eq!(place.run_with("history -", &before).code, 0);
    assert_eq!(place.read("kept.jsonl"), before, "nothing is written to it");
    // What an interrupted write left is told, and stays.
    place.file("torn.jsonl", [&before[..], b"{\"message\":{\"id\":"].concat());
    let torn = place.run("history torn.jsonl");
    assert!(torn.code == 0 && torn.stderr.contains("left out what is not written to its end"), "{}", torn.stderr);
    assert_eq!(place.read("torn.jsonl").len(), before.len() + 17);
}

#[test]
fn restore_takes_compactions_of_a_kept_session_back() {
    let place = Place::new();
    keep(&place, "kept.jsonl");
    let before = place.read("kept.jsonl");
    // The newest one; its records stay, and the undo stands behind them.
    let ran = place.run("restore kept.jsonl -o one.jsonl");
    assert_eq!(ran.stderr, "compaction 1 taken back: 14 messages written to one.jsonl\n");
    let one = place.read("one.jsonl");
    assert!(one.starts_with(&before) && one.ends_with(b"{\"undo\":1}\n"));
    assert_eq!(place.run("history one.jsonl --json").json()["compactions"][1]["undone"], true);
    // The earlier one is covered while the later one stands.
    insta::assert_snapshot!(place.run("restore kept.jsonl --epoch 0").all(), @r#"
    exit 2
    ----- stderr
    error: compaction 1 covers what compaction 0 changed: undo 1 first
      help: restore --epoch 1 first, and the result then
    "#);
    assert_eq!(place.run("restore one.jsonl --epoch 0 -o none.jsonl").code, 0);
    let none = SessionFile::read(place.path("none.jsonl")).unwrap().session;
    assert_eq!(none.view().len(), none.log().len());
    insta::assert_snapshot!(place.run("restore none.jsonl").all(), @r#"
    exit 2
    ----- stderr
    error: no compaction of none.jsonl is in force
      help: `epitome history` lists them; what a request lost is in the file that it was compacted from
    "#);
    insta::assert_snapshot!(place.run("restore kept.jsonl --epoch 9").all(), @r#"
    exit 2
    ----- stderr
    error: there is no compaction 9: the journal holds 2
      help: `epitome history` lists them
    "#);
    // In place nothing is lost, so that it needs no --force.
    assert_eq!(place.run("restore kept.jsonl -o kept.jsonl").code, 0);
    assert_eq!(place.read("kept.jsonl"), one);
    // As a request: to standard output, or to a file.
    let request = place.run("restore none.jsonl --to anthropic --epoch 0");
    assert_eq!(request.code, 2, "it is undone already");
    let request = place.run("restore one.jsonl --epoch 0 --to openai-chat -q").json();
    assert_eq!(request["messages"].as_array().unwrap().len(), 20);
    let refused = place.run("restore one.jsonl --epoch 0 --to openai-chat -o one.jsonl");
    assert!(refused.code == 2 && refused.stderr.contains("would lose what left"), "{}", refused.stderr);
    assert_eq!(place.read("one.jsonl"), one);
    assert_eq!(place.run("restore one.jsonl --epoch 0 --to openai-chat -o one.jsonl --force").code, 0);
    assert!(place.read("one.jsonl").starts_with(b"{\"messages\""));
}

#[test]
fn restore_brings_back_what_a_handle_names() {
    let place = Place::new();
    keep(&place, "kept.jsonl");
    let printed = place.run("history kept.jsonl --json").json();
    let handle = printed["compactions"][0]["recall"][0].as_str().unwrap();
    let recalled = place.run(&format!("restore kept.jsonl --handle {handle} -q")).json();
    let texts = recalled["messages"].as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap());
    assert!(texts.clone().any(|text| text.starts_with("turn 0.1")), "{recalled}");
    assert!(!texts.clone().any(|text| text.starts_with("turn 1.")), "{recalled}");
    let ran = place.run(&format!("restore kept.jsonl --handle {handle} --to anthropic -o out.json"));
    assert!(
        ran.code == 0 && ran.stderr.contains(&format!("messages under {handle} written to out.json")),
        "{}",
        ran.stderr
    );
    insta::assert_snapshot!(place.run("restore kept.jsonl --handle 00000000").all(), @r#"
    exit 2
    ----- stderr
    error: kept.jsonl has nothing under the handle `00000000`
      help: `epitome history` lists the handles of each compaction
    "#);
    insta::assert_snapshot!(place.run("restore kept.jsonl --handle 0 --epoch 1").stderr.lines().next().unwrap(), @"error: the argument '--handle <HANDLE|N>' cannot be used with '--epoch <N>'");
    insta::assert_snapshot!(place.run(&format!("restore kept.jsonl --handle {handle} --to codex")).all(), @r#"
    exit 2
    ----- stderr
    error: codex cannot hold a part of a session
      help: openai-chat, openai-responses, anthropic and gemini can
    "#);
}

#[test]
fn an_agents_file_is_looked_back_at() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    assert_eq!(place.run("history session.jsonl").stderr, "no compaction is recorded in it\n");
    let report = place.run("compact session.jsonl -b 20k -o small.jsonl --report report.json -q");
    assert_eq!(report.code, 0);
    let shape = shape_only();
    let history = place.run("history small.jsonl");
    assert_eq!(history.code, 0);
    insta::assert_snapshot!(history.text().lines().take(4).collect::<Vec<_>>().join("\n"), @r#"
    small.jsonl claude-code, # messages, # compaction

    Compaction # by epitome, manual, after # messages
      tokens # → #
    "#);
    drop(shape);
    // Taken back, the view is the one before the compaction.
    assert_eq!(place.run("restore small.jsonl -o back.jsonl").code, 0);
    let messages = |name: &str| {
        let converted = place.run(&format!("convert {name} --to openai-chat -q")).json();
        converted["messages"].clone()
    };
    assert_eq!(messages("back.jsonl"), messages("session.jsonl"));
    assert_ne!(messages("small.jsonl"), messages("session.jsonl"));
    // The file still has what left: a handle of the report is found in it.
    let report: serde_json::Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    let handle = report["edits"].as_array().unwrap().iter().find_map(|edit| edit["recall"].as_str()).unwrap();
    let recalled = place.run(&format!("restore small.jsonl --handle {handle} -q"));
    assert!(recalled.code == 0 && !recalled.stdout.is_empty(), "{}", recalled.stderr);
    let missing = place.run("restore small.jsonl --handle 0123456789");
    assert!(
        missing.code == 2 && missing.stderr.contains("nothing under the handle `0123456789`"),
        "{}",
        missing.stderr
    );
}

#[test]
fn the_input_has_what_a_handle_of_the_report_names() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let ran = place.run("compact session.jsonl -b 12k --to openai-chat -o out.json --report report.json");
    assert!(
        ran.stderr.contains("epitome restore session.jsonl --handle HANDLE prints the removed text\n"),
        "{}",
        ran.stderr
    );
    let report: serde_json::Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    let edits = report["edits"].as_array().unwrap();
    assert!(edits.len() > 5, "{}", edits.len());
    for edit in edits {
        let handle = edit["recall"].as_str().unwrap();
        let ran = place.run(&format!("restore session.jsonl --handle {handle}"));
        assert_eq!(ran.code, 0, "{handle}: {}", ran.stderr);
        if edit["edit"] == "summarize" {
            let restored = ran.json()["messages"].as_array().unwrap().len();
            assert_eq!(restored, edit["messages"].as_array().unwrap().len(), "{handle}");
        }
    }
    let piped = place.run_with("compact - -b 12k --to openai-chat", &example("session.jsonl"));
    assert!(piped.code == 0 && !piped.stderr.contains("epitome restore"), "what was piped in cannot be read again");
}

/// The words of a line of a report after its label, where it has that line.
fn labelled<'a>(ran: &'a Ran, label: &str) -> Option<&'a str> {
    ran.stderr.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

#[test]
fn the_report_says_how_what_left_is_written() {
    let place = Place::with("chat.json", chat());
    place.file("my chat.json", chat());
    place.file("all.jsonl", several());
    let check = |file: &str, options: &str, expect: Option<&str>| {
        let mut command = place.command("compact --chain tool-results -b 400");
        command.arg(file).args(options.split_whitespace());
        let ran = Ran::read(command.output().unwrap());
        assert_eq!(ran.code, 0, "{file} {options}: {}", ran.stderr);
        let line = expect.map(|expect| format!("epitome restore {expect} --handle HANDLE prints the removed text"));
        assert_eq!(labelled(&ran, "recall "), line.as_deref(), "{file} {options}");
    };
    check("chat.json", "", Some("chat.json"));
    check("chat.json", "--from openai-chat", Some("chat.json --from openai-chat"));
    check("all.jsonl", "--session 2", Some("all.jsonl --session 2"));
    let quoted = if cfg!(windows) { "\"my chat.json\"" } else { "'my chat.json'" };
    check("my chat.json", "", Some(quoted));
    // An output that takes the input's place has nothing of what left, however its name is spelt.
    check("chat.json", "--preview", Some("chat.json"));
    check("chat.json", "-o ./chat.json --force", None);
    place.file("chat.json", chat());
    check("./chat.json", "-o chat.json --force", None);
}

#[test]
fn a_message_is_restored_as_it_is_or_not_at_all() {
    let place = Place::with("chat.json", chat());
    let texts = |line: &str| -> Vec<String> {
        let ran = place.run(line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        let restored = ran.json();
        let messages = restored.as_object().unwrap().values().next().unwrap().as_array().unwrap().clone();
        messages.iter().map(ToString::to_string).collect()
    };
    let words =
        ["You build releases.", "Build release 4.2", "make release", "unit 61 did not link", "Unit 61 did", "Then fix"];
    for (number, words) in words.into_iter().enumerate() {
        for to in ["", "--to openai-chat", "--to openai-responses", "--to anthropic", "--to gemini"] {
            if number == 0 && (to.ends_with("anthropic") || to.ends_with("gemini")) {
                continue;
            }
            let texts = texts(&format!("restore chat.json --handle #{number} {to}"));
            assert!(texts.len() == 1 && texts[0].contains(words), "#{number} {to}: {texts:?}");
        }
    }
    let refused = |handle: &str| {
        let ran = place.run(&format!("restore chat.json --handle {handle}"));
        assert_eq!((ran.code, ran.text()), (2, ""), "{handle}");
        ran.stderr
    };
    insta::assert_snapshot!(refused("6"), @r#"
    error: chat.json has no message #6
      help: #0 to #5 are its messages
    "#);
    insta::assert_snapshot!(refused("release"), @r#"
    error: `release` is neither a handle nor a message's number
      help: a handle has 12 or more of the digits 0 to f, as reports, marks and search results name it; #0 to #5 are its messages
    "#);
    for wrong in ["#", "#-1", "+1", "1.0", "call_1", "#0-#2", "0x1"] {
        assert!(refused(wrong).contains("neither a handle nor"), "{wrong}");
    }
    assert!(refused("0123456789ab").contains("has nothing under the handle"));
    insta::assert_snapshot!(refused("0 --to anthropic"), @r#"
    error: cannot write what is under 0 as anthropic: `role`: a system prompt stands beside the messages in this form, in `system`
      help: --to names another form
    "#);
}

#[test]
fn a_request_has_no_past() {
    let place = Place::with("chat.json", chat());
    assert_eq!(place.run("history chat.json").stderr, "no compaction is recorded in it\n");
    insta::assert_snapshot!(place.run("restore chat.json").all(), @r#"
    exit 2
    ----- stderr
    error: no compaction of chat.json is in force
      help: `epitome history` lists them; what a request lost is in the file that it was compacted from
    "#);
}

#[test]
fn what_left_is_found_by_its_place_in_a_session_that_is_too_long_to_be_searched() {
    use epitome::strategy::{ArchivedContent, archive::handles};
    let turn = |number: usize| serde_json::json!({"role": "user", "content": format!("turn {number}")});
    let messages: Vec<serde_json::Value> = (0..6_000).map(turn).collect();
    let place = Place::with("long.json", serde_json::json!({"messages": messages}).to_string());
    let loaded = epitome::formats::read(place.read("long.json"), Default::default()).unwrap();
    let log = loaded.sessions[0].session.log();
    let handle = handles(&ArchivedContent::Messages(log[5_900..5_903].to_vec())).next().unwrap();
    let restore = |options: &str| place.run(&format!("restore long.json --handle {options}"));
    for at in ["5900", "#5900"] {
        let found = restore(&format!("{handle} --at {at}"));
        assert_eq!(found.code, 0, "{at}: {}", found.stderr);
        assert_eq!(found.json()["messages"].as_array().unwrap().len(), 3, "{at}");
    }
    insta::assert_snapshot!(restore("0123456789ab").all(), @r#"
    exit 2
    ----- stderr
    error: long.json is too long to be searched to its end for the messages under the handle `0123456789ab`
      help: say where they begin: --handle 0123456789ab --at '#N', with the N of the report's `messages from #N`; --handle '#N' writes one message
    "#);
    insta::assert_snapshot!(restore("0123456789ab --at #5900").stderr.lines().next().unwrap(), @"error: long.json has nothing under the handle `0123456789ab` at message #5900");
    insta::assert_snapshot!(restore("#7 --at 5").all(), @r#"
    exit 2
    ----- stderr
    error: `#7` is one message already
      help: leave --at out: it says where the messages under a handle begin
    "#);
    insta::assert_snapshot!(restore("0123456789ab --at 0x5").stderr.lines().next().unwrap(), @"error: invalid value '0x5' for '--at <N>': takes a message's number, such as 153 or '#153'");
}

#[test]
fn what_was_taken_back_is_told_as_such() {
    let line = |uuid: &str, parent: &str, role: &str, text: &str| {
        let content =
            if role == "user" { format!("\"{text}\"") } else { format!(r#"[{{"type":"text","text":"{text}"}}]"#) };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"S\",\"type\":\"{role}\",\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":{content}}}}}\n"
        )
    };
    let session = [
        line("u1", "null", "user", "Paint the gate."),
        line("a1", "\"u1\"", "assistant", "Which colour?"),
        line("u2", "\"a1\"", "user", "Always use vermilion."),
        line("u3", "\"a1\"", "user", "Always use ochre."),
        line("a2", "\"u3\"", "assistant", "It is ochre now."),
    ];
    let place = Place::with("session.jsonl", session.concat());
    let history = place.run("history session.jsonl");
    assert!(
        history.text().contains("Taken back 0  by the person, in the agent, after 3 messages"),
        "{}",
        history.all()
    );
    assert!(history.text().contains("5 messages, 0 compactions"), "{}", history.all());
    let found = place.run("search session.jsonl vermilion");
    assert!(found.text().contains("#2 taken back") && !found.text().contains("#3 taken back"), "{}", found.all());
    for told in ["brief session.jsonl", "convert session.jsonl --to openai-chat"] {
        let ran = place.run(told);
        let text = ran.text();
        assert!(text.contains("ochre") && !text.contains("vermilion"), "{told}: {text}");
    }
}
