#![allow(clippy::unwrap_used)]
use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Change, Content, Dialect, EditKind, Epoch, Excerpt, KeptRanges, Media, MediaSource, Message,
    OpaqueBlock, Origin, Position, Role, Session, SyntheticMessage, Thinking, ToolCall, ToolResult, Trigger,
};

use super::*;
use crate::tests::load;
use crate::validate::validate;

/// Builds a session from words: `s` system, `u` user, `a` text of the model, `e` an empty message of the model, `c1+2`
/// calls, `r1` result, `t` signed reasoning with a text, `T1` signed reasoning with a call.
fn session(line: &str) -> Session {
    let mut session = Session::new();
    for word in line.split_whitespace() {
        let (kind, id) = word.split_at(1);
        let call = |id: &str| {
            let arguments = Arguments::Json("{}".into());
            Block::new(Content::ToolCall(ToolCall { id: id.into(), name: "run".into(), arguments }))
        };
        let thinking = || {
            let thinking = Thinking { text: "hm".into(), signature: Some("SIG".into()), redacted: false };
            Block::new(Content::Thinking(thinking))
        };
        let model = |blocks: Vec<Block>| Message::new("", Role::Assistant, Origin::Model, blocks);
        session.push(match kind {
            "s" => Message::text("", Role::System, Origin::Instructions, "rules"),
            "u" => Message::text("", Role::User, Origin::Typed, "ask"),
            "a" => Message::text("", Role::Assistant, Origin::Model, "say"),
            "e" => Message::text("", Role::Assistant, Origin::Model, ""),
            "c" => model(id.split('+').map(call).collect()),
            "t" => model(vec![thinking(), Block::text("say")]),
            "T" => model(vec![thinking(), call(id)]),
            "r" => {
                let text = "out".into();
                let result = ToolResult { call_id: id.into(), name: None, text, attachments: vec![], is_error: false };
                Message::result("", result)
            }
            other => unreachable!("no such word: {other}"),
        });
    }
    session
}

