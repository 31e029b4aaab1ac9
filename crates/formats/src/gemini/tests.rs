#![allow(clippy::unwrap_used)]

use epitome_session::{Change, EditKind, Epoch, Excerpt, KeptRanges, Trigger};

use crate::tests::{check_log as check, load};
use crate::{Format, LoadedFile, ReadOptions, Wire, read, read_message, render, validate, write};

/// A request in the spelling of the REST interface, with parts of every kind.
const REQUEST: &str = r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[
  {"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]},
  {"role":"model","parts":[{"text":"hm","thought":true},{"text":"look","thoughtSignature":"T1"},{"functionCall":{"name":"run","args":{"a": 1}},"thoughtSignature":"T2"},{"functionCall":{"name":"list","args":{}}}]},
  {"role":"user","parts":[{"functionResponse":{"name":"run","response":{"output":"one"}}},{"functionResponse":{"name":"list","response":{"files":["x"]}}},{"text":"go on"}]},
  {"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"","thoughtSignature":"T3"}]},
  {"role":"user","parts":[{"text":"thanks"}]}],"tools":[{"functionDeclarations":[{"name":"run","parameters":{"type":"OBJECT","properties":{"a":{"type":"NUMBER"}}}}]}]}"#;

#[test]
fn requests() {
    let log = [
        "system/Instructions: s",
        "user/Typed: hi | media(image/png AA)",
        r#"assistant/Model: thinking(hm) | look | call( run {"a": 1}) | call( list {})"#,
        "tool/Tool: result( one)",
        r#"tool/Tool: result( {"files":["x"]})"#,
        "user/Typed: go on",
        r#"assistant/Model: call( code_execution {"language":"PYTHON","code":"1"})"#,
        "tool/Tool: result( outcome: OUTCOME_OK\n1)",
        "assistant/Model: ",
        "user/Typed: thanks",
    ];
    check(Format::Gemini, REQUEST, &log, &[]);
    let snake = r#"{"system_instruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"hi"}]},
      {"role":"model","parts":[{"function_call":{"id":"c1","name":"run","args":null}}]},
      {"role":"function","parts":[{"function_response":{"id":"c1","name":"run","response":{"error":"no"}}}]}]}"#;
    let log =
        ["system/Instructions: s", "user/Typed: hi", "assistant/Model: call(c1 run {})", "tool/Tool: result(c1 no!)"];
    check(Format::Gemini, snake, &log, &[]);
    let list = r#"[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"yes"}]}]"#;
    check(Format::Gemini, list, &["user/Typed: hi", "assistant/Model: yes"], &[]);
    let odd = load(r#"{"contents":["hi",{"role":"model","parts":[{"text":"yes"}]},{"role":"model"},7]}"#);
    assert_eq!((odd.format, odd.sessions[0].session.log().len(), odd.warnings.len()), (Format::Gemini, 2, 2));
}

