//! Input that cannot be fitted, and odd input that can.

use epitome::formats::Wire;
use epitome_fit::{FitOptions, FitRequest, FitStatus, RequestPart};

use crate::lists::fitter;

#[test]
fn errors_say_what_is_wrong_and_where() {
    let good = r#"{"role":"user","content":"x"}"#;
    let check = |profile: Wire, messages: &[&str], expect: &str| {
        let fitter = fitter(profile, FitOptions::within(1_000));
        let error = fitter.fit(&FitRequest::new(messages.iter().copied())).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    };
    check(Wire::OpenaiChat, &[good, "{"], "message 1 cannot be read: it is not JSON: ");
    check(Wire::OpenaiChat, &[r#"{"role":"user"},{"role":"user"}"#], "message 0 cannot be read: it is not JSON: ");
    check(Wire::OpenaiChat, &["7"], "message 0 cannot be read: a message is an object, and this is a number");
    check(
        Wire::OpenaiChat,
        &[good, good, r#"{"role":"tool","tool_call_id":7,"content":"x"}"#],
        "message 2 cannot be read: `tool_call_id`: a text is expected, and this is a number",
    );
    check(Wire::Anthropic, &[r#"{"content":"x"}"#], "message 0 cannot be read: `role`: a text is expected");
    let fitter = fitter(Wire::Anthropic, FitOptions::within(1_000));
    let error = |request: FitRequest<'_>| fitter.fit(&request).unwrap_err().to_string();
    let system = error(FitRequest { system: RequestPart::Json("You are terse."), ..FitRequest::new([good]) });
    assert!(system.starts_with("the system prompt cannot be read: it is not JSON: "), "{system}");
    let tools = error(FitRequest { tools: RequestPart::Json("[}"), ..FitRequest::new([good]) });
    assert!(tools.starts_with("the definitions of tools cannot be read: it is not JSON: "), "{tools}");
}

#[test]
fn what_is_not_shown_takes_its_part_of_the_budget() {
    let fitter = fitter(Wire::Anthropic, FitOptions::within(1_000));
    let request = FitRequest::new([r#"{"role":"user","content":"x"}"#]);
    let budget = |system, tools| fitter.fit(&FitRequest { system, tools, ..request.clone() }).unwrap().budget;
    assert_eq!(budget(RequestPart::Nothing, RequestPart::Nothing), 1_000);
    assert_eq!(budget(RequestPart::Tokens(100), RequestPart::Tokens(50)), 850);
    let tools = r#"[{"name":"bash","description":"Runs a command.","input_schema":{"type":"object"}}]"#;
    assert!(budget(RequestPart::Nothing, RequestPart::Json(tools)) < 1_000);
}

#[test]
fn a_result_is_of_one_list() {
    let messages = [r#"{"role":"user","content":"x"}"#; 2];
    let fitted = fitter(Wire::OpenaiChat, FitOptions::within(1_000)).fit(&FitRequest::new(messages)).unwrap();
    let error = fitted.to_messages(&messages[..1]).unwrap_err().to_string();
    assert!(error.starts_with("the result is of a list of 2 messages, and this one has 1"), "{error}");
}

#[test]
fn a_list_of_nothing_is_left_alone() {
    for profile in Wire::ALL {
        let none: [&str; 0] = [];
        let fitted = fitter(profile, FitOptions::within(1_000)).fit(&FitRequest::new(none)).unwrap();
        assert!(fitted.is_unchanged() && fitted.pieces.is_empty(), "{profile:?}");
    }
}

#[test]
fn white_space_and_empty_messages_are_the_hosts() {
    let messages = [
        " {\"role\":\"user\",\"content\":\"x\"}\n",
        r#"{"role":"assistant","content":""}"#,
        r#"{"role":"user","content":"y"}"#,
    ];
    let fitted = fitter(Wire::OpenaiChat, FitOptions::within(1_000)).fit(&FitRequest::new(messages)).unwrap();
    assert!(fitted.is_unchanged());
    assert_eq!(fitted.to_messages(&messages).unwrap(), messages);
}

/// The newest result is cut and not left out, and has no id that the host did not give it.
#[test]
fn results_without_ids_are_fitted() {
    let check = |profile: Wire, call: &str, result: &str, user: &str, no_id: &str| {
        let long = (0..80).map(|line| format!("line {line} of the tide table")).collect::<Vec<_>>().join("\\n");
        let step = [call.to_owned(), result.replace("TEXT", &long)];
        let mut messages = vec![user.to_owned()];
        messages.extend((0..6).flat_map(|_| step.clone()));
        let fitted = fitter(profile, FitOptions::within(1_000)).fit(&FitRequest::new(messages.iter())).unwrap();
        assert_eq!(fitted.status, FitStatus::Compacted, "{profile:?}");
        let written = fitted.to_messages(&messages).unwrap();
        let last = written.last().unwrap();
        assert!(last.contains("of the tide table") && !last.contains(no_id), "{profile:?}: {last}");
    };
    check(
        Wire::OpenaiChat,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}"#,
        r#"{"role":"tool","content":"TEXT"}"#,
        r#"{"role":"user","content":"go"}"#,
        "tool_call_id",
    );
    check(
        Wire::Gemini,
        r#"{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"TEXT"}}}]}"#,
        r#"{"role":"user","parts":[{"text":"go"}]}"#,
        r#""id""#,
    );
}