/// A request in one line: roles, calls, results, and the first words of texts.
fn shape(json: &str, profile: Wire) -> String {
    let request: serde_json::Value = serde_json::from_str(json).unwrap();
    let system = |name: &str| if request[name].is_null() { String::new() } else { "S ".to_owned() };
    let word = |text: &serde_json::Value| {
        text.as_str().unwrap_or_default().split_whitespace().next().unwrap_or("-").to_owned()
    };
    match profile {
        Wire::OpenaiChat => {
            let message = |message: &serde_json::Value| {
                let calls: Vec<&str> = message["tool_calls"]
                    .as_array()
                    .map_or(vec![], |it| it.iter().map(|call| call["id"].as_str().unwrap()).collect());
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                format!(
                    "{}{id}{}({})",
                    &message["role"].as_str().unwrap()[..1],
                    calls.join("+"),
                    word(&message["content"])
                )
            };
            request["messages"].as_array().unwrap().iter().map(message).collect::<Vec<_>>().join(" ")
        }
        Wire::OpenaiResponses => {
            let item = |item: &serde_json::Value| match item["type"].as_str().unwrap() {
                "message" => format!("{}({})", &item["role"].as_str().unwrap()[..1], word(&item["content"][0]["text"])),
                kind => format!("{kind}:{}", item["call_id"].as_str().unwrap_or_default()),
            };
            system("instructions")
                + &request["input"].as_array().unwrap().iter().map(item).collect::<Vec<_>>().join(" ")
        }
        Wire::Anthropic => {
            let block = |block: &serde_json::Value| match block["type"].as_str().unwrap() {
                "text" => word(&block["text"]),
                "tool_use" => format!("c{}", block["id"].as_str().unwrap()),
                "tool_result" => format!("r{}", block["tool_use_id"].as_str().unwrap()),
                kind => kind.to_owned(),
            };
            let message = |message: &serde_json::Value| {
                let blocks = match &message["content"] {
                    serde_json::Value::Array(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join(","),
                    text => word(text),
                };
                format!("{}({blocks})", &message["role"].as_str().unwrap()[..1])
            };
            system("system")
                + &request["messages"].as_array().unwrap().iter().map(message).collect::<Vec<_>>().join(" ")
        }
        Wire::Gemini => {
            let part = |part: &serde_json::Value| {
                let named = |kind: &str, function: &serde_json::Value| {
                    format!("{kind}{}", function["id"].as_str().unwrap_or(function["name"].as_str().unwrap()))
                };
                match (&part["functionCall"], &part["functionResponse"], &part["thought"]) {
                    (call, _, _) if call.is_object() => named("c", call),
                    (_, response, _) if response.is_object() => named("r", response),
                    (_, _, thought) if thought == true => "thought".to_owned(),
                    _ => word(&part["text"]),
                }
            };
            let content = |content: &serde_json::Value| {
                let parts = content["parts"].as_array().unwrap().iter().map(part).collect::<Vec<_>>().join(",");
                format!("{}({parts})", &content["role"].as_str().unwrap()[..1])
            };
            system("systemInstruction")
                + &request["contents"].as_array().unwrap().iter().map(content).collect::<Vec<_>>().join(" ")
        }
    }
}

#[track_caller]
fn check_view(session: &Session, profile: Wire, expect: &str) {
    let rendered = render(session.view(), profile, None, None);
    assert_eq!(shape(&rendered.json, profile), expect);
    assert_eq!(validate(&rendered.json, profile), []);
}

#[test]
fn repairs() {
    let chat = |line: &str, expect: &str| check_view(&session(line), Wire::OpenaiChat, expect);
    chat("s u c1+2 r2 r1 a", "s(rules) u(ask) a1+2(-) t2(out) t1(out) a(say)");
    chat("u r9 a", "u(ask) a(say)");
    chat("u c1 u a", "u(ask) a1(-) t1([No) u(ask) a(say)");
    chat("u c1+2 r1 u", "u(ask) a1+2(-) t1(out) t2([No) u(ask)");
    chat("u c1", "u(ask) a1(-)");
    chat("u c1+2 r2", "u(ask) a1+2(-) t2(out)");
    chat("u e a e", "u(ask) a(say)");
    chat("s a u", "s(rules) u([The) a(say) u(ask)");
    chat("c1 r1 u", "u([The) a1(-) t1(out) u(ask)");
    chat("u a s u", "u(ask) a(say) s(rules) u(ask)");
    chat("u c1 u c1 r1", "u(ask) a1(-) t1([No) u(ask) a1(-) t1(out)");
    chat("u c1 r1 r1 a", "u(ask) a1(-) t1(out) a(say)");
    chat("s", "s(rules)");
    chat("", "");

    let responses = |line: &str, expect: &str| check_view(&session(line), Wire::OpenaiResponses, expect);
    responses(
        "s u c1+2 r2 r1 a",
        "S u(ask) function_call:1 function_call:2 function_call_output:2 function_call_output:1 a(say)",
    );
    responses("u c1 u", "u(ask) function_call:1 function_call_output:1 u(ask)");
    responses("u c r a", "u(ask) function_call:call function_call_output:call a(say)");
    responses("s s u t", "S d(rules) u(ask) a(say)");

    let gemini = |line: &str, expect: &str| check_view(&session(line), Wire::Gemini, expect);
    gemini("s s u c1+2 r2 r1 u", "S u(ask) m(c1,c2) u(r2,r1) u(ask)");
    gemini("u u a a c1", "u(ask) u(ask) m(say,say,c1)");
    gemini("u c1+2 r1 u", "u(ask) m(c1,c2) u(r1,r2) u(ask)");
    gemini("u c1 s r1", "u(ask) m(c1) u(r1) u(rules)"); // what holds from here on stays here
    gemini("u c r a", "u(ask) m(crun) u(rrun) m(say)");
    gemini("u crun rrun crun rrun a", "u(ask) m(crun) u(rrun) m(crun) u(rrun) m(say)");
    gemini("s", "S u([The)");
    gemini("u t", "u(ask) m(say)"); // reasoning of another provider

    let anthropic = |line: &str, expect: &str| check_view(&session(line), Wire::Anthropic, expect);
    anthropic("s s u c1+2 r2 r1 u", "S u(ask) a(c1,c2) u(r2,r1,ask)");
    anthropic("u u a a", "u(ask,ask) a(say,say)");
    anthropic("u a s a", "u(ask) a(say) u([The) s(rules) a(say)");
    anthropic("u s a u s s u a", "u(ask) s(rules) a(say) u(ask,ask) s(rules,rules) a(say)");
    anthropic("u c1 s r1", "u(ask) a(c1) u(r1) s(rules)"); // the late result stands with its call
    anthropic("u c1 r1 c1 r1 c1 r1", "u(ask) a(c1) u(r1) a(c1_2) u(r1_2) a(c1_3) u(r1_3)");
    anthropic("u c r a", "u(ask) a(ccall) u(rcall) a(say)");
    anthropic("u ca|b+a_b ra_b ra|b", "u(ask) a(ca_b_2,ca_b) u(ra_b,ra_b_2)");
    anthropic("s", "S u([The)");
    anthropic("", "u([The)");
}

#[test]
fn a_step_of_many_calls_is_answered_call_by_call() {
    let count = 1_000;
    let ids = |id: fn(usize) -> usize| (0..count).map(|at| id(at).to_string()).collect::<Vec<_>>();
    let different = ids(|at| at);
    let backwards: Vec<String> = different.iter().rev().map(|id| format!("r{id}")).collect();
    let backwards = session(&format!("u c{} {} u", different.join("+"), backwards.join(" ")));
    let one = session(&format!("u c{} {} u", ids(|_| 7).join("+"), vec!["r7"; count].join(" ")));
    for session in [&backwards, &one] {
        for profile in Wire::ALL {
            let rendered = render(session.view(), profile, None, None);
            assert_eq!(rendered.warnings, [""; 0], "no result is left out");
            assert_eq!(validate(&rendered.json, profile), [], "{profile:?}");
        }
    }
}

#[test]
fn reasoning_stays_only_where_its_signature_holds() {
    let anthropic = |session: &Session, expect: &str| check_view(session, Wire::Anthropic, expect);
    let mut recorded = session("u t u T1 r1 T2 r2");
    anthropic(&recorded, "u(ask) a(thinking,say) u(ask) a(thinking,c1) u(r1) a(thinking,c2) u(r2)");
    let key = recorded.view()[2].key;
    recorded.commit(Epoch::recorded(Trigger::Manual, [key], Vec::new()));
    // Behind the gap it goes, but for the step that is still open.
    anthropic(&recorded, "u(ask) a(thinking,say,c1) u(r1) a(thinking,c2) u(r2)");
}

#[test]
fn values_of_other_dialects() {
    let mut session = session("u");
    let call = |id: &str, arguments: Arguments| {
        Block::new(Content::ToolCall(ToolCall { id: id.into(), name: "f".into(), arguments }))
    };
    let unsigned = Block::new(Content::Thinking(Thinking { text: "hm".into(), signature: None, redacted: false }));
    let opaque = Block::new(Content::Opaque(OpaqueBlock {
        kind: "new".into(),
        json: r#"{"type":"new"}"#.into(),
        dialect: Dialect::Anthropic,
    }));
    let blocks = vec![
        unsigned,
        opaque,
        call("1", Arguments::Text("*** Begin \"x\"".into())),
        call("2", Arguments::Json("[1]".into())),
        call("3", Arguments::Text(" ".into())),
    ];
    session.push(Message::new("", Role::Assistant, Origin::Model, blocks));
    let image = Media { mime: "image/png".into(), source: MediaSource::Base64("AA".into()), ..Media::default() };
    for id in ["1", "2", "3"] {
        let attachments = if id == "2" { vec![image.clone()] } else { vec![] };
        session.push(Message::result(
            "",
            ToolResult { call_id: id.into(), name: None, text: "x".into(), attachments, is_error: id == "1" },
        ));
    }
    let missing = Media { mime: "".into(), source: MediaSource::Missing, ..Media::default() };
    let blocks = [
        image,
        missing,
        Media { mime: "application/pdf".into(), source: MediaSource::Url("https://x".into()), ..Media::default() },
    ];
    session.push(Message::new(
        "",
        Role::User,
        Origin::Typed,
        blocks.map(|media| Block::new(Content::Media(media))).into(),
    ));
    let tools = r#"[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},{"type":"web_search"}]"#;
    let render = |profile: Wire| {
        let rendered = render(session.view(), profile, Some(tools), None);
        assert_eq!(validate(&rendered.json, profile), []);
        rendered
    };
    let rendered = render(Wire::Anthropic);
    for expect in [
        r#""input":{"input":"*** Begin \"x\""}"#,
        r#""input":{"input":[1]}"#,
        r#""input":{}"#,
        r#"{"type":"new"}"#,
        r#"{"type":"tool_result","tool_use_id":"1","content":"x","is_error":true}"#,
        r#""content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]"#,
        r#"{"type":"document","source":{"type":"url","url":"https://x"}}"#,
        r#"{"name":"f","description":"d","input_schema":{"type":"object"}}"#,
    ] {
        assert!(rendered.json.contains(expect), "{expect}\n{}", rendered.json);
    }
    assert_eq!(rendered.warnings.len(), 1, "{:?}", rendered.warnings); // the provider's own tool
    let rendered = render(Wire::OpenaiChat);
    for expect in [
        r#""arguments":"{\"input\":\"*** Begin \\\"x\\\"\"}""#,
        r#""arguments":"{\"input\":[1]}""#,
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}"#,
        "[image: not recorded]",
    ] {
        assert!(rendered.json.contains(expect), "{expect}\n{}", rendered.json);
    }
    // The reasoning, the provider's own tool, and a document by its address.
    assert!(!rendered.json.contains("hm") && rendered.warnings.len() == 3, "{:?}", rendered.warnings);
    let rendered = render(Wire::OpenaiResponses);
    for expect in [
        r#"{"type":"custom_tool_call","call_id":"1","name":"f","input":"*** Begin \"x\""}"#,
        r#"{"type":"custom_tool_call_output","call_id":"1","output":"x"}"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,AA"}"#,
        r#"{"type":"function","name":"f","description":"d","parameters":{"type":"object"}}"#,
    ] {
        assert!(rendered.json.contains(expect), "{expect}\n{}", rendered.json);
    }
}

