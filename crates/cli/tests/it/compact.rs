//! `epitome compact` on one session.

use std::process::Stdio;

use serde_json::Value;

use crate::place::{Place, chat, example, shape_only};

#[test]
fn the_session_goes_to_standard_output_and_the_report_to_standard_error() {
    let _filters = shape_only();
    let place = Place::with("chat.json", chat());
    let ran = place.run("compact chat.json --budget 400 --chain tool-results");
    let (before, after) = (chat(), ran.text().to_owned());
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    assert_eq!(before.len(), after.len(), "{}", ran.text());
    for (line, (before, after)) in before.iter().zip(&after).enumerate() {
        let is_result = line == 4;
        assert_eq!(before != after, is_result, "everything but the long result stays byte for byte: {after}");
    }
    assert!(after[4].len() * 2 < before[4].len() && after[4].contains("error: unit 61 did not link"), "{}", after[4]);
    insta::assert_snapshot!(ran.stderr, @r#"
    chat.json (openai-chat): compacted · [TIME]
      before [BAR] # # messages
      after [BAR] # # messages, # % saved
      budget [BAR] #

      task unknown [WHY]
      chain tool-results (fixed)
      counted by o#k_base ×#
      cache message ## is the first that changed; # already-sent tokens from there on leave the
               prompt cache

      step before after saved edits refused time
      tool-results # # # # – [TIME]

      saved edit message why recall
        # excerpt ## tool large-tool-result: [WHY] [HANDLE]

      messages # kept · # pinned · # excerpted
      retained typed # % (# of #)
      recall epitome restore chat.json --handle HANDLE prints the removed text
      time [TIMES]
    "#);
}

#[test]
fn a_session_that_fits_comes_back_byte_for_byte() {
    let _filters = shape_only();
    let place = Place::with("chat.json", chat());
    let ran = place.run("compact chat.json -b 100k");
    assert_eq!((ran.code, ran.text()), (0, chat().as_str()));
    insta::assert_snapshot!(ran.stderr, @r#"
    chat.json (openai-chat): fits, nothing to do · [TIME]
      tokens [BAR] # # messages
      budget [BAR] #
    "#);
    assert_eq!(place.run_with("compact - -b 100k", chat().as_bytes()).text(), chat());
    assert_eq!(place.run("compact chat.json -b 100k -q").stderr, "", "quiet");
}

#[test]
fn the_example_is_compacted_to_every_budget() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    for budget in [60_000, 20_000, 8_000] {
        let ran = place.run(&format!("compact session.jsonl -b {budget} --report r.json -o small.jsonl"));
        assert_eq!((ran.code, ran.text()), (0, ""), "{}", ran.stderr);
        let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
        assert_eq!(report["status"], "compacted");
        assert!(report["tokens_after"].as_u64().unwrap() <= budget, "{report}");
        // What was written is read back as what was reported.
        let checked = place.run("check small.jsonl --json").json();
        assert_eq!(checked["current_tokens"], report["tokens_after"]);
        assert_eq!(place.run(&format!("compact small.jsonl -b {budget} -q")).stdout, place.read("small.jsonl"));
    }
}

#[test]
fn the_report_has_the_documented_keys() {
    let place = Place::with("chat.json", chat());
    let report = place.run("compact chat.json -b 400 --preview --json").json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    insta::assert_snapshot!(keys(&report), @"status budget target tokens_before tokens_after saved_ratio floor stays messages_before messages_after task mode chain cycle trigger first_changed_message cache_loss_tokens steps quality edits messages flushed_memories summary summarizer counter timings");
    insta::assert_snapshot!(keys(&report["timings"]), @"configure_us read_us count_us detect_us plan_us quality_us");
    let written = place.run("compact chat.json -b 400 -q -o out.json --report r.json");
    assert_eq!(written.code, 0, "{}", written.stderr);
    let written: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    insta::assert_snapshot!(keys(&written["timings"]), @"configure_us read_us count_us detect_us plan_us quality_us write_us");
    insta::assert_snapshot!(keys(&report["task"]), @"kind confidence evidence");
    insta::assert_snapshot!(keys(&report["steps"][0]), @"strategy tokens_before tokens_after edits refused declined duration_us");
    insta::assert_snapshot!(keys(&report["edits"][0]), @"edit strategy messages tokens_saved reason recall");
    insta::assert_snapshot!(keys(&report["messages"][0]), @"id role outcome");
    insta::assert_snapshot!(keys(&report["summarizer"]), @"kind input_tokens output_tokens fell_back");
}

#[test]
fn thinking_that_costs_nothing_does_not_hide_the_other_edits() {
    let step = |number: u32| {
        let result = format!("line of result {number}, one like the other\\n").repeat(40);
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2ln"}},{{"type":"tool_use","id":"t{number}","name":"bash","input":{{"command":"ls {number}"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{number}","content":"{result}"}}]}}"#
        )
    };
    let steps: Vec<String> = (0..20).map(step).collect();
    let place = Place::with(
        "steps.json",
        format!(r#"{{"messages":[{{"role":"user","content":"List all of it."}},{}]}}"#, steps.join(",")),
    );
    let ran = place.run("compact steps.json -b 6000 --chain tool-results --to openai-chat -o out.json --report r.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    let edits = report["edits"].as_array().unwrap();
    let is_thinking = |edit: &&Value| edit["reason"]["code"] == "thinking-behind-edit";
    let thinking: Vec<&Value> = edits.iter().filter(is_thinking).collect();
    assert!(thinking.len() > 5 && thinking.iter().all(|edit| edit["tokens_saved"] == 0), "{edits:#?}");
    assert!(!ran.stderr.contains("thinking-behind-edit"), "{}", ran.stderr);
    let told = format!("… and {} edits that took thinking away and saved nothing", thinking.len());
    assert!(ran.stderr.contains(&told) && ran.stderr.contains("old-tool-result"), "{}", ran.stderr);
}

#[test]
fn a_preview_changes_and_writes_nothing() {
    let place = Place::with("chat.json", chat());
    let ran = place.run("compact chat.json -b 400 --preview");
    assert_eq!((ran.code, ran.text()), (0, ""));
    assert!(ran.stderr.contains("would be compacted"), "{}", ran.stderr);
    let preview = place.run("compact chat.json -b 400 --preview --json");
    assert_eq!(preview.stderr, "");
    let real = place.run("compact chat.json -b 400 --report r.json");
    assert_eq!(real.code, 0);
    let (mut previewed, mut reported) =
        (preview.json(), serde_json::from_slice::<Value>(&place.read("r.json")).unwrap());
    for report in [&mut previewed, &mut reported] {
        report["steps"].as_array_mut().unwrap().iter_mut().for_each(|step| step["duration_us"] = 0.into());
        report["timings"] = Value::Null;
    }
    assert_eq!(previewed, reported, "the previewed compaction is the one that is made");
}

#[test]
fn what_cannot_fit_is_explained_and_not_written() {
    let _filters = shape_only();
    let place = Place::with("chat.json", chat());
    place.file("out.json", "precious");
    let ran = place.run("compact chat.json -b 20 --chain tool-results -o out.json --report r.json");
    assert_eq!((ran.code, ran.text()), (3, ""));
    insta::assert_snapshot!(ran.stderr, @r#"
    chat.json (openai-chat): cannot fit · [TIME]
      tokens [BAR] # # messages
      budget [BAR] #

      task unknown [WHY]
      chain tool-results (fixed)
      counted by o#k_base ×#

      at least # tokens must stay and the budget is #; of the # tokens:
      part as is at least
      original-task # # # message [pins] original_task = false lets it go
      newest-user # # # message cut last, not left out
      system # # # message never changed: shorten it in the agent
      help: raise the budget to # or more (from # on the task and the newest message stay whole), or
            let parts go as said above; no session was written
    "#);
    assert_eq!(place.read("out.json"), b"precious");
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    assert_eq!(report["status"], "infeasible");
    let quiet = place.run("compact chat.json -b 20 -q");
    assert_eq!((quiet.code, quiet.text()), (3, ""));
    insta::assert_snapshot!(quiet.stderr, @"warning: cannot fit # tokens: the session was not written");
}

/// Sixty calls, each on a file of its own: more names than a small budget holds.
fn many_files() -> String {
    let steps: String = (10..70)
        .map(|unit| {
            format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{unit}","type":"function","function":{{"name":"Edit","arguments":"{{\"file_path\":\"src/unit_{unit}.rs\"}}"}}}}]}},{{"role":"tool","tool_call_id":"c{unit}","content":"done as it was to be done"}},"#
            )
        })
        .collect();
    let typed = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    format!(r#"{{"messages":[{},{steps}{}]}}"#, typed("Rename them all."), typed("And now?"))
}

