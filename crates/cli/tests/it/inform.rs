//! What informs: check, inspect, strategies, completions, help.

use crate::place::{Place, chat, example};

#[test]
fn check_tells_the_urgency() {
    let place = Place::with("chat.json", chat());
    insta::assert_snapshot!(place.run("check chat.json").all(), @r#"
    exit 0
    ----- stdout
    no need to compact
      ▍·······································  0.7 %
      tokens     1,207  by o200k_base ×1.1
      usable     184,000  window 200,000 assumed, m is not a known model: --window sets it; 16,000 kept free for the answer
      threshold  92,000
      trigger    nothing
    "#);
    insta::assert_snapshot!(place.run("check chat.json --window 2800 --json").all(), @r#"
    exit 0
    ----- stdout
    {
      "session": "0",
      "should_compact": true,
      "current_tokens": 1207,
      "threshold_tokens": 1050,
      "usable_tokens": 2100,
      "share": 0.5747619047619048,
      "urgency": "soft",
      "trigger": "soft",
      "waits": false,
      "window_tokens": 2800,
      "reserve_output_tokens": 700,
      "tool_definition_tokens": 0,
      "counter": "o200k_base ×1.1",
      "exact": false,
      "counted_tokens": 1207,
      "usage": null,
      "window": {
        "by": "window"
      }
    }
    "#);
    let urgency =
        |window: u32| place.run(&format!("check chat.json --json --window {window}")).json()["urgency"].clone();
    let tokens = 1_207;
    assert_eq!(place.run("check chat.json --json").json()["current_tokens"], tokens);
    // Of a window this small a quarter is kept for the answer.
    assert_eq!([urgency(4_000), urgency(1_800), urgency(1_600)], ["none", "soft", "hard"]);
}

/// The same window in every command; exact are figures of a vocabulary for the models that have it.
#[test]
fn check_takes_the_window_that_context_takes() {
    let check = |file: &str, options: &str, window: u64, by: &str, exact: bool| {
        let place = Place::with("chat.json", chat().replace("\"model\": \"m\"", file));
        place.file("c.toml", "[budget]\nmodel = \"claude-sonnet-4-5\"\n");
        let checked = place.run(&format!("check chat.json --json {options}")).json();
        let mut context = place.run(&format!("context chat.json --json {options}")).json();
        let fullness = context["fullness"].take();
        assert_eq!(
            (&checked["window_tokens"], &checked["window"]["by"]),
            (&window.into(), &by.into()),
            "{file} {options}"
        );
        assert_eq!(checked["exact"], exact, "{file} {options}");
        assert_eq!(checked["window"], context["window"], "{file} {options}");
        for (key, value) in fullness.as_object().unwrap() {
            assert_eq!(checked[key], *value, "{file} {options}: {key}");
        }
    };
    let claude = "\"model\": \"claude-sonnet-5-5\"";
    check(claude, "", 1_000_000, "model", false);
    check(claude, "--window 60k", 60_000, "window", false);
    check(claude, "--model gpt-4o", 128_000, "model", true);
    check(claude, "--config c.toml", 200_000, "configuration", false);
    check("\"model\": \"gpt-4o\"", "", 128_000, "model", true);
    check("\"model\": \"gpt-4o\"", "--config c.toml", 200_000, "configuration", false);
    check("\"model\": \"gpt-4o\"", "--model gemini-2.5-pro", 1_048_576, "model", false);
    check("\"temperature\": 1", "", 200_000, "default", true);
}

#[test]
fn inspect_shows_what_a_session_is_made_of() {
    let place = Place::with("chat.json", chat());
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"(confidence) [\d.]+\n(    .*\n)+", "$1 and evidence, the detector's\n");
    let _filters = settings.bind_to_scope();
    insta::assert_snapshot!(place.run("inspect chat.json").all(), @r#"
    exit 0
    ----- stdout
    chat.json  openai-chat, 4.1 kB
      1,207 tokens in 6 messages, 2 rounds by o200k_base ×1.1

    Task
      unknown, confidence and evidence, the detector's
      next chain  transcript → tool-results → message-truncation → sliding-window (for unknown)

    Tokens by role
      system         9  0.7 %   1 message  ▎·······················
      user          29    2 %  2 messages  ▋·······················
      assistant     30    2 %  2 messages  ▋·······················
      tool       1,139   94 %   1 message  ██████████████████████▊·

    Tokens by tool
      tool  calls  in calls  in results  share
      bash      1        18       1,139   96 %

    Largest units
      message  tokens  share  round  unit        first words
           #2   1,157   96 %      1  step: bash  bash {"command": "make release"}
           #1      18    1 %      1  user        Build release 4.2 and tell me what failed.
           #4      12  1.0 %      1  step        Unit 61 did not link.
           #5      11  0.9 %      2  user        Then fix unit 61.
           #0       9  0.7 %      0  system      You build releases.

    Timeline
      round  tokens  messages  tools  user
          0       9         1         You build releases.
          1   1,187         4  bash   Build release 4.2 and tell me what failed.
          2      11         1         Then fix unit 61.
    "#);
    let inspected = place.run("inspect chat.json --json").json();
    assert_eq!(inspected["format"], "openai-chat");
    assert_eq!(inspected["session"]["tools"][0]["calls"], 1);
    assert_eq!(inspected["session"]["timeline"][2]["words"], "Then fix unit 61.");
}

#[test]
fn inspect_shows_the_example() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let ran = place.run("inspect session.jsonl");
    assert_eq!(ran.code, 0);
    for heading in ["Task", "Tokens by role", "Tokens by tool", "Largest units", "Timeline"] {
        assert!(ran.text().lines().any(|line| line == heading), "{heading} is missing:\n{}", ran.text());
    }
    let session = &place.run("inspect session.jsonl --json").json()["session"];
    let sum = |list: &str, key: &str| -> u64 {
        session[list].as_array().unwrap().iter().map(|entry| entry[key].as_u64().unwrap()).sum()
    };
    let tokens = session["tokens"].as_u64().unwrap();
    assert_eq!((sum("roles", "tokens"), sum("timeline", "tokens")), (tokens, tokens), "parts add up to the whole");
    assert_eq!(sum("roles", "messages"), session["messages"].as_u64().unwrap());
    // Compactions that a recording holds are shown.
    assert_eq!(place.run("compact session.jsonl -b 20k -o small.jsonl").code, 0);
    let small = &place.run("inspect small.jsonl --json").json()["session"];
    assert_eq!(small["compactions"][0]["epoch"], 0);
    assert!(place.run("inspect small.jsonl").text().contains("\n  1 compaction; `epitome history` lists them\n"));
}

/// The calls of a compacted session are behind summaries, or in their text.
#[test]
fn a_compacted_session_is_of_the_same_kind() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let kind = |file: &str| place.run(&format!("inspect {file} --json")).json()["session"]["task"]["kind"].clone();
    assert_eq!(kind("session.jsonl"), "code");
    for output in ["converted.json --to openai-chat", "anthropic.json --to anthropic", "appended.jsonl"] {
        let ran = place.run(&format!("compact session.jsonl --budget 12000 -q -o {output}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let file = output.split(' ').next().unwrap_or(output);
        assert_eq!(kind(file), "code", "{output}");
        // A second compaction chooses the chain of the same kind.
        let again = place.run(&format!("compact {file} --budget 8000 --json -o again-{file}"));
        assert_eq!(again.json()["task"]["kind"], "code", "{output}: {}", again.stderr);
    }
}

/// A second compaction tells what was typed from the summaries of the first, whatever form it stood in.
#[test]
fn a_second_compaction_keeps_what_was_typed() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    for form in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
        let first = place.run(&format!("compact session.jsonl --budget 20000 -q --to {form} -o once.json"));
        assert_eq!(first.code, 0, "{}", first.stderr);
        let report = place.run(&format!("compact once.json --budget 8000 --json --to {form} -o twice.json")).json();
        let typed = &report["quality"]["typed"];
        assert_eq!((&typed["held"], &typed["kept"]), (&7.into(), &7.into()), "{form}: {report}");
    }
}