#[test]
fn images_of_the_last_result_follow_it() {
    let mut session = session("u c1");
    let attachments =
        vec![Media { mime: "image/png".into(), source: MediaSource::Url("https://x".into()), ..Media::default() }];
    let result = ToolResult { call_id: "1".into(), name: None, text: "x".into(), attachments, is_error: false };
    session.push(Message::result("", result));
    check_view(&session, Wire::OpenaiChat, "u(ask) a1(-) t1(x) u(-)");
}

#[test]
fn images_of_an_open_step_wait_for_its_other_results() {
    let mut session = session("u c1+2");
    let result = |id: &str, attachments: Vec<Media>| {
        let result = ToolResult { call_id: id.into(), name: None, text: "x".into(), attachments, is_error: false };
        Message::result("", result)
    };
    let image = Media { mime: "image/png".into(), source: MediaSource::Url("https://x".into()), ..Media::default() };
    session.push(result("1", vec![image]));
    let open = render(session.view(), Wire::OpenaiChat, None, None);
    assert_eq!(shape(&open.json, Wire::OpenaiChat), "u(ask) a1+2(-) t1(x)");
    assert_eq!(open.warnings.len(), 1, "{:?}", open.warnings);
    session.push(result("2", Vec::new()));
    check_view(&session, Wire::OpenaiChat, "u(ask) a1+2(-) t1(x) t2(x) u(-)");
    let closed = render(session.view(), Wire::OpenaiChat, None, None);
    assert!(closed.warnings.is_empty() && closed.json.contains("https://x"), "{closed:?}");
}