#[test]
fn one_in_place_of_a_list() {
    check(Format::Gemini, r#"{"contents":{"parts":{"text":"hi"}}}"#, &["user/Typed: hi"], &[]);
    check(Format::Gemini, r#"{"contents":{"parts":[{"text":"a"},{"text":"b"}]}}"#, &["user/Typed: a | b"], &[]);
    let log = ["user/Typed: a", "assistant/Model: call( run {})"];
    let list = r#"[{"parts":{"text":"a"}},{"role":"model","parts":{"functionCall":{"name":"run","args":{}}}}]"#;
    check(Format::Gemini, &format!(r#"{{"contents":{list}}}"#), &log, &[]);
    check(Format::Gemini, r#"{"model":"gemini-3-flash","contents":"hi"}"#, &["user/Typed: hi"], &[]);
    let of_gemini = |json: &str| read(json.into(), ReadOptions::default()).is_ok_and(|it| it.format == Format::Gemini);
    for json in [r#"{"path":"a.txt","contents":"hi"}"#, r#"{"model":"m","contents":"hi"}"#, r#"{"contents":{"a":1}}"#] {
        assert!(!of_gemini(json), "{json}");
    }
    for wrong in [r#"{"parts":"hi"}"#, r#"{"parts":null}"#, r#"{"parts":{"functionCall":{}}}"#] {
        assert!(read_message(Wire::Gemini, wrong).is_err(), "{wrong}");
        let json = format!(r#"{{"contents":{wrong}}}"#).into();
        let asked = ReadOptions { format: Some(Format::Gemini), checked: true, ..ReadOptions::default() };
        assert!(read(json, asked).is_err(), "{wrong}");
    }
}

/// The contents that are written after changes to the file's only session, one a line.
fn changed(loaded: &LoadedFile, changes: Vec<Change>) -> String {
    let mut session = loaded.sessions[0].session.clone();
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new()));
    let written = String::from_utf8(write(loaded, 0, &session, Format::Gemini).unwrap()).unwrap();
    assert_eq!(validate(&written, Wire::Gemini), [], "{written}");
    let contents = written.split_once("\"contents\":[\n").unwrap().1.split_once("],\"tools\"").unwrap().0;
    contents.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn written_back() {
    let loaded = load(REQUEST);
    let session = &loaded.sessions[0].session;
    assert_eq!(validate(REQUEST, Wire::Gemini), []);
    assert_eq!(write(&loaded, 0, session, Format::Gemini).unwrap(), REQUEST.as_bytes(), "nothing changed");
    let key = |message: usize| session.view()[message].key;
    let lines: Vec<&str> = REQUEST.lines().skip(1).map(str::trim).collect();
    let thanks = lines[4].split_once("],\"tools\"").unwrap().0;

    // What is left out takes nothing with it; what the model says in a row is one content.
    let without_user = changed(&loaded, vec![Change::Remove { entry: key(5) }]);
    let results = r#"{"role":"user","parts":[{"functionResponse":{"name":"run","response":{"output":"one"}}},{"functionResponse":{"name":"list","response":{"files":["x"]}}}]}"#;
    assert_eq!(without_user, [lines[0], lines[1], &format!("{results},"), lines[3], thanks].join("\n"));

    // The signature of an edited call says that it is not as the model made it; an edited response keeps the name of its tool.
    let arguments = r#"{"a":"[…]"}"#.into();
    let excerpt = Excerpt { kept: KeptRanges::default(), marks: vec!["[…]".into()], attachments: None };
    let trimmed = changed(
        &loaded,
        vec![Change::Trim { entry: key(2), block: 2, arguments }, Change::Excerpt { entry: key(4), block: 0, excerpt }],
    );
    let call = r#"{"functionCall":{"name":"run","args":{"a": 1}},"thoughtSignature":"T2"}"#;
    let after =
        r#"{"functionCall":{"name":"run","args":{"a":"[…]"}},"thoughtSignature":"skip_thought_signature_validator"}"#;
    let contents = [
        lines[0].to_owned(),
        lines[1].replace(call, after),
        r#"{"role":"user","parts":[{"functionResponse":{"name":"run","response":{"output":"one"}}},{"functionResponse":{"name":"list","response":{"output":"[…]"}}}]},"#
            .to_owned(),
        r#"{"role":"user","parts":[{"text":"go on"}]},"#.to_owned(),
        lines[3].to_owned(),
        thanks.to_owned(),
    ];
    assert_eq!(trimmed, contents.join("\n"));
}

#[test]
fn from_and_to_other_providers() {
    let openai = load(
        r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"run","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"c2","content":"two"},
        {"role":"assistant","content":"done"}],"tools":[{"type":"function","function":{"name":"run","parameters":{"type":"object"}}}]}"#,
    );
    let session = &openai.sessions[0].session;
    let gemini = render(session.view(), Wire::Gemini, session.tools.as_deref(), None).json;
    assert_eq!(validate(&gemini, Wire::Gemini), []);
    let expect = r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[
{"role":"user","parts":[{"text":"hi"}]},
{"role":"model","parts":[{"functionCall":{"id":"c1","name":"run","args":{"a":1}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"c2","name":"run","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run","response":{"output":"one"}}},{"functionResponse":{"id":"c2","name":"run","response":{"output":"two"}}}]},
{"role":"model","parts":[{"text":"done"}]}
],"tools":[
{"functionDeclarations":[{"name":"run","parametersJsonSchema":{"type":"object"}}]}
]}
"#;
    assert_eq!(gemini, expect);
    // An own tool beside functions has no form elsewhere, and that is told.
    let tools = r#"[{"functionDeclarations":[{"name":"run"}],"googleSearch":{}}]"#;
    let rendered = render(session.view(), Wire::OpenaiChat, Some(tools), None);
    assert_eq!(
        rendered.warnings,
        ["the definition of the tool googleSearch was left out: it has no form in this format"]
    );
    assert_eq!(rendered.json.matches("\"name\":\"run\",\"parameters\"").count(), 1, "{}", rendered.json);
    let loaded = load(REQUEST);
    let session = &loaded.sessions[0].session;
    for profile in Wire::ALL {
        let rendered = render(session.view(), profile, session.tools.as_deref(), None).json;
        assert_eq!(validate(&rendered, profile), [], "{profile:?}: {rendered}");
        let is_lower = rendered.contains(r#"{"type":"object","properties":{"a":{"type":"number"}}}"#);
        assert_eq!(is_lower, profile != Wire::Gemini, "{profile:?}: {rendered}");
    }
}

#[test]
fn one_message() {
    let wrong = |json: &str, expect: &str| {
        assert_eq!(read_message(Wire::Gemini, json).unwrap_err().to_string(), expect, "{json}");
    };
    wrong("[]", "a message is an object, and this is a list");
    wrong(
        r#"{"role":"assistant","parts":[]}"#,
        "`role`: `assistant` is not a role of this form: user, model, function",
    );
    wrong(r#"{"role":"user"}"#, "`parts`: a list is expected, and it is missing");
    wrong(r#"{"parts":["x"]}"#, "`parts[0]`: an object is expected, and this is a text");
    wrong(
        r#"{"role":"model","parts":[{"functionCall":{}}]}"#,
        "`parts[0].functionCall.name`: a text is expected, and it is missing",
    );
    let call = r#"{"role":"model","parts":[{"functionCall":{"name":"run","args":{}}}]}"#;
    let read = read_message(Wire::Gemini, call).unwrap();
    assert_eq!(crate::write_messages(Wire::Gemini, &read).unwrap().len(), 1);
}

#[test]
fn faults_that_a_provider_refuses() {
    let check = |contents: &str, expect: &[&str]| {
        let found = validate(&format!(r#"{{"contents":[{contents}]}}"#), Wire::Gemini);
        assert_eq!(found.iter().map(|fault| fault.rule).collect::<Vec<_>>(), expect, "{contents}: {found:?}");
    };
    let user = r#"{"role":"user","parts":[{"text":"hi"}]}"#;
    let call = r#"{"role":"model","parts":[{"functionCall":{"name":"run","args":{}}}]}"#;
    let response = r#"{"role":"user","parts":[{"functionResponse":{"name":"run","response":{}}}]}"#;
    check(&format!("{user},{call},{response}"), &[]);
    check(&format!("{user},{call}"), &[]);
    check(&format!("{user},{call},{user}"), &["call-without-result"]);
    check(&format!("{user},{response}"), &["result-without-call"]);
    check(&format!("{user},{call},{response},{response}"), &["result-without-call"]);
    check(call, &["first-user"]);
    check(&format!(r#"{user},{{"role":"model","parts":[{{"text":"a"}}]}},{call}"#), &["alternation"]);
    check(r#"{"role":"user","parts":[]}"#, &["content"]);
    check(r#"{"role":"user","parts":[{"text":" "}]}"#, &["content"]);
    check(r#"{"role":"user","parts":[{"type":"text"}]}"#, &["content"]);
    check(r#"{"role":"assistant","parts":[{"text":"a"}]}"#, &["role"]);
    check("", &["messages"]);
}