#[test]
fn strategies_are_listed_and_explained() {
    let place = Place::new();
    let list = place.run("strategies --json").json();
    let ids: Vec<&str> = list.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    let text = place.run("strategies");
    assert!(ids.len() >= 5 && ids.iter().all(|id| text.text().contains(id)), "{}", text.text());
    for id in ids {
        let page = place.run(&format!("strategies {id}"));
        assert_eq!(page.code, 0);
        let one = place.run(&format!("strategies {id} --json")).json();
        for setting in one["settings"].as_array().unwrap() {
            let name = setting["name"].as_str().unwrap();
            assert!(page.text().contains(&format!("  {name} = ")), "{id} {name}\n{}", page.text());
        }
    }
    let unknown = place.run("strategies toolresults");
    assert_eq!(unknown.code, 2);
    assert_eq!(unknown.stderr, "error: there is no strategy `toolresults`; did you mean `tool-results`?\n");
    // Each stands in a group, those of the configuration in one of their own, and what does not fit is wrapped.
    assert!(text.text().contains("[needs vectors]"), "{}", text.text());
    place.file("c.toml", "[strategies.mine]\ncommand = [\"true\"]\nsummary = \"Does nothing.\"\n");
    let own = place.run("strategies --config c.toml");
    let (_, group) = own.text().split_once("\nPrograms of the configuration\n").unwrap();
    assert!(group.starts_with("  mine  ") && !text.text().contains("Programs"), "{}", own.text());
    let widest = own.text().lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100 && !own.text().contains('…'), "{}", own.text());
}