#[test]
fn a_compaction_that_keeps_too_little_is_rolled_back() {
    let place = Place::with("files.json", many_files());
    place.file("c.toml", "[quality]\nmin_strings = 0.9\non_loss = \"roll-back\"\n");
    place.file("out.json", "precious");
    let ran = place.run("compact files.json -b 400 --config c.toml -o out.json --report r.json");
    assert_eq!((ran.code, ran.text()), (1, ""), "{}", ran.stderr);
    for told in [
        "rolled back, too much would be lost",
        "too little would be kept: strings 0.",
        "[quality] min_strings asks for 0.9",
        "retained",
        "lost",
        "tried",
        "help: raise the budget, name another chain with --chain, or lower [quality] min_strings",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(place.read("out.json"), b"precious");
    let report: Value = serde_json::from_slice(&place.read("r.json")).unwrap();
    assert_eq!((&report["status"], &report["tokens_after"]), (&"rolled-back".into(), &report["tokens_before"]));
    assert_eq!(report["quality"]["below"][0]["part"], "strings");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    insta::assert_snapshot!(keys(&report["quality"]), @"share typed instructions conclusions summaries strings files below tried");
    insta::assert_snapshot!(keys(&report["quality"]["files"]), @"held kept lost_now share lost lost_earlier");
    insta::assert_snapshot!(keys(&report["quality"]["below"][0]), @"part share least");
    insta::assert_snapshot!(keys(&report["quality"]["tried"][0]), @"chain tokens_after share below");
    let quiet = place.run("compact files.json -b 400 --config c.toml -q");
    assert_eq!((quiet.code, quiet.text()), (1, ""));
    assert!(quiet.stderr.starts_with("warning: rolled back, too little would be kept (strings 0."), "{}", quiet.stderr);
    // With `retry` the best is taken, and it is said.
    place.file("c.toml", "[quality]\nmin_strings = 0.9\n");
    let ran = place.run("compact files.json -b 400 --config c.toml -o out.json --force");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("too few") && ran.stderr.contains("asks for 0.9"), "{}", ran.stderr);
    assert_ne!(place.read("out.json"), b"precious");
}

