#![allow(clippy::unwrap_used)]

use crate::{Format, ReadOptions, read};

fn outcome(input: &str) -> Result<Format, String> {
    let loaded = read(input.as_bytes().to_vec(), ReadOptions::default());
    loaded.map(|loaded| loaded.format).map_err(|error| error.to_string())
}

#[test]
fn a_request_of_another_interface_is_refused_by_its_name() {
    let check = |form: &str, hint: &str, input: &str| {
        let error = outcome(input).unwrap_err();
        assert!(error.starts_with(&format!("this is {form}")), "{error}");
        assert!(error.contains(hint) && error.contains("docs/formats.md"), "{error}");
    };
    let steps = r#"{"type":"user_input","content":[{"type":"text","text":"a"}]},{"type":"thought","signature":"S"},{"type":"function_call","id":"f","name":"exec","arguments":{}},{"type":"function_result","call_id":"f","name":"exec","result":[{"type":"text","text":"b"}]},{"type":"model_output","content":[{"type":"text","text":"c"}]}"#;
    for input in [
        format!(r#"{{"model":"gemini-3.5-flash","input":[{steps}]}}"#),
        format!("[{steps}]"),
        format!(r#"{{"id":"v1","status":"completed","steps":[{steps}]}}"#),
        r#"{"model":"gemini-3.5-flash","input":[{"role":"user","content":"a"},{"role":"model","content":"b"}]}"#.into(),
        r#"{"model":"gemini-3.5-flash","input":[{"role":"user","content":[{"type":"function_result","call_id":"f","result":"b"}]}]}"#.into(),
        r#"[{"role":"user","content":"a"},{"role":"model","content":[{"type":"thought","signature":"S"}]}]"#.into(),
    ] {
        check("a request of Gemini's Interactions", "`contents`", &input);
    }
    for input in [
        r#"{"modelId":"m","messages":[{"role":"user","content":[{"text":"a"},{"cachePoint":{"type":"default"}}]}]}"#,
        r#"[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"exec","input":{}}}]}]"#,
        r#"[{"role":"user","content":[{"toolResult":{"toolUseId":"t","content":[{"text":"b"}]}}]}]"#,
        r#"{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"a"}]}]}"#,
    ] {
        check("a request of Amazon Bedrock's Converse", "Anthropic's form", input);
    }
    let call = r#"{"type":"tool-call","toolCallId":"c","toolName":"bash","input":{}}"#;
    let result = r#"{"type":"tool-result","toolCallId":"c","toolName":"bash","output":{"type":"text","value":"b"}}"#;
    for input in [
        format!(r#"[{{"role":"user","content":"a"}},{{"role":"assistant","content":[{call}]}}]"#),
        format!(r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"tool","content":[{result}]}}]}}"#),
        format!("{{\"role\":\"user\",\"content\":\"a\"}}\n{{\"role\":\"tool\",\"content\":[{result}]}}\n"),
        r#"[{"role":"tool","content":[{"type":"tool-approval-response","approvalId":"p","approved":true}]}]"#.into(),
    ] {
        check("a list of ModelMessages of Vercel's AI SDK", "`epitome-context/ai`", &input);
    }
    let done = r#"{"type":"tool-bash","toolCallId":"c","state":"output-available","input":{},"output":"b"}"#;
    for input in [
        format!(r#"[{{"id":"1","role":"assistant","parts":[{done}]}}]"#),
        r#"[{"id":"1","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"a"}]}]"#.into(),
    ] {
        check("a list of UIMessages of Vercel's AI SDK", "`convertToModelMessages`", &input);
    }
}

#[test]
fn what_is_like_it_stays_read() {
    let check = |input: &str, expect: Format| assert_eq!(outcome(input), Ok(expect), "{input}");
    check(
        r#"{"model":"m","input":[{"type":"function_call","call_id":"f","name":"exec","arguments":"{}"},{"type":"function_call_output","call_id":"f","output":"b"}]}"#,
        Format::OpenaiResponses,
    );
    check(r#"{"contents":[{"role":"model","parts":[{"text":"a","thought":true}]}]}"#, Format::Gemini);
    check(
        r#"{"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"toolUse, user_input, cachePoint, tool-call, toolCallId"}]}"#,
        Format::Anthropic,
    );
}