#[test]
fn completions_are_written() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Place::new().run(&format!("completions {shell}"));
        assert!(ran.code == 0 && ran.text().contains("compact"), "{shell}");
    }
}

#[test]
fn help_names_every_subcommand() {
    insta::assert_snapshot!(Place::new().run("-h").all(), @r#"
    exit 0
    ----- stdout
    Fits an agent's session into a token budget

    Usage: epitome [OPTIONS] <COMMAND>

    Use:
      compact     Fit a session into a budget
      convert     Write a session in another format
      move        Go on with a session in another agent
      setup       Make an agent work with this program, or take that back
      init        Write a commented configuration file

    Look:
      context     Show what fills a session's context, what would leave it next, and what has left
      check       Compare a session with the thresholds: should it be compacted?
      search      Search the text of a session or a folder, in the context and removed from it
      strategies  List the strategies, or show the page of one

    Undo:
      history     List the compactions of a session, with what each did and what left
      restore     Undo one compaction of a session, or print the text removed under a handle

    Measure:
      eval        Compare methods of compaction on recorded sessions
      replay      Replay recorded sessions turn by turn, and report their cost

    Serve:
      serve       Run the service: compactions over HTTP, and a proxy in front of a provider

    For programs:
      mcp         Give a session's model tools to search its own past (Model Context Protocol)

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version
      -q, --quiet    Print no report and no warnings, only the result

    Examples:
      epitome compact session.jsonl --budget 32k --to openai-chat -o smaller.json
      epitome context                    # what fills the newest session of any agent on this machine
      epitome search session.jsonl which port

    `epitome help COMMAND` explains every option of a command.
    "#);
}

#[test]
fn an_empty_list_of_tools_costs_nothing() {
    let tokens = |tools: &str| {
        let place = Place::with("chat.json", chat().replacen('{', &format!("{{{tools}"), 1));
        let window = |command: &str| place.run(&format!("{command} chat.json --json")).json();
        let (inspected, checked) = (window("inspect"), window("check"));
        assert_eq!(inspected["session"]["tool_definition_tokens"], checked["tool_definition_tokens"]);
        checked["tool_definition_tokens"].as_u64().unwrap()
    };
    for empty in ["", r#""tools": [],"#, r#""tools": [ ],"#, r#""tools": null,"#, r#""functions": [],"#] {
        assert_eq!(tokens(empty), 0, "{empty}");
    }
    assert!(tokens(r#""tools": [{"type": "function", "function": {"name": "f"}}],"#) > 5);
}

#[test]
fn the_heading_of_models_is_over_what_is_about_models() {
    let ran = Place::new().run("compact --help");
    let (others, models) = ran.text().split_once("Summaries by a model").unwrap();
    for option in ["--preview", "--output", "--force", "--report", "--json"] {
        assert!(others.contains(&format!(" {option}")) && !models.contains(&format!("  {option} ")), "{option}");
    }
    assert!(models.contains("--model-url") && !others.contains("--model-url"));
}