#[test]
fn the_budget_may_come_from_the_configuration() {
    let place = Place::with("chat.json", chat());
    place.file("c.toml", "[budget]\nwindow = 2000\nreserve_output = 0\ntarget = 400\nsoft = 500\nhard = 0.4\n");
    let report = place.run("compact chat.json --config c.toml --preview --json").json();
    assert_eq!((&report["budget"], &report["status"]), (&800.into(), &"compacted".into()));
    assert!(report["tokens_after"].as_u64().unwrap() <= 400, "{report}");
}

#[test]
fn options_reach_the_engine() {
    let place = Place::with("chat.json", chat());
    place.file("c.toml", "[select]\nmode = \"fixed\"\nchain = \"mine\"\n[chains]\nmine = [\"message-truncation\"]\n");
    let report = |options: &str| place.run(&format!("compact chat.json -b 400 --preview --json {options}")).json();
    assert_eq!(report("")["mode"], "adaptive");
    assert_eq!(report("--mode tournament")["mode"], "tournament");
    assert_eq!(report("--task analysis")["task"]["kind"], "analysis");
    assert_eq!(
        report("--chain tool-results,sliding-window")["chain"],
        serde_json::json!(["tool-results", "sliding-window"])
    );
    assert_eq!(report("--config c.toml")["chain"], serde_json::json!(["message-truncation"]));
    assert_eq!(report("--config c.toml")["mode"], "fixed");
    assert_eq!(report("--config c.toml --chain mine")["chain"], serde_json::json!(["message-truncation"]));
    assert_eq!(report("--config c.toml --task code")["mode"], "adaptive");
    assert_eq!(report("--summarizer off")["summarizer"]["kind"], "off");
    assert_eq!(report("")["summarizer"]["kind"], "rules");
    place.file("quarters.toml", "[counter]\nname = \"quarters\"\n");
    assert_eq!(report("--config quarters.toml")["counter"], "quarters");
}

