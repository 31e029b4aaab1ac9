//! Where output goes.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::place::{Place, chat, example};

fn unzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn a_name_that_ends_in_gz_is_compressed() {
    let place = Place::with("chat.json", chat());
    assert_eq!(place.run("compact chat.json -b 100k -o chat.json.gz").code, 0);
    assert_eq!(unzip(&place.read("chat.json.gz")), chat().as_bytes());
    let ran = place.run("compact chat.json.gz -b 100k");
    assert_eq!(ran.text(), chat(), "compressed input is written plain");
    assert_eq!(place.files(), ["chat.json", "chat.json.gz"], "nothing else is left behind");
}

#[test]
fn the_input_is_not_replaced_by_less() {
    let place = Place::with("chat.json", chat());
    let ran = place.run("compact chat.json -b 400 -o chat.json -q");
    insta::assert_snapshot!(ran.all(), @r#"
    exit 2
    ----- stderr
    error: chat.json is the input, and would lose what left
      help: name another file, or replace it with --force
    "#);
    assert_eq!(place.read("chat.json"), chat().as_bytes());
    let ran = place.run("compact chat.json -b 400 -o ./chat.json --force");
    assert_eq!(ran.code, 0);
    assert!(place.read("chat.json").len() < chat().len());
}

#[test]
fn an_agents_own_file_may_be_appended_to() {
    let original = example("session.jsonl");
    let place = Place::with("session.jsonl", &original);
    let ran = place.run("compact session.jsonl -b 20000 -o session.jsonl");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(place.read("session.jsonl").starts_with(&original));
    assert!(place.run("check session.jsonl --json").json()["current_tokens"].as_u64().unwrap() <= 20_000);
}

#[test]
fn reports_never_replace_the_input() {
    let place = Place::with("chat.json", chat());
    assert_eq!(place.run("compact chat.json -b 400 --report chat.json").code, 2);
    assert_eq!(place.read("chat.json"), chat().as_bytes());
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with("chat.json", chat());
    place.file("real.json", "old");
    std::fs::set_permissions(place.path("real.json"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(place.path("real.json"), place.path("link.json")).unwrap();
    assert_eq!(place.run("compact chat.json -b 100k -o link.json").code, 0);
    assert_eq!(place.read("real.json"), chat().as_bytes());
    assert!(place.path("link.json").is_symlink());
    assert_eq!(std::fs::metadata(place.path("real.json")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(place.run("compact chat.json -b 100k -o /dev/null").code, 0);
}

#[test]
fn the_input_s_format_is_written_where_it_can_be() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    place.file(
        "history.md",
        "# aider chat started at 2025-01-01 10:00:00\n\n#### Hello there\n\nHello, what can I do?\n",
    );
    let format = |line: &str| {
        let ran = place.run(line);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        place.run_with("inspect - --json", &ran.stdout).json()["format"].as_str().unwrap().to_owned()
    };
    assert_eq!(format("compact session.jsonl -b 20k"), "claude-code");
    assert_eq!(format("compact session.jsonl -b 20k --to anthropic"), "anthropic");
    assert_eq!(format("compact session.jsonl -b 90k --to openai-chat"), "openai-chat");
    assert_eq!(format("compact history.md -b 90k"), "aider", "a session that fits comes back as it came");
    assert_eq!(format("convert history.md --to openai-chat"), "openai-chat");
    assert_eq!(format("convert session.jsonl --to pi"), "pi");
    assert_eq!(format("convert session.jsonl --to openai-responses"), "openai-responses");
}

#[test]
fn init_writes_a_file_that_loads() {
    let place = Place::with("chat.json", chat());
    insta::assert_snapshot!(place.run("init").all(), @r#"
    exit 0
    ----- stderr
    every key with its default and what it does written to epitome.toml
    use it with --config epitome.toml
    "#);
    let with_file = place.run("check chat.json --json --config epitome.toml");
    assert_eq!(with_file.text(), place.run("check chat.json --json").text());
    insta::assert_snapshot!(place.run("init").all(), @r#"
    exit 2
    ----- stderr
    error: epitome.toml is there already
      help: name another file with -o, or replace it with --force
    "#);
    place.file("epitome.toml", "");
    assert_eq!(place.run("init --force -q").all(), "exit 0\n");
    assert_eq!(place.run("init -o -").stdout, place.read("epitome.toml"));
}
