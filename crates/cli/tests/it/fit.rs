//! `epitome fit --stdio`: a program in another language asks line by line.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::place::{Place, Ran, example};

/// What is answered to lines, a value for each.
fn answers(lines: &str, options: &str) -> Vec<Value> {
    let ran = Place::new().run_with(&format!("fit --stdio {options}"), lines.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A session that grows: what it holds after so many steps, each with 60 lines of output.
fn session(steps: usize) -> Vec<Value> {
    let mut messages =
        vec![json!({"role": "user", "content": "Look at every part, and never touch partner HLV-2209."})];
    for step in 0..steps {
        let lines = (0..60).fold(String::new(), |mut lines, line| {
            let _ = writeln!(lines, "src/part_{step}/file_{line}.rs: checked, {} warnings", line * 7);
            lines
        });
        let call =
            json!({"id": format!("c{step}"), "type": "function", "function": {"name": "look", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{step}"), "content": lines}));
    }
    messages
}

fn question(id: usize, session_name: &str, messages: &[Value]) -> String {
    let fitter = json!({"format": "openai-chat", "budget": 4_000});
    json!({"id": id, "key": session_name, "fitter": fitter, "messages": messages}).to_string() + "\n"
}

/// What is sent in place of a list.
fn sent(came: &[Value], result: &Value) -> Vec<Value> {
    let mut sent = Vec::new();
    for piece in result["pieces"].as_array().unwrap() {
        let number = |place: usize| piece["keep"][place].as_u64().unwrap() as usize;
        match (piece.get("keep"), piece.get("edit").or(piece.get("insert"))) {
            (Some(_), _) => sent.extend_from_slice(&came[number(0)..number(1)]),
            (None, Some(other)) => sent.push(other["message"].clone()),
            (None, None) => unreachable!("{piece}"),
        }
    }
    sent
}

#[test]
fn a_session_that_grows() {
    let lists: Vec<Vec<Value>> = (0..8).map(session).collect();
    let lines: String = lists.iter().enumerate().map(|(id, list)| question(id, "one", list)).collect();
    let answers = answers(&lines, "");
    let mut last: Vec<Value> = Vec::new();
    let mut compactions = 0;
    for (id, (list, answer)) in lists.iter().zip(&answers).enumerate() {
        let result = &answer["result"];
        assert_eq!(answer["id"], id, "{answer}");
        assert!(result["tokensAfter"].as_u64().unwrap() <= 4_000, "{result}");
        let now = sent(list, result);
        assert_eq!(now[0], list[0], "the task stays");
        match result["status"].as_str().unwrap() {
            "compacted" => compactions += 1,
            _ => assert!(now.starts_with(&last), "the cache is lost at {id}"),
        }
        last = now;
    }
    assert!(compactions > 0 && compactions < 4, "{compactions}");
}

#[test]
fn several_sessions_and_what_left_them() {
    let list = session(7);
    let mut other = list.clone();
    other[0]["content"] = "Look at every part.".into();
    let lines = question(1, "one", &list) + &question(2, "two", &other) + &question(3, "one", &list);
    let first = answers(&lines, "");
    assert_eq!(first[0]["result"]["status"], "compacted");
    assert_eq!(first[1]["result"]["status"], "compacted");
    assert_eq!(first[2]["result"]["status"], "replayed");
    assert_eq!(first[0]["result"]["pieces"], first[2]["result"]["pieces"]);
    assert!(first[0].get("report").is_none(), "it was not asked for");
    let asked = |tool: &str, arguments: Value| {
        json!({"call": "look-up", "tool": tool, "arguments": arguments, "messages": list}).to_string() + "\n"
    };
    let with_report = |question: &str| question.replacen('{', "{\"report\":true,", 1);
    let handle = &answers(&with_report(&question(1, "one", &list)), "")[0]["report"]["removals"][0]["handle"];
    let handle = handle.as_str().unwrap();
    let lines = question(1, "one", &list)
        + &format!("{{\"call\":\"fitter-retrieve\",\"of\":\"{handle}\",\"id\":\"h\"}}\n")
        + &asked("search_history", json!({"queries": ["src/part_1/file_57.rs"]}))
        + &asked("recall", json!({"handle": "#0"}))
        + &asked("recall", json!({}))
        + &asked("recall", json!({"handle": handle}))
        + "\n{\"call\":\"tools\"}\n"
        + &json!({"call": "brief", "messages": list, "tokens": 1200}).to_string();
    let answers = answers(&lines, "");
    let given = answers[1]["result"].as_array().unwrap();
    assert!(list.contains(&given[0]) && answers[1]["id"] == "h", "{}", answers[1]);
    assert!(answers[2]["result"]["text"].as_str().unwrap().contains("src/part_1/file_57.rs: checked, 399 warnings"));
    assert!(answers[3]["result"]["text"].as_str().unwrap().contains("never touch partner HLV-2209"));
    assert!(answers[4]["result"]["is_error"] == true, "{}", answers[4]);
    assert!(answers[5]["result"]["is_error"] == false, "{}", answers[5]);
    let names: Vec<&str> =
        answers[6]["result"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["search_history", "recall", "context_status"]);
    let brief = answers[7]["result"]["text"].as_str().unwrap();
    assert!(brief.contains("\n« Look at every part") && brief.contains("[Summary of"), "{brief}");
}

#[test]
fn the_longest_line() {
    const LONGEST: usize = 64 * 1024 * 1024;
    let check = |length: usize, expect: &str| {
        let lines = format!("{}\n{{\"id\":7,\"call\":\"tools\"}}\n", "x".repeat(length));
        let answers = answers(&lines, "");
        assert_eq!(answers.len(), 2, "{length}");
        assert_eq!((&answers[0]["error"]["kind"], &answers[1]["id"]), (&"format".into(), &7.into()), "{length}");
        assert!(answers[0]["error"]["message"].as_str().unwrap().contains(expect), "{}", answers[0]);
    };
    check(LONGEST, "the line is not a JSON object");
    check(LONGEST + 1, "the line is longer than 67108864 bytes");
}

#[test]
fn lists_of_every_form_are_looked_up() {
    let check = |form: &str, list: Value| {
        let arguments = json!({"handle": "#0"});
        let asked =
            json!({"call": "look-up", "tool": "recall", "arguments": arguments, "format": form, "messages": list});
        let told = json!({"call": "brief", "format": form, "messages": list});
        for answer in answers(&format!("{asked}\n{told}\n"), "") {
            let text = answer["result"]["text"].as_str().unwrap_or_default();
            assert!(text.contains("Never touch partner HLV-2209."), "{form}: {answer}");
        }
    };
    let words = "Never touch partner HLV-2209.";
    check("openai-chat", json!([{"role": "user", "content": words}]));
    check("openai-responses", json!([{"role": "user", "content": words}]));
    check("anthropic", json!([{"role": "user", "content": words}]));
    check("gemini", json!([{"role": "user", "parts": [{"text": words}]}]));
}

#[test]
fn a_window_leaves_room_for_what_is_beside_the_list() {
    let list = session(7);
    let asked = |more: Value| {
        let mut question = json!({"format": "openai-chat", "messages": list});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        answers(&question.to_string(), "").remove(0)
    };
    let status = |more: Value| asked(more)["result"]["status"].clone();
    let of_window = |window: u32, reserve: u32| json!({"window": window, "reserveOutput": reserve});
    assert_eq!(status(json!({"engine": of_window(200_000, 8_000)})), "unchanged");
    assert_eq!(status(json!({"engine": {"model": "gpt-5"}})), "unchanged");
    assert_eq!(status(json!({"engine": of_window(20_000, 8_000), "system": 9_000})), "compacted");
    assert_eq!(status(json!({"engine": {"config": "[budget]\nwindow = 8000\nreserve_output = 1000"}})), "compacted");
    let whole = asked(json!({"engine": of_window(7_500, 1_000), "system": "Be brief.", "tools": [], "report": true}));
    assert_eq!(whole["report"]["report"]["status"], "compacted", "{whole}");
    // No tools are sent in either case.
    let budget_of = |more: Value| asked(more)["result"]["budget"].as_u64().unwrap();
    let none = budget_of(json!({"engine": {"window": 200_000}}));
    let budget = |tools: Value| budget_of(json!({"engine": {"window": 200_000}, "tools": tools}));
    assert_eq!((budget(json!([])), budget(Value::Null)), (none, none));
    assert!(budget(json!([{"type": "function", "function": {"name": "f"}}])) < none);
    let after = asked(json!({"fitter": {"budget": 100_000}, "overflow": {"limit": 6_000}}))["result"].clone();
    assert!(after["tokensAfter"].as_u64().unwrap() <= 6_000, "{after}");
    // A budget, and a model's window, may stand beside the list.
    assert_eq!(budget_of(json!({"budget": 4_000})), budget_of(json!({"fitter": {"budget": 4_000}})));
    assert_eq!(budget_of(json!({"window": 20_000})), budget_of(json!({"engine": {"window": 20_000}})));
    let twice = asked(json!({"budget": 4_000, "fitter": {"budget": 5_000}}))["error"]["message"].clone();
    assert!(twice.as_str().unwrap().contains("`budget` stands in the line and in `fitter`"), "{twice}");
}

#[test]
fn calls_that_fail() {
    let check = |line: &str, kind: &str, expect: &str| {
        // The next call is answered all the same.
        let answers = answers(&format!("{line}\n{{\"id\":7,\"call\":\"tools\"}}"), "");
        assert_eq!(answers.len(), 2, "{line}");
        let error = &answers[0]["error"];
        assert_eq!(error["kind"], kind, "{line}: {}", answers[0]);
        assert!(error["message"].as_str().unwrap().contains(expect), "{line}: {error}");
        assert_eq!(answers[1]["id"], 7);
    };
    let format = |line: &str, expect: &str| check(line, "format", expect);
    let config = |line: &str, expect: &str| check(line, "config", expect);
    format("no JSON", "the line is not a JSON object");
    format("[1]", "the line is not a JSON object");
    format("{\"id\": 1} 2", "the line is not a JSON object");
    config("{\"messagse\": [], \"format\": \"gemini\"}", "there is no option `messagse`");
    config("{\"format\": \"gemini\", \"keyy\": \"one\", \"messages\": []}", "did you mean `key`?");
    config("{\"alive\": 1, \"messages\": []}", "`alive` takes true or false, not 1");
    check("{\"call\": \"fly\"}", "other", "there is no call `fly`");
    config("{\"call\": \"tools\", \"tool\": \"recall\"}", "there is no option `tool`");
    config("{\"messages\": []}", "`format` is missing");
    format("{\"format\": \"gemini\"}", "messages: not a JSON list");
    config("{\"format\": 5, \"messages\": []}", "`format` takes a text, not 5");
    format("{\"format\": \"latin\", \"messages\": []}", "latin");
    format("{\"format\": \"pi\", \"messages\": []}", "is not a provider's format");
    format(
        "{\"format\": \"openai-chat\", \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}, 7]}",
        "messages[1]",
    );
    config("{\"messages\": [], \"content\": \"\"}", "exclude each other");
    config(
        "{\"messages\": [], \"fitter\": {\"format\": \"gemini\", \"budget\": 0}}",
        "`budget` takes a number of tokens (a whole number, 1 or more)",
    );
    config("{\"messages\": [], \"fitter\": {\"format\": \"gemini\", \"window\": 9}}", "there is no option `window`");
    config("{\"messages\": [], \"fitter\": 9}", "`fitter` takes an object");
    config("{\"format\": \"gemini\", \"messages\": [], \"engine\": {\"windwo\": 9}}", "did you mean `window`?");
    config(
        "{\"format\": \"gemini\", \"messages\": [], \"engine\": {\"window\": 900, \"reserveOutput\": 900}}",
        "reserve_output",
    );
    config("{\"format\": \"gemini\", \"messages\": [], \"engine\": {\"model\": \"nobody's\"}}", "nobody's");
    check("{\"call\": \"fitter-retrieve\", \"of\": \"0a1b2c3d\"}", "other", "nothing was fitted yet");
    let fitted = answers(
        "{\"format\": \"gemini\", \"messages\": []}\n{\"call\": \"fitter-retrieve\", \"of\": \"0a1b2c3d\"}",
        "",
    );
    assert_eq!(fitted[1], json!({"id": null, "result": null}));
    format("{\"call\": \"brief\", \"file\": \"none.jsonl\"}", "cannot read none.jsonl");
    config("{\"call\": \"brief\", \"file\": \"-\"}", "`file`: `-` is not a file");
    config("{\"call\": \"brief\", \"file\": \"/dev/stdin\"}", "`/dev/stdin` is not a file");
    format("{\"call\": \"brief\", \"content\": \"no session\"}", "");
    config("{\"call\": \"brief\", \"file\": \"a\", \"content\": \"b\"}", "exclude each other");
    let typed = json!([{"role": "user", "content": "Never go over the budget of the partner."}]);
    let brief = |more: Value| {
        let mut line = json!({"call": "brief", "messages": typed});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string()
    };
    check(&brief(json!({"tokens": 1})), "infeasible", "what must stay");
    config(&brief(json!({"tokens": 0})), "`tokens` takes a number of tokens");
    config(&brief(json!({"tokens": 9, "context": 9})), "exclude each other");
    let invalid = b"{\"id\": \"\xff\"}\n{\"call\": \"tools\"}\n";
    let ran = Place::new().run_with("fit --stdio", invalid);
    assert!(ran.code == 0 && ran.text().lines().count() == 2, "{}", ran.text());
    let ran = Place::new().run("fit");
    assert!(ran.code == 2 && ran.stderr.contains("--stdio"), "{}", ran.stderr);
}

#[test]
fn the_example_of_the_help_is_answered() {
    let place = Place::new();
    // A question that the page breaks is not one any more.
    let help = Ran::read(place.command("fit --help").env("COLUMNS", "80").output().unwrap());
    let line = help.text().lines().find_map(|line| line.strip_prefix("  echo '")).unwrap();
    let question = line.strip_suffix("' |").unwrap();
    assert!(help.text().contains("' |\n    epitome fit --stdio"), "{}", help.text());
    let ran = place.run_with("fit --stdio", question.as_bytes());
    assert_eq!((ran.code, &ran.json()["result"]["status"]), (0, &"unchanged".into()), "{}", ran.text());
}

#[test]
fn a_brief_of_a_file() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let check = |options: &str, characters: std::ops::Range<usize>| {
        let ran = place.run(&format!("brief session.jsonl {options}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let length = ran.text().chars().count();
        assert!(characters.contains(&length), "{options}: {length}");
        assert!(ran.text().contains("Stop there, please. Don't change the values in `fingerprint`."), "{options}");
    };
    check("--tokens 6k", 8_000..28_000);
    check("--tokens 3k", 4_000..14_000);
    check("", 12_000..36_000);
    // What must stay fits, and the line of what is missing does not: it is told beside the text alone.
    for tokens in [60, 80] {
        let ran = place.run(&format!("brief session.jsonl --tokens {tokens}"));
        assert_eq!(ran.code, 0, "{tokens}: {}", ran.stderr);
        assert!(
            !ran.text().trim().is_empty() && !ran.text().contains("[For want of room, "),
            "{tokens}: {}",
            ran.text()
        );
        assert!(ran.stderr.contains("7 typed messages are not in the text: #0, #50"), "{tokens}: {}", ran.stderr);
    }
    let ran = place.run("brief session.jsonl --tokens 10");
    assert!(ran.code == 3 && ran.stderr.contains("must stay"), "{}", ran.stderr);
}

#[test]
fn a_brief_says_what_of_typed_messages_it_has_not() {
    let typed = |number: usize| -> String {
        let lines =
            (0..20).map(|line| format!(" Line {line} of request {number}: colour {} stays.", line * 31 + number));
        format!("Request {number} begins.{} Request {number} ends.", lines.collect::<String>())
    };
    let messages: Vec<Value> = (0..12)
        .flat_map(|number| {
            let answer = format!("Done with {number}. ").repeat(30);
            [json!({"role": "user", "content": typed(number)}), json!({"role": "assistant", "content": answer})]
        })
        .collect();
    let place = Place::with("chat.json", json!({"messages": messages}).to_string());
    // How many of the typed messages are whole, have their two ends, and are not there.
    let check = |tokens: u32, expect: (usize, usize, usize), warning: &str| {
        let ran = place.run(&format!("brief chat.json --tokens {tokens}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let text = ran.text();
        let is_whole = |number: &usize| text.contains(&typed(*number));
        let has_ends = |number: &usize| {
            text.contains(&format!("Request {number} begins.")) && text.contains(&format!("Request {number} ends."))
        };
        let (whole, others): (Vec<usize>, Vec<usize>) = (0..12).partition(is_whole);
        let (ends, gone): (Vec<usize>, Vec<usize>) = others.into_iter().partition(has_ends);
        assert_eq!((whole.len(), ends.len(), gone.len()), expect, "{tokens}: {text}");
        assert!(ran.stderr.contains(warning) && ran.stderr.is_empty() == warning.is_empty(), "{}", ran.stderr);
        assert!(text.matches("characters left out …]").count() >= ends.len(), "{text}");
        assert_eq!(text.contains("[For want of room, "), !gone.is_empty(), "{text}");
        let quiet = place.run(&format!("brief chat.json --tokens {tokens} -q"));
        assert_eq!((quiet.text(), quiet.stderr.as_str()), (text, ""));
    };
    check(8_000, (12, 0, 0), "");
    check(2_000, (0, 12, 0), "12 typed messages are not whole in the text: #0, #2, #4");
    check(400, (1, 0, 11), "11 typed messages are not in the text: #0, #2");
}

#[test]
fn a_configuration_counts() {
    let settings = "[budget]\nwindow = 8000\nreserve_output = 1000\n[agents.large]\nwindow = 90_000\n\
                    [chains]\nmine = [\"sliding-window\"]\n[select]\nmode = \"fixed\"\nchain = \"mine\"\n";
    let place = Place::with("c.toml", settings);
    place.file("session.jsonl", example("session.jsonl"));
    let line = json!({"format": "openai-chat", "messages": session(7)}).to_string();
    let status = |options: &str| {
        let ran = place.run_with(&format!("fit --stdio {options}"), line.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.json()["result"]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(""), "unchanged");
    assert_eq!(status("--config c.toml"), "compacted");
    assert_eq!(status("--config c.toml --agent large"), "unchanged");
    let brief = |options: &str| place.run(&format!("brief session.jsonl --tokens 6k {options}")).stdout;
    assert_ne!(brief(""), brief("--config c.toml"));
}

#[test]
fn a_question_that_is_worked_on_says_so_first() {
    let asked = |more: &str| {
        let line = format!("{{\"id\": 7, \"call\": \"tools\"{more}}}\n{{\"id\": 8, \"call\": \"tools\"}}\n");
        let told = answers(&line, "");
        told.iter().map(|answer| (answer["id"].clone(), answer["alive"].clone())).collect::<Vec<_>>()
    };
    let answer = |id: i32| (json!(id), Value::Null);
    assert_eq!(asked(", \"alive\": true"), [(json!(7), json!(true)), answer(7), answer(8)]);
    assert_eq!(asked(", \"alive\": false"), [answer(7), answer(8)]);
    assert_eq!(asked(""), [answer(7), answer(8)]);
}

/// A place whose person has settings.
fn of_person(settings: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path("config/epitome")).unwrap();
    place.file("config/epitome/epitome.toml", settings);
    place
}

/// What `fit --stdio --plugin` answers to one line in a process of its own.
fn answer_of_plugin(place: &Place, line: &str) -> Value {
    let ran = place.run_with("fit --stdio --plugin", line.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    serde_json::from_str(ran.text()).unwrap()
}

#[test]
fn what_was_decided_for_a_plugin_outlives_the_process() {
    let place = of_person("");
    let asked =
        |name: &str, steps: usize| answer_of_plugin(&place, &question(1, name, &session(steps)))["result"].clone();
    let first = asked("../one", 7);
    assert_eq!(first["status"], "compacted");
    let again = asked("../one", 7);
    assert_eq!((&again["status"], &again["pieces"]), (&json!("replayed"), &first["pieces"]));
    let longer = session(8);
    let sent_longer = sent(&longer, &asked("../one", 8));
    assert!(sent_longer.starts_with(&sent(&session(7), &first)), "the cache has the beginning");
    assert_eq!(asked("two", 7)["status"], "compacted", "another session");
    assert_eq!(place.files(), ["config", "data"]);
    let kept: Vec<_> = std::fs::read_dir(place.path("data/epitome/fit")).unwrap().collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    // What is damaged is told, and does not count.
    let damaged = kept[0].as_ref().unwrap().path();
    std::fs::write(&damaged, b"no state").unwrap();
    let lines = question(1, "../one", &session(7)) + &question(2, "two", &session(7));
    let ran = place.run_with("fit --stdio --plugin", lines.as_bytes());
    assert!(ran.code == 0 && ran.stderr.contains("what was decided before is not used: "), "{}", ran.stderr);
    let statuses: Vec<Value> = ran
        .text()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["result"]["status"].clone())
        .collect();
    assert!(statuses.contains(&json!("compacted")) && statuses.contains(&json!("replayed")), "{statuses:?}");
}

#[test]
fn a_plugin_goes_by_the_settings_of_the_person() {
    let list = session(12);
    let asked = |settings: &str| {
        let engine = json!({"window": 14_000, "reserveOutput": 0});
        let asked = json!({"format": "openai-chat", "messages": list, "engine": engine}).to_string();
        answer_of_plugin(&of_person(settings), &asked)["result"]["tokensAfter"].as_u64().unwrap()
    };
    let (deep, high) = (asked("[budget]\ntarget = 0.2\n"), asked("[budget]\ntarget = 0.35\n"));
    assert!(deep <= 2_800 && high > 2_800 && high <= 4_900, "{deep} {high}");
    let brief = |settings: &str, more: Value| {
        let mut asked = json!({"call": "brief", "messages": list, "context": 15_000});
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        answer_of_plugin(&of_person(settings), &asked.to_string())["result"]["text"].as_str().unwrap().len()
    };
    let (half, rest, least) = (
        brief("[budget]\ntarget = 0.5\n", json!({})),
        brief("[budget]\ntarget = 0.5\n", json!({"beside": 4_000})),
        brief("[budget]\ntarget = 0.5\n", json!({"beside": 40_000})),
    );
    assert!(half > rest && rest > least, "{half} {rest} {least}");
    let place = of_person("[budget]\ntraget = 0.3\n");
    let ran = place.run("fit --stdio --plugin");
    assert!(ran.code == 2 && ran.stderr.contains("did you mean `target`?"), "{}", ran.stderr);
}