#[test]
fn the_chain_line_says_why() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    place.file("classic.toml", "preset = \"classic\"\n");
    place.file("later.toml", "[select]\nlater_from = 2\n[chains]\nanalysis-later = [\"structured-extraction\"]\n");
    let chain = |session: &str, options: &str| {
        let ran = place.run(&format!("compact {session} -b 20k --preview {options}"));
        let (_, lines) = ran.stderr.split_once("\n  chain ").unwrap();
        let (lines, _) = lines.split_once("\n  counted ").unwrap();
        lines.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let default = "transcript → tool-results → message-truncation → sliding-window";
    assert_eq!(chain("session.jsonl", ""), format!("{default} (for code)"));
    assert_eq!(chain("session.jsonl", "--task mixed"), format!("{default} (for mixed, as --task says)"));
    assert_eq!(chain("session.jsonl", "--chain summary"), "summary (fixed)");
    let tournament = chain("session.jsonl", "--config classic.toml --mode tournament");
    assert!(tournament.ends_with(" (best of 3 in the tournament)"), "{tournament}");
    let inspected = |options: &str| {
        let ran = place.run(&format!("inspect {options}"));
        ran.text().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(inspected("session.jsonl").contains(&format!(" next chain {default} (for code)")));
    // The kind that a compaction was made for stays, though another is detected.
    assert_eq!(place.run("compact session.jsonl -b 30k --task analysis -o small.jsonl").code, 0);
    let later = "structured-extraction (for analysis, kept from the last compaction, from the 2nd compaction on)";
    assert_eq!(chain("small.jsonl", "--config later.toml"), later);
    assert!(inspected("small.jsonl --config later.toml").contains(&format!(" next chain {later}")));
}

#[test]
fn presets_and_embedders_of_the_configuration_compact_the_example() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let report = |config: &str, options: &str| {
        place.file("c.toml", config);
        let ran = place.run(&format!("compact session.jsonl -b 12k --config c.toml --preview --json {options}"));
        let report = ran.json();
        // A chain that somebody named and that declined as a whole is no compaction.
        let has_declined =
            report["stopped"].as_str().is_some_and(|why| why.starts_with("every strategy of the chain declined"));
        let expect = if has_declined { (1, Some("rolled-back")) } else { (0, Some("compacted")) };
        assert_eq!((ran.code, report["status"].as_str()), expect, "{config}: {}", ran.stderr);
        assert!(has_declined || report["tokens_after"].as_u64().unwrap() <= 12_000, "{config}");
        report
    };
    for preset in epitome::config::Preset::ALL {
        report(&format!("preset = [\"{preset}\"]\n"), "");
    }
    // With a question: without one there is nothing to be near to.
    let asked = "--chain vector-retrieval --focus fingerprint";
    let step = |config: &str| report(config, asked)["steps"][0].clone();
    let off = step("[embeddings]\nembedder = \"off\"\n");
    assert_eq!(off["strategy"], "vector-retrieval");
    assert_eq!((&off["edits"], &off["declined"]), (&0.into(), &"no embedder is configured".into()));
    let on = step("[embeddings]\nembedder = \"static\"\n");
    assert!(on["edits"].as_u64().unwrap() > 0 && on["declined"].is_null(), "{on}");
    assert_eq!(on["edits"], step("")["edits"], "the static one is the default");
    // An embedder that fails is not a failure of the compaction; the page says in full what it said.
    let nobody = "embedder = \"openai\"\nkey_variable = \"\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    let failed = step(&format!("[embeddings]\n{nobody}"));
    let why = failed["declined"].as_str().unwrap();
    assert!(why.contains("`http://127.0.0.1:1/v1") && failed["edits"] == 0, "{failed}");
    let page = place.run(&format!("compact session.jsonl -b 12k --config c.toml {asked} --preview")).stderr;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&page).contains(&words(why)), "{page}");
}

