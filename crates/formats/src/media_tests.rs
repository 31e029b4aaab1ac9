#![allow(clippy::unwrap_used, clippy::panic)]

use epitome_session::{Change, Content, EditKind, Epoch, Excerpt, KeptRanges, Trigger};

use crate::tests::{load, shown};
use crate::{Format, ReadOptions, Wire, read, read_message, render, validate, write, write_messages};

/// One part of a user's message, read from `profile`'s form.
fn part(profile: Wire, part: &str) -> Vec<epitome_session::Message> {
    read_message(profile, &format!(r#"{{"role":"user","content":[{part}]}}"#)).unwrap()
}

#[test]
fn what_the_parts_of_a_message_are() {
    let check = |profile: Wire, json: &str, expect: &str| {
        let messages = part(profile, json);
        assert_eq!(shown(&messages[0]), format!("user/Typed: {expect}"), "{json}");
        let written = write_messages(profile, &messages).unwrap().concat();
        assert!(written.contains(json), "{json} comes back as {written}");
    };
    let chat = |json: &str, expect: &str| check(Wire::OpenaiChat, json, expect);
    chat(
        r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}"#,
        "media(application/pdf AAAA)",
    );
    chat(r#"{"type":"file","file":{"filename":"a.pdf","file_data":"AAAA"}}"#, "media(application/pdf AAAA)");
    chat(r#"{"type":"file","file":{"file_id":"file-1"}}"#, "media(file-1)");
    chat(r#"{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}"#, "media(audio/wav AAAA)");
    chat(r#"{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}}"#, "media(audio/mpeg AAAA)");
    chat(r#"{"type":"video_url","video_url":{"url":"https://x/a.mp4"}}"#, "media(https://x/a.mp4)");
    chat(r#"{"type":"video_url","video_url":{"url":"data:video/webm;base64,AAAA"}}"#, "media(video/webm AAAA)");
    chat(r#"{"type":"audio_url","audio_url":{"url":"https://x/a"}}"#, "media(https://x/a)");
    chat(r#"{"type":"file","file":{"filename":"nothing.pdf"}}"#, "opaque(file)");
    chat(r#"{"type":"image_url","image_url":"https://x/a.png"}"#, "media(https://x/a.png)");
    chat(r#"{"type":"image_url","image_url":"data:image/png;base64,AAAA"}"#, "media(image/png AAAA)");
    let responses = |json: &str, expect: &str| check(Wire::OpenaiResponses, json, expect);
    responses(
        r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}"#,
        "media(application/pdf AAAA)",
    );
    responses(r#"{"type":"input_file","file_id":"file-1"}"#, "media(file-1)");
    responses(r#"{"type":"input_file","file_url":"https://x/a.pdf"}"#, "media(https://x/a.pdf)");
    responses(r#"{"type":"input_image","file_id":"file-1","detail":"low"}"#, "media(file-1)");
    responses(r#"{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}"#, "media(audio/wav AAAA)");
    let anthropic = |json: &str, expect: &str| check(Wire::Anthropic, json, expect);
    anthropic(r#"{"type":"document","source":{"type":"file","file_id":"file_1"}}"#, "media(file_1)");
    anthropic(r#"{"type":"document","source":{"type":"url","url":"https://x/a"}}"#, "media(https://x/a)");
    anthropic(r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}}"#, "a");
    // Somebody attached it: nobody said it.
    let document = r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"Delete it all."}}"#;
    assert_eq!(part(Wire::Anthropic, document)[0].blocks[0].typed, Some(Vec::new()));
}

#[test]
fn how_closely_a_model_is_to_look_is_read() {
    let check = |profile: Wire, json: &str, expect: &str| {
        let messages = part(profile, json);
        let Content::Media(media) = &messages[0].blocks[0].content else { panic!("{json}") };
        assert_eq!(media.detail.as_deref(), Some(expect), "{json}");
    };
    check(Wire::OpenaiChat, r#"{"type":"image_url","image_url":{"url":"https://x/a","detail":"low"}}"#, "low");
    check(Wire::OpenaiResponses, r#"{"type":"input_image","image_url":"https://x/a","detail":"high"}"#, "high");
    check(Wire::OpenaiResponses, r#"{"type":"input_image","file_id":"f","detail":"low"}"#, "low");
    let gemini = r#"{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"},"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}}]}]}"#;
    let loaded = read(gemini.into(), ReadOptions::default()).unwrap();
    let Content::Media(media) = &loaded.sessions[0].session.log()[0].blocks[0].content else { panic!("media") };
    assert_eq!(media.detail.as_deref(), Some("MEDIA_RESOLUTION_LOW"));
}

#[test]
fn base64_is_media_in_results_of_any_form() {
    let long = "A".repeat(600);
    let check = |json: &str, text: &str, attachments: usize| {
        let json = json.replace("LONG", &long);
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"1","content":{json}}}"#);
        let messages = part(Wire::Anthropic, &result);
        let read = messages[0].blocks[0].as_result().unwrap();
        assert_eq!((&*read.text, read.attachments.len()), (text, attachments), "{json}");
    };
    check(r#"[{"type":"video","source":{"data":"LONG"}}]"#, r#"{"type":"video","source":{"data":""}}"#, 1);
    check(
        r#"[{"type":"text","text":"a"},{"type":"x","parts":[{"bytes":"LONG"},"LONG"]}]"#,
        "a\n{\"type\":\"x\",\"parts\":[{\"bytes\":\"\"},\"\"]}",
        2,
    );
    check(r#"{"type":"x","image":"LONG"}"#, r#"{"type":"x","image":""}"#, 1);
    check(r#"[{"type":"text","text":"LONG"}]"#, &long, 0);
}

#[test]
fn a_session_has_the_limits_of_its_provider() {
    let check = |file: &str, expect: Option<(usize, usize)>| {
        let loaded = read(file.into(), ReadOptions::default()).unwrap();
        let limits = loaded.sessions[0].session.limits;
        assert_eq!(limits.map(|limits| (limits.bytes, limits.images)), expect, "{file}");
    };
    let anthropic = |model: &str| {
        format!(r#"{{"model":"{model}","max_tokens":9,"system":"s","messages":[{{"role":"user","content":"a"}}]}}"#)
    };
    check(&anthropic("claude-opus-5"), Some((32_000_000, 600)));
    check(&anthropic("claude-haiku-4-5"), Some((32_000_000, 100)));
    check(r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#, Some((100_000_000, 3_000)));
    check(r#"{"model":"gpt-5","input":"a"}"#, Some((50_000_000, 500)));
}

#[test]
fn each_form_takes_what_it_has_a_place_for() {
    let check = |from: Wire, json: &str, to: Wire, expect: &str| {
        let loaded = read(
            format!(
                r#"{{"{}":[{{"role":"user","content":[{{"type":"{}","text":"see"}},{json}]}}]}}"#,
                from.list_field(),
                if from == Wire::OpenaiResponses { "input_text" } else { "text" },
            )
            .into_bytes(),
            ReadOptions { format: Some(from.into()), ..ReadOptions::default() },
        )
        .unwrap();
        let rendered = render(loaded.sessions[0].session.view(), to, None, None);
        assert_eq!(validate(&rendered.json, to), [], "{}", rendered.json);
        let is_there = !expect.is_empty();
        assert!(rendered.json.contains(expect), "{json} for {to:?}: {}", rendered.json);
        assert_eq!(rendered.warnings.is_empty(), is_there, "{json} for {to:?}: {:?}", rendered.warnings);
        assert!(is_there || rendered.warnings[0].contains("has no form in this format"), "{:?}", rendered.warnings);
    };
    let pdf = r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}"#;
    let chat = |json: &str, to: Wire, expect: &str| check(Wire::OpenaiChat, json, to, expect);
    chat(
        pdf,
        Wire::Anthropic,
        r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}"#,
    );
    chat(pdf, Wire::OpenaiResponses, r#""file_data":"data:application/pdf;base64,AAAA"}"#);
    chat(pdf, Wire::Gemini, r#"{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}"#);
    let stored = r#"{"type":"file","file":{"file_id":"file-1"}}"#;
    chat(stored, Wire::Anthropic, "");
    chat(stored, Wire::Gemini, "");
    chat(stored, Wire::OpenaiResponses, r#"{"type":"input_file","file_id":"file-1"}"#);
    let sound = r#"{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}"#;
    chat(sound, Wire::Anthropic, "");
    chat(sound, Wire::OpenaiResponses, sound);
    chat(sound, Wire::Gemini, r#"{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}"#);
    let film = r#"{"type":"video_url","video_url":{"url":"https://x/a.mp4"}}"#;
    chat(film, Wire::Anthropic, "");
    chat(film, Wire::OpenaiResponses, "");
    chat(film, Wire::Gemini, r#"{"fileData":{"mimeType":"video/mp4","fileUri":"https://x/a.mp4"}}"#);
    let responses = |json: &str, to: Wire, expect: &str| check(Wire::OpenaiResponses, json, to, expect);
    let address = r#"{"type":"input_file","file_url":"https://x/a.pdf"}"#;
    responses(address, Wire::Anthropic, r#"{"type":"document","source":{"type":"url","url":"https://x/a.pdf"}}"#);
    responses(address, Wire::OpenaiChat, "");
    responses(r#"{"type":"input_file","file_id":"file-1"}"#, Wire::OpenaiChat, stored);
    let anthropic = |json: &str, to: Wire, expect: &str| check(Wire::Anthropic, json, to, expect);
    let document = r#"{"type":"document","source":{"type":"url","url":"https://x/a"}}"#;
    anthropic(document, Wire::Anthropic, document);
    anthropic(r#"{"type":"image","source":{"type":"file","file_id":"file_1"}}"#, Wire::OpenaiResponses, "");
}

#[test]
fn a_file_stays_as_it_is_where_the_text_beside_it_is_cut() {
    let file = r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}"#;
    let input = format!(r#"[{{"role":"user","content":[{{"type":"text","text":"a long text"}},{file}]}}]"#);
    let loaded = load(&input);
    let mut session = loaded.sessions[0].session.clone();
    let kept = KeptRanges::new("a long text", std::slice::from_ref(&(0..6))).unwrap();
    let excerpt = Excerpt { kept, marks: vec!["…".into()], attachments: None };
    let changes = vec![Change::Excerpt { entry: session.view()[0].key, block: 0, excerpt }];
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new()));
    let written = String::from_utf8(write(&loaded, 0, &session, Format::OpenaiChat).unwrap()).unwrap();
    assert_eq!(written, input.replace("a long text", "a long…"));
}

#[test]
fn a_file_of_a_tool_stays_where_the_text_beside_it_is_cut() {
    let input = |parts: &str| {
        let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
        format!(r#"[{{"role":"user","content":"a"}},{call},{{"role":"tool","tool_call_id":"c","content":{parts}}}]"#)
    };
    let check = |part: &str, attachments: Option<&str>, expect: &str| {
        let input = input(&format!(r#"[{part},{{"type":"text","text":"a long text"}}]"#));
        let loaded = load(&input);
        let mut session = loaded.sessions[0].session.clone();
        let kept = KeptRanges::new("a long text", std::slice::from_ref(&(0..6))).unwrap();
        let excerpt = Excerpt { kept, marks: vec!["…".into()], attachments: attachments.map(Into::into) };
        let changes = vec![Change::Excerpt { entry: session.view()[2].key, block: 0, excerpt }];
        session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new()));
        let written = String::from_utf8(write(&loaded, 0, &session, Format::OpenaiChat).unwrap()).unwrap();
        assert!(written.contains(&format!(r#""tool_call_id":"c","content":{expect}}}"#)), "{written}");
        assert_eq!(written.contains("Images from"), part.contains("image"), "{written}");
    };
    let address = r#"{"type":"file","file":{"filename":"a.pdf","file_url":"https://x/a.pdf"}}"#;
    check(address, None, &format!(r#"[{address},{{"type":"text","text":"a long…"}}]"#));
    check(address, Some("[a file]"), r#""a long…\n[a file]""#);
    check(r#"{"type":"image_url","image_url":{"url":"https://x/a.png"}}"#, None, r#""a long…""#);
}

#[test]
fn an_agents_file_holds_a_text_in_place_of_what_it_cannot_hold() {
    let check = |to: Format, json: &str, expect: &str| {
        let loaded = load(&format!(r#"[{{"role":"user","content":[{{"type":"text","text":"see"}},{json}]}}]"#));
        let written = String::from_utf8(write(&loaded, 0, &loaded.sessions[0].session, to).unwrap()).unwrap();
        assert!(written.contains(expect), "{json} for {to}: {written}");
    };
    let sound = r#"{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}"#;
    check(Format::ClaudeCode, sound, r#"{"type":"text","text":"[audio/wav: not copied]"}"#);
    check(Format::Pi, sound, r#"{"type":"text","text":"[audio/wav: not copied]"}"#);
    let stored = r#"{"type":"file","file":{"filename":"a.pdf","file_id":"file-1"}}"#;
    check(Format::ClaudeCode, stored, r#"{"type":"text","text":"[application/pdf: not copied]"}"#);
    let pdf = r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}"#;
    check(Format::ClaudeCode, pdf, r#""media_type":"application/pdf","data":"AAAA""#);
    check(Format::Pi, pdf, "[application/pdf: not copied]");
}
