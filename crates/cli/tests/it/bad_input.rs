//! What is wrong with the usage or the input: exit code 2, what, where, and what to do about it.

use std::fs;

use crate::place::{Place, chat};

/// What is said, after the exit code was checked and that nothing went to standard output.
fn refused(place: &Place, line: &str) -> String {
    let ran = place.run(line);
    assert_eq!((ran.code, ran.text()), (2, ""), "{line}: {}", ran.stderr);
    ran.stderr
}

#[test]
fn files_that_cannot_be_read() {
    let place = Place::with("empty", "");
    place.file("blank", "  \n\n");
    place.file("binary", [0u8, 159, 146, 150, 255, 0, 1, 2]);
    place.file("prose.txt", "Just a few words.\n");
    place.file("other.json", r#"{"name": "package", "version": "1.0"}"#);
    place.file("list.json", "[1, 2, 3]");
    place.file("cut.json", &chat()[..600]);
    place.file("cut.gz", [0x1f, 0x8b, 8, 0, 0, 0]);
    place.file("chat.json", chat());
    let check = |line: &str| refused(&place, line);
    insta::assert_snapshot!(check("compact missing.json -b 9k"), @r#"
    error: cannot read missing.json: No such file or directory (os error 2)
      help: check the path; `-` reads standard input
    "#);
    insta::assert_snapshot!(check("compact . -b 9k"), @r#"
    error: cannot read .: it is a folder
      help: name the file of one session
    "#);
    insta::assert_snapshot!(check("compact empty -b 9k"), @"error: cannot read empty: the input is empty: there is no session to read; check that whatever writes it has finished");
    insta::assert_snapshot!(check("inspect blank"), @"error: cannot read blank: the input is empty: there is no session to read; check that whatever writes it has finished");
    insta::assert_snapshot!(check("inspect binary"), @r#"
    error: cannot read binary: this is not a session in a known format (neither JSON nor UTF-8 text: byte 1 is invalid)
      help: where it is a session, `--from` names its format; `epitome convert --help` lists them
    "#);
    insta::assert_snapshot!(check("inspect prose.txt"), @r#"
    error: cannot read prose.txt: this is not a session in a known format (plain text that starts `Just a few words.`)
      help: where it is a session, `--from` names its format; `epitome convert --help` lists them
    "#);
    insta::assert_snapshot!(check("inspect other.json"), @r#"
    error: cannot read other.json: this is not a session in a known format (JSON: an object with the keys name, version)
      help: where it is a session, `--from` names its format; `epitome convert --help` lists them
    "#);
    insta::assert_snapshot!(check("inspect list.json"), @r#"
    error: cannot read list.json: this is not a session in a known format (a JSON list of 3, first a bare value)
      help: where it is a session, `--from` names its format; `epitome convert --help` lists them
    "#);
    insta::assert_snapshot!(check("inspect cut.json"), @"error: cannot read cut.json: damaged JSON at line 5, column 262: it ends too early, within a string; the file was cut off, get the whole of it");
    insta::assert_snapshot!(check("inspect cut.gz"), @"error: cannot read cut.gz: cannot decompress: the gzip data ends too early, after 0 bytes of content; get the whole file");
    insta::assert_snapshot!(check("inspect chat.json --from codex"), @"error: cannot read chat.json: not a valid codex session: no line is a `response_item` or the session's head");
    insta::assert_snapshot!(check("inspect -"), @"error: cannot read standard input: the input is empty: there is no session to read; check that whatever writes it has finished");
}

#[test]
fn damaged_lines() {
    let lines = [
        r#"{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"Hello"}}"#,
        r#"{"type":"user","uuid":"u2","sessi"#,
        r#"{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":"Again"}}"#,
    ];
    let place = Place::with("s.jsonl", lines.join("\n"));
    let ran = place.run("check s.jsonl --json");
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.stderr, @"warning: s.jsonl:2: passed over: not JSON: EOF while parsing a string at line 1 column 33");
    assert_eq!(place.run("check s.jsonl --json -q").stderr, "");
    insta::assert_snapshot!(refused(&place, "check s.jsonl --strict"), @"error: cannot read s.jsonl: line 2 is damaged: not JSON: EOF while parsing a string at line 1 column 33 (without `--strict` it would be passed over)");
}

#[test]
fn budgets() {
    let place = Place::with("chat.json", chat());
    let check = |budget: &str| {
        let said = refused(&place, &format!("compact chat.json --budget {budget}"));
        said.lines().next().unwrap().to_owned()
    };
    insta::assert_snapshot!(check("0"), @"error: invalid value '0' for '--budget <TOKENS>': takes 1 token or more");
    insta::assert_snapshot!(check("-5"), @"error: invalid value '-5' for '--budget <TOKENS>': takes 1 token or more");
    insta::assert_snapshot!(check("much"), @"error: invalid value 'much' for '--budget <TOKENS>': takes a whole number of tokens, such as 32000, 32,000 or 32k, or a share, such as 30% or 0.3");
    insta::assert_snapshot!(check("1.5"), @"error: invalid value '1.5' for '--budget <TOKENS>': takes a share above 0 and up to 100 %, such as 30% or 0.3");
    insta::assert_snapshot!(check("120%"), @"error: invalid value '120%' for '--budget <TOKENS>': takes a share above 0 and up to 100 %, such as 30% or 0.3");
    insta::assert_snapshot!(check("5000000000"), @"error: invalid value '5000000000' for '--budget <TOKENS>': is more than the 4294967295 tokens that can be counted");
    insta::assert_snapshot!(check("99999999999999999999999"), @"error: invalid value '99999999999999999999999' for '--budget <TOKENS>': is more than the 4294967295 tokens that can be counted");
    insta::assert_snapshot!(refused(&place, "compact chat.json"), @r#"
    error: the following required arguments were not provided:
      --budget <TOKENS>

    Usage: epitome compact --budget <TOKENS> <FILE>

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(check("12,00"), @"error: invalid value '12,00' for '--budget <TOKENS>': takes a whole number of tokens, such as 32000, 32,000 or 32k, or a share, such as 30% or 0.3");
    for typo in ["1,5", "10kk", "1__k", "1km", "_100", "1,0000"] {
        assert_eq!(place.run(&format!("compact chat.json -q -b {typo}")).code, 2, "{typo}");
    }
    for budget in ["32k", "32K", "32_000", "32,000", "32000", "1m"] {
        assert_eq!(place.run(&format!("compact chat.json -q -b {budget}")).code, 0, "{budget}");
    }
}

#[test]
fn wrong_values_are_told_as_what_they_are() {
    let place = Place::with("chat.json", chat());
    insta::assert_snapshot!(refused(&place, "check chat.json --model nosuch"), @r#"
    error: the window of the model `nosuch` is not known
      help: write it into the configuration: [models."nosuch"] with `window = …`; or set `[budget] window`
    "#);
    insta::assert_snapshot!(refused(&place, "eval chat.json --methods defualt"), @"error: there is no method `defualt`; did you mean `default`?");
    insta::assert_snapshot!(refused(&place, "tune chat.json --trials 0"), @r#"
    error: invalid value '0' for '--trials <N>': takes a whole number, 1 or more, such as 120

    For more information, try '--help'.
    "#);
}

#[test]
fn options_that_are_wrong_or_do_not_go_together() {
    let place = Place::with("chat.json", chat());
    let check = |options: &str| refused(&place, &format!("compact chat.json -b 9k {options}"));
    insta::assert_snapshot!(check("--agent codex"), @r#"
    error: --agent codex: there is no configuration that has the agent
      help: --agent takes the settings of [agents] in a configuration: --config FILE names that; whose session it is, is read from the session
    "#);
    insta::assert_snapshot!(check("--chain tool-result"), @"error: --chain: there is no strategy `tool-result`; did you mean `tool-results`?");
    insta::assert_snapshot!(check("--chain tool-results,nothing"), @"error: --chain: there is no strategy `nothing`; `epitome strategies` lists them");
    insta::assert_snapshot!(check("--chain tool-results --task code"), @r#"
    error: the argument '--chain <A,B,C>' cannot be used with '--task <KIND>'

    Usage: epitome compact --budget <TOKENS> --chain <A,B,C> <FILE>

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(check("--chain tool-results --mode adaptive"), @r#"
    error: --chain names the chain: no other --mode than fixed goes with it
      help: leave one of them out
    "#);
    insta::assert_snapshot!(check("--mode fixed"), @r#"
    error: --mode fixed needs a chain
      help: name one with --chain a,b,c, or with [select] chain in the configuration
    "#);
    insta::assert_snapshot!(check("--summarizer llm"), @r#"
    error: --summarizer llm needs a model, and there is no channel to one
      help: name it here: --model-url http://localhost:11434/v1 --model qwen3:8b
            or for good, in a file for --config:
            [channels.local]
            base_url = "http://localhost:11434/v1"
            models = ["qwen3:8b"]
    "#);
    insta::assert_snapshot!(check("--to aider"), @r#"
    error: invalid value 'aider' for '--to <FORMAT>'
      [possible values: openai-chat, openai-responses, anthropic, gemini, claude-code, codex, pi]

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(check("--task cooking"), @r#"
    error: invalid value 'cooking' for '--task <KIND>'
      [possible values: code, analysis, conversation, mixed, unknown]

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(check("--report -"), @r#"
    error: --report takes a file, standard output is for the session
      help: --preview --json prints the report and no session
    "#);
    insta::assert_snapshot!(check("--session 7"), @r#"
    error: chat.json holds no session `7`
      help: it holds 1 session:
              0  0  6 messages
    "#);
    assert!(check("--preview -o x").contains("cannot be used with"));
    assert!(check("--json").contains("--preview"));
    assert!(refused(&place, "evaluation chat.json").contains("unrecognized subcommand"));
}

#[test]
fn places_that_cannot_be_written_to() {
    let place = Place::with("chat.json", chat());
    let check = |options: &str| refused(&place, &format!("compact chat.json -q -b 9k {options}"));
    insta::assert_snapshot!(check("-o nowhere/out.json"), @r#"
    error: cannot write nowhere/out.json: no such folder
      help: create the folder, or name another file
    "#);
    insta::assert_snapshot!(check("-o ."), @r#"
    error: cannot write .: it is a folder
      help: name a file in it
    "#);
    insta::assert_snapshot!(check("-o chat.json/out.json"), @r#"
    error: cannot write chat.json/out.json: chat.json is not a folder
      help: create the folder, or name another file
    "#);
    insta::assert_snapshot!(check("--report nowhere/r.json"), @r#"
    error: cannot write nowhere/r.json: no such folder
      help: create the folder, or name another file
    "#);
    if cfg!(target_os = "linux") {
        assert!(check("-o /proc/epitome.json").contains("cannot write /proc/epitome.json"));
    }
    assert_eq!(place.files(), ["chat.json"]);
}

#[test]
fn configurations() {
    let place = Place::with("chat.json", chat());
    place.file("bad.toml", "[budget]\nwindwo = 1\nsoft = 1.5\n[chains]\ncode = [\"nothing\"]\n");
    place.file("binary.toml", [0xff, 0xfe]);
    insta::assert_snapshot!(refused(&place, "check chat.json --config bad.toml"), @"
    error: the configuration has 3 problems:
    bad.toml:2:1: `windwo` is not a key of [budget]; did you mean `window`?
    bad.toml:3:8: `soft` takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not 1.5
    bad.toml:5:9: there is no strategy `nothing`; `epitome strategies` lists them
    ");
    insta::assert_snapshot!(refused(&place, "check chat.json --config missing.toml"), @r#"
    error: cannot read missing.toml: No such file or directory (os error 2)
      help: check the path; `-` reads standard input
    "#);
    insta::assert_snapshot!(refused(&place, "check chat.json --config binary.toml"), @"error: cannot read binary.toml: byte 0 is not UTF-8");
    insta::assert_snapshot!(refused(&place, "check chat.json --window 50"), @"error: --window takes a value from 100 to 1000000000, not 50");
}

#[test]
fn every_command_that_reads_a_session_refuses_what_is_none() {
    let place = Place::with("empty", "");
    place.file("binary", [0u8, 159, 146, 150, 255, 0, 1, 2]);
    place.file("other.json", r#"{"name": "package", "version": "1.0"}"#);
    place.file("cut.json", &chat()[..600]);
    fs::create_dir(place.path("folder")).unwrap();
    for command in ["brief", "context", "watch --once", "history", "restore", "check", "inspect"] {
        for file in ["missing.json", "empty", "binary", "other.json", "cut.json", "folder"] {
            let said = refused(&place, &format!("{command} {file}"));
            assert!(said.starts_with("error: ") && said.contains(file), "{command} {file}: {said}");
        }
    }
}

#[test]
fn what_is_called_by_agents_refuses_what_is_no_call() {
    let place = Place::new();
    let check = |line: &str, input: &[u8], code: i32, expect: &str| {
        let ran = place.run_with(line, input);
        assert_eq!((ran.code, ran.text()), (code, ""), "{line}: {}", ran.stderr);
        // A hook says first that it is at work.
        let told = ran.stderr.strip_prefix("epitome is at work\n").unwrap_or(&ran.stderr);
        assert!(told.starts_with("error: ") && told.contains(expect), "{line}: {}", ran.stderr);
    };
    let binary = [0u8, 159, 146, 150, 255];
    for event in ["pre-compact", "session-start", "compact"] {
        let line = format!("hook claude-code {event}");
        check(&line, b"", 1, "is not understood");
        check(&line, b"[1]", 1, "is not understood");
        check(&line, &binary, 1, "cannot read what the agent said on standard input");
    }
    check("statusline", b"", 2, "is not understood");
    check("statusline", &binary, 2, "cannot read what the agent said on standard input");
    check("statusline", br#"{"transcript_path": "."}"#, 2, "it is a folder");
}

/// A pipe that nobody writes to, or reads, would be waited for without an end.
#[cfg(unix)]
#[test]
fn pipes_in_place_of_files() {
    let place = Place::with("session.json", r#"{"messages":[{"role":"user","content":"Never touch HLV-2209."}]}"#);
    assert!(std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    for command in [
        "check pipe",
        "inspect pipe",
        "context pipe",
        "history pipe",
        "search pipe HLV",
        "watch --once pipe",
        "brief pipe",
        "convert pipe --to anthropic",
        "mcp pipe",
        "check session.json --config pipe",
        "convert session.json --to anthropic -o pipe",
        "compact pipe -b 500 -o pipe",
        "serve --token-file pipe --listen 127.0.0.1:0",
    ] {
        let ran = place.run(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("no file"), "{command}: {}", ran.stderr);
    }
    let ran = place.run("search . HLV");
    assert!(ran.code == 0 && ran.stderr.contains("1 file passed over"), "{}", ran.stderr);
}