#[test]
fn a_cue_word_of_the_configuration_keeps_what_holds_it() {
    let turn = |n: u32| {
        let note = if n == 3 { "zwiebelrot" } else { "blau" };
        format!(
            r#"{{"role":"user","content":"Page {n}?"}},{{"role":"assistant","content":"Page {n} is {note}. {}"}},"#,
            "It has a margin and a headline, and some lines below. ".repeat(12)
        )
    };
    let turns: String = (1..=12).map(turn).collect();
    let place = Place::with("chat.json", format!(r#"{{"messages":[{turns}{{"role":"user","content":"And now?"}}]}}"#));
    let outcome = |config: &str| {
        place.file("c.toml", format!("[strategies.importance]\nstrict = true\n{config}"));
        let ran = place.run("compact chat.json -b 1200 --config c.toml --chain importance --preview --json");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report = ran.json();
        report["messages"][5]["outcome"].as_str().unwrap().to_owned()
    };
    // Alone between typed messages it is too little for a summary of its own.
    assert_eq!(outcome(""), "dropped");
    assert_eq!(outcome("[lexicon]\nimportant = [\"zwiebelrot\"]\n"), "kept");
}

#[test]
fn memories_are_kept_and_come_back() {
    let place = Place::new();
    let turn = |n: u32| {
        let detail = "It has a margin and a headline, and some lines below. ".repeat(14);
        format!(
            r#"{{"role":"user","content":"Page {n}?"}},{{"role":"assistant","content":"Page {n} is blue. {detail}"}},"#
        )
    };
    let turns: String = (1..=12).map(turn).collect();
    let said = "Remember that my staging server is called zebra-42.";
    place.file("one.json", format!(r#"{{"messages":[{{"role":"user","content":"Please start."}},{{"role":"user","content":"{said}"}},{turns}{{"role":"user","content":"And now?"}}]}}"#));
    let two = |asked: &str| format!(r#"{{"messages":[{turns}{{"role":"user","content":"{asked}"}}]}}"#);
    place.file("two.json", two("Is the staging server up?"));
    place.file("three.json", two("And now?"));
    let live = "[live]\nmemory_flush = true\nmemory_file = \"memories.jsonl\"\n[chains]\nconversation = [\"summary\"]\nunknown = [\"summary\"]\n";
    place.file("c.toml", live);
    let flushed = |line: &str| {
        let ran = place.run(&format!("compact {line} -b 1200 --config c.toml --report r.json"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report: serde_json::Value = serde_json::from_slice(&place.read("r.json")).unwrap();
        (report["flushed_memories"].as_u64().unwrap(), ran.text().to_owned())
    };
    let (previewed, _) = flushed("one.json --preview");
    assert!(previewed == 0 && !place.files().contains(&"memories.jsonl".to_owned()), "a preview keeps nothing");
    assert!(flushed("one.json").0 >= 1);
    assert!(String::from_utf8(place.read("memories.jsonl")).unwrap().contains("zebra-42"));
    assert_eq!(flushed("one.json").0, 0, "what is known is not kept again");
    assert!(flushed("two.json").1.contains("zebra-42"), "it comes back into the summary of another session");
    assert!(!flushed("three.json").1.contains("zebra-42"), "but not where nobody speaks of it");
    place.file("c.toml", "[live]\nmemory_flush = true\n");
    let ran = place.run("compact one.json -b 1200 --config c.toml");
    assert!(ran.stderr.contains("no memories are kept") && ran.stderr.contains("memory_file"), "{}", ran.stderr);
}

#[test]
fn usage_records_correct_the_counter() {
    let assistant = |id: u32, input: u32| {
        format!(
            r#"{{"type":"assistant","uuid":"a{id}","sessionId":"s","message":{{"id":"m{id}","type":"message","role":"assistant","model":"claude-opus-5","content":[{{"type":"text","text":"Done."}}],"usage":{{"input_tokens":{input},"output_tokens":9}}}}}}"#,
        )
    };
    let user = |id: u32, text: &str| {
        format!(r#"{{"type":"user","uuid":"u{id}","sessionId":"s","message":{{"role":"user","content":"{text}"}}}}"#)
    };
    let long = "One sentence of eight words that says nothing. ".repeat(1_000);
    let tokens = |input: u32| {
        let lines = [user(1, "Read this."), assistant(1, 1_000), user(2, &long), assistant(2, input)];
        let place = Place::with("s.jsonl", lines.join("\n") + "\n");
        let told = place.run("check s.jsonl --json").json();
        place.file("o200k.toml", "[counter]\nname = \"o200k_base\"\n");
        let named = place.run("check s.jsonl --json --config o200k.toml").json();
        assert_eq!(named["counter"], "o200k_base", "nothing corrects a counter that is named");
        (told["counter"].as_str().unwrap().to_owned(), told["counted_tokens"].as_u64().unwrap())
    };
    let (plain, counted) = tokens(0);
    assert_eq!(plain, "claude-4.7");
    let (corrected, more) = tokens(1_009 + counted as u32 * 6 / 5);
    assert_eq!(corrected, "claude-4.7 ×1.20");
    assert!((1.15..1.25).contains(&(more as f64 / counted as f64)), "{counted} {more}");
}

#[test]
fn both_views_can_be_compacted() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    assert_eq!(place.run("compact session.jsonl -b 20000 -o small.jsonl").code, 0);
    let before = |options: &str| {
        let report = place.run(&format!("compact small.jsonl -b 9000 --preview --json {options}")).json();
        (report["tokens_before"].as_u64().unwrap(), report["cycle"].as_u64().unwrap())
    };
    let whole = place.run("check session.jsonl --json").json()["current_tokens"].as_u64().unwrap();
    let (compacted, cycle) = before("");
    assert!(compacted <= 20_000 && cycle == 2, "{compacted}, cycle {cycle}");
    assert_eq!(before("--view full"), (whole, 1));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    for line in ["compact session.jsonl -b 90k -q", "convert session.jsonl --to openai-chat", "completions bash"] {
        let mut command = place.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{line}");
    }
}

#[test]
fn colours_are_for_terminals() {
    let place = Place::with("chat.json", chat());
    let stderr = |variables: &[(&str, &str)]| {
        let mut command = place.command("compact chat.json -b 400");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stderr).unwrap().contains('\u{1b}')
    };
    assert!(!stderr(&[]));
    assert!(stderr(&[("CLICOLOR_FORCE", "1")]));
    assert!(!stderr(&[("NO_COLOR", "1")]));
}

#[test]
fn reports_fit_the_width() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    for width in [80, 100, 140] {
        let output =
            place.command("compact session.jsonl -b 8000 --preview").env("COLUMNS", width.to_string()).output();
        let stderr = String::from_utf8(output.unwrap().stderr).unwrap();
        let widest = stderr.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} columns of {width}:\n{stderr}");
    }
}

/// A disk that is full takes no report; the session, which comes first, is there.
#[cfg(target_os = "linux")]
#[test]
fn the_session_is_written_before_the_report() {
    let turns: String = (1..=30)
        .map(|n| {
            let text = "It has a margin and a headline. ".repeat(20);
            format!(r#"{{"role":"user","content":"Page {n}?"}},{{"role":"assistant","content":"{text}"}},"#)
        })
        .collect();
    let place = Place::with("chat.json", format!(r#"{{"messages":[{turns}{{"role":"user","content":"And now?"}}]}}"#));
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran =
        place.command("compact chat.json -b 1500 -o out.json --report /dev/stdout").stdout(full()).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{stderr}");
    let told =
        "error: the session was written, and its report was not: cannot write /dev/stdout: No space left on device";
    assert!(stderr.contains(told), "{stderr}");
    assert!(place.files().iter().any(|file| file == "out.json"), "{:?}", place.files());
    // What can be known beforehand stops the compaction.
    place.file("a.json", "{}");
    std::fs::hard_link(place.path("a.json"), place.path("b.json")).unwrap();
    let ran = place.run("compact chat.json -b 1500 -o other.json --report b.json");
    assert_eq!((ran.code, place.path("other.json").exists()), (2, false), "{}", ran.stderr);
    // The session itself has no room.
    let output = place.command("compact chat.json -b 1500 -q").stdout(full()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    insta::assert_snapshot!(told, @"error: cannot write to standard output: No space left on device (os error 28)");
}

#[test]
fn a_result_of_which_little_is_left_is_told() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let check = |budget: &str, code: i32, expect: &str| {
        let ran = place.run(&format!("compact session.jsonl -b {budget} -o out.jsonl"));
        let told: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
        assert_eq!((ran.code, told.join("\n").as_str()), (code, expect), "{budget}: {}", ran.stderr);
    };
    let near_empty = "warning: almost nothing of the task and the work on it is left: a larger budget keeps more";
    check("100", 1, near_empty);
    check("700", 0, "warning: the result lost all 27 files: a larger budget keeps some");
    check("8k", 0, "");
}

#[test]
fn losses_of_earlier_compactions_stand_apart() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let first = place.run("compact session.jsonl -b 8000 -o session.jsonl");
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stderr.contains("\n  lost "), "{}", first.stderr);
    assert!(!first.stderr.contains("lost earlier") && !first.stderr.contains("\n  earlier "), "{}", first.stderr);
    let second = place.run("compact session.jsonl -b 4000 -o session.jsonl");
    for told in ["\n  lost ", "lost earlier)", "\n  earlier "] {
        assert!(second.stderr.contains(told), "{told}: {}", second.stderr);
    }
}

#[test]
fn a_budget_of_almost_nothing_says_what_left() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let ran = place.run("compact session.jsonl -b 500 --to openai-chat");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for told in ["[151 earlier messages left the context]", "[12 earlier messages left the context]"] {
        assert!(ran.text().contains(told), "{told}: {}", ran.text());
    }
}

#[test]
fn a_message_without_content_has_no_handle() {
    let line = |id: &str, message: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{message}}}\n"
        )
    };
    let user =
        |id: &str, text: &str| line(id, &format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#));
    let model = |id: &str, content: &str| {
        line(id, &format!(r#"{{"role":"assistant","content":[{content}],"stopReason":"stop"}}"#))
    };
    let long = "the parser reads another line of the file and goes on ".repeat(200);
    let session = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/p\"}\n"
            .to_owned(),
        user("u1", "fix it"),
        model("a1", ""),
        user("u2", "go on"),
        model("a2", &format!(r#"{{"type":"text","text":"{long}"}}"#)),
        user("u3", "and now?"),
    ];
    let place = Place::with("pi.jsonl", session.concat());
    let report = place.run("compact pi.jsonl --budget 800 --preview --json").json();
    let edits = report["edits"].as_array().unwrap();
    let empty: Vec<_> = edits.iter().filter(|edit| edit["reason"]["code"] == "empty-message").collect();
    assert!(empty.len() == 1 && empty[0]["recall"].is_null(), "{report}");
    let handles: Vec<&str> = edits.iter().filter_map(|edit| edit["recall"].as_str()).collect();
    assert!(!handles.is_empty(), "{report}");
    for handle in handles {
        assert_eq!(place.run(&format!("restore pi.jsonl --handle {handle}")).code, 0, "{handle}");
    }
}

#[test]
fn a_report_says_what_its_figures_are_of() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let line = "  figures  begin with this file: ";
    let first = place.run("compact session.jsonl --budget 20k --to openai-chat -o smaller.json");
    assert!(first.code == 0 && !first.stderr.contains(line), "{}", first.stderr);
    let second = place.run("compact smaller.json --budget 8k --preview");
    assert!(second.code == 0 && second.all().contains(line), "{}", second.all());
    // Reasoning that the written format has no place for costs nothing there.
    let record = |uuid: &str, kind: &str, message: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{message}}}\n"
        )
    };
    let long = "the parser reads another line of the file and goes on ".repeat(100);
    let answer = format!(
        r#"{{"id":"m1","role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2ln"}},{{"type":"text","text":"{long}"}}]}}"#
    );
    let ask = |uuid: &str| record(uuid, "user", r#"{"role":"user","content":"and the next one?"}"#);
    place.file("thought.jsonl", ask("u1") + &record("a1", "assistant", &answer) + &ask("u2"));
    let told = |to: &str| place.run(&format!("compact thought.jsonl --budget 300 --to {to} --preview")).all();
    let note = "no place for some of the reasoning, which is not counted";
    assert!(told("openai-chat").contains(note), "{}", told("openai-chat"));
    assert!(!told("claude-code").contains(note), "{}", told("claude-code"));
}