#[test]
fn a_providers_own_tool_is_written_as_a_function_once_its_output_was_edited() {
    let input = r#"[{"type":"message","role":"user","content":"hi"},{"type":"tool_search_call","call_id":"s","arguments":{"query":"x"}},{"type":"tool_search_output","call_id":"s","tools":[{"name":"a long definition"}]}]"#;
    let loaded = load(input);
    let source = Source::new(&loaded, 0).unwrap();
    let mut session = loaded.sessions[0].session.clone();
    let check = |session: &Session, expect: &str| {
        let rendered = render(session.view(), Wire::OpenaiResponses, None, Some(&source));
        assert_eq!(shape(&rendered.json, Wire::OpenaiResponses), expect);
        assert_eq!(validate(&rendered.json, Wire::OpenaiResponses), []);
    };
    check(&session, "u(-) tool_search_call:s tool_search_output:s");
    let excerpt = Excerpt { kept: KeptRanges::default(), marks: vec!["[…]".into()], attachments: None };
    let change = Change::Excerpt { entry: session.view()[2].key, block: 0, excerpt };
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, vec![change], Vec::new()));
    check(&session, "u(-) function_call:s function_call_output:s");
}

#[test]
fn reasoning_goes_to_the_provider_that_made_it_alone() {
    let codex = concat!(
        r#"{"type":"session_meta","payload":{"id":"C"}}"#,
        "\n",
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}"#,
        "\n",
        r#"{"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"ENC"}}"#,
        "\n",
        r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}}"#,
        "\n",
    );
    let anthropic = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SIG"},{"type":"text","text":"x"}]}]"#;
    let chat = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"x","reasoning_content":"deep"}]"#;
    let check = |input: &str, profile: Wire, expect: bool| {
        let loaded = load(input);
        let source = Source::new(&loaded, 0).unwrap();
        let json = render(loaded.sessions[0].session.view(), profile, None, Some(&source)).json;
        assert_eq!(["ENC", "SIG", "deep"].iter().any(|mark| json.contains(mark)), expect, "{profile:?} {json}");
    };
    for (input, own) in [(codex, Wire::OpenaiResponses), (anthropic, Wire::Anthropic), (chat, Wire::OpenaiChat)] {
        for profile in Wire::ALL {
            check(input, profile, profile == own);
        }
    }
}

/// Numbers that look random and are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn hostile(numbers: &mut Numbers) -> Session {
    const IDS: [&str; 7] =
        ["", "1", "2", "a|b", "a_b", "工具", "x1234567890x1234567890x1234567890x1234567890x1234567890x1234567890"];
    const TEXTS: [&str; 5] = ["", " \n", "say", "<system-reminder>r</system-reminder>", "\u{0}\"\\"];
    let mut session = Session::new();
    for _ in 0..numbers.below(14) {
        let id = || Arc::<str>::from(IDS[3]);
        let block = |numbers: &mut Numbers, calls: bool| {
            let text = TEXTS[numbers.below(5)];
            let id = if numbers.below(9) == 0 { id() } else { Arc::from(IDS[numbers.below(7)]) };
            Block::new(match numbers.below(if calls { 8 } else { 4 }) {
                0 => Content::Gone,
                1 => Content::Media(Media {
                    source: [MediaSource::Missing, MediaSource::Base64("AA".into()), MediaSource::Url("u".into())]
                        [numbers.below(3)]
                    .clone(),
                    ..Media::default()
                }),
                2 => Content::Opaque(OpaqueBlock {
                    kind: "k".into(),
                    json: r#"{"type":"text","text":"k"}"#.into(),
                    dialect: Dialect::Pi,
                }),
                3 => Content::Text { text: text.into() },
                4 => Content::Thinking(Thinking {
                    text: text.into(),
                    signature: (numbers.below(2) == 0).then(|| "S".into()),
                    redacted: numbers.below(3) == 0,
                }),
                _ => {
                    let arguments = [
                        Arguments::Json("{\"a\":1}".into()),
                        Arguments::Json("[]".into()),
                        Arguments::Text("{".into()),
                        Arguments::Text("".into()),
                    ][numbers.below(4)]
                    .clone();
                    Content::ToolCall(ToolCall { id, name: "f".into(), arguments })
                }
            })
        };
        let message = match numbers.below(6) {
            0 => Message::text("", Role::System, Origin::Instructions, TEXTS[numbers.below(3)]),
            1 => Message::new(
                "",
                Role::User,
                Origin::Typed,
                (0..numbers.below(3)).map(|_| block(numbers, false)).collect(),
            ),
            2 | 3 => Message::new(
                "",
                Role::Assistant,
                Origin::Model,
                (0..numbers.below(5)).map(|_| block(numbers, true)).collect(),
            ),
            _ => {
                let text = TEXTS[numbers.below(5)].into();
                Message::result(
                    "",
                    ToolResult {
                        call_id: IDS[numbers.below(7)].into(),
                        name: None,
                        text,
                        attachments: vec![],
                        is_error: false,
                    },
                )
            }
        };
        session.push(message);
    }
    for _ in 0..numbers.below(3) {
        let view = session.view().to_vec();
        let mut changes = Vec::new();
        for entry in &view {
            let block = 0;
            match numbers.below(6) {
                0 => changes.push(Change::Remove { entry: entry.key }),
                1 => changes.push(Change::Strip { entry: entry.key, block, mark: None }),
                2 => {
                    let excerpt =
                        Excerpt { kept: KeptRanges::default(), marks: vec!["[…]".into()], attachments: None };
                    changes.push(Change::Excerpt { entry: entry.key, block, excerpt });
                }
                _ => {}
            }
        }
        let message = Arc::new(Message::text("", Role::User, Origin::Summary, "so far"));
        let position = Position::at_end(numbers.below(view.len() + 1) as u32, session.next_epoch(), 0);
        session.commit(Epoch::recorded_edits(
            Trigger::Manual,
            EditKind::Drop,
            changes,
            vec![SyntheticMessage { position, message }],
        ));
    }
    session
}

#[test]
fn whatever_the_view_the_request_is_valid() {
    let mut numbers = Numbers(7);
    for round in 0..6000 {
        let session = hostile(&mut numbers);
        for profile in Wire::ALL {
            let rendered = render(session.view(), profile, None, None);
            let violations = validate(&rendered.json, profile);
            assert_eq!(violations, [], "round {round} {profile:?}\n{}", rendered.json);
            if profile == Wire::Anthropic {
                let request: serde_json::Value = serde_json::from_str(&rendered.json).unwrap();
                let messages = request["messages"].as_array().unwrap();
                assert!(messages.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"]), "{}", rendered.json);
            }
            let open = is_paired(session.view(), Wire::Anthropic);
            assert!(open || !session.view().is_empty());
        }
    }
}
