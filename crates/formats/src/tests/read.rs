#![allow(clippy::unwrap_used)]
use std::io::Write as _;

use super::*;

const CHAT: &str = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;

fn format_of(input: &[u8]) -> Result<Format, String> {
    read(input.to_vec(), ReadOptions::default()).map(|loaded| loaded.format).map_err(|error| error.to_string())
}

#[test]
fn compressed_input_is_decompressed() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(CHAT.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let loaded = read(gzip.clone(), ReadOptions::default()).unwrap();
    assert!(loaded.gzip && *loaded.bytes == *CHAT.as_bytes());
    assert!(
        format_of(&gzip[..gzip.len() / 2])
            .unwrap_err()
            .starts_with("cannot decompress: the gzip data ends too early, after ")
    );
    let mut damaged = gzip.clone();
    damaged[gzip.len() - 8] ^= 0xff;
    let expect = format!("cannot decompress: the gzip data is damaged after {} bytes", CHAT.len());
    let error = format_of(&damaged).unwrap_err();
    assert!(error.starts_with(&expect), "{error}");
}

#[test]
fn unreadable_input_is_named() {
    let check = |input: &[u8], expect: &str| {
        let error = format_of(input).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check(b"", "the input is empty");
    check(b" \n\t", "the input is empty");
    check(b"{\"a\":1, \"b\":[]}", "an object with the keys a, b");
    check(b"[1,2]", "a JSON list of 2, first a bare value");
    check(b"\x00\xff\xfe", "neither JSON nor UTF-8");
    check(b"{\"x\":1}\n{\"x\":2}\n", "2 JSON lines, first an object with the keys x");
    for empty in [
        "[]",
        "{\"messages\":[]}",
        "{\"model\":\"m\",\"input\":[]}",
        "[{\"messages\":[]}]",
        "{\"messages\":[]}\n{\"messages\":[]}\n",
    ] {
        check(empty.as_bytes(), "the session holds no messages");
    }
}

#[test]
fn damaged_documents_say_what_and_where() {
    let check = |input: &[u8], expect: &str| {
        for format in [None, Some(Format::Codex), Some(Format::OpenaiChat)] {
            let error = read(input.to_vec(), ReadOptions { format, strict: false, ..ReadOptions::default() })
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(&format!("damaged JSON at {expect}")), "{error}");
        }
    };
    let pretty = |text: &[u8]| {
        let head =
            b"{\n \"messages\":[\n  {\"role\":\"user\",\"content\":\"hi\"},\n  {\"role\":\"assistant\",\"content\":\"";
        [head, text, b"\"}\n ]\n}\n"].concat()
    };
    check(&pretty(b"h\xffi"), "line 4, column 35: not UTF-8 (byte 84 is 0xff); save");
    // Columns are characters, not bytes.
    check(&pretty("hü\u{4e16}".as_bytes().split_last().unwrap().1), "line 4, column 36: not UTF-8 (byte 86 is 0xe4)");
    check(b"{\"messages\":[{\"content\":\"\xff\"}]}", "line 1, column 26: not UTF-8");
    // The line before is a JSON object, and still none of JSON lines.
    check(b"[\n{\"role\":\"\xff\"},\n{\"role\":\"user\",\"content\":\"a\"}\n]", "line 2, column 10: not UTF-8");
    check(
        b"[\n{\"role\":nul},\n{\"role\":\"user\",\"content\":\"a\"}\n]",
        "line 2, column 12: expected ident; correct it",
    );
    let whole = pretty(b"hello");
    check(&whole[..86], "line 4, column 36: it ends too early, within a string; the file was cut off");
    check(&whole[..whole.len() - 3], "line 5, column 2: it ends too early, within an object");
    check(b"{\n", "line 2, column 1: it ends too early, within an object");
    check("{\"ü\":\"ü\" 1}".as_bytes(), "line 1, column 10: expected `,` or `}`");
}

#[test]
fn numbers_and_depths_beyond_a_value() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    // Requests are read from their text.
    let check = |input: &str, expect: Format, length: usize| {
        let loaded = read(input.as_bytes().to_vec(), ReadOptions::default()).unwrap();
        assert_eq!((loaded.format, loaded.sessions[0].session.log().len()), (expect, length));
        assert_eq!(loaded.warnings, []);
    };
    check(r#"[{"role":"user","content":"hi","x":1e999}]"#, Format::OpenaiChat, 1);
    check(
        &format!(r#"{{"messages":[{{"role":"user","content":"hi","x":{}}}]}}"#, deep(100_000)),
        Format::OpenaiChat,
        1,
    );
    let call = format!(
        r#"[{{"role":"user","content":"hi"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"1","name":"n","input":{{"a":{}}}}}]}}]"#,
        deep(200)
    );
    check(&call, Format::Anthropic, 2);
    check(&call.replace("{\"role\":\"user\"", r#"{"half":"\ud800","role":"user""#), Format::Anthropic, 2);
    // What else there is would lose the part.
    let check = |input: &str, format: Option<Format>, expect: &str| {
        let error = read(input.as_bytes().to_vec(), ReadOptions { format, strict: false, ..ReadOptions::default() })
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(&format!("damaged JSON at {expect}")), "{error}");
    };
    check("{\n\"x\": 1e999}", None, "line 2, column 10: number out of range");
    check("{\n\"x\": 1e999}", Some(Format::Cline), "line 2, column 10: number out of range");
    check("\n{\"x\":1e999}\n{\"x\":1e999}", None, "line 2, column 10: number out of range");
    let nested = format!("{}{}", "{\"messages\":[".repeat(100_000), "]}".repeat(100_000));
    check(&nested, None, "line 1, column 832: nested deeper than 128 levels; flatten");
    check(&nested[..1_300_000], None, "line 1, column 1300000: it ends too early, within a list");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_content() {
    assert_eq!(format_of(format!("\u{feff}{CHAT}").as_bytes()), Ok(Format::OpenaiChat));
}

#[test]
fn damaged_lines_are_passed_over_or_refused() {
    let damaged = b"{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assis\n\xff\xfe\n{\"role\":\"assistant\",\"content\":\"x\"}\n";
    let loaded = read(damaged.to_vec(), ReadOptions::default()).unwrap();
    let lines: Vec<Option<usize>> = loaded.warnings.iter().map(|warning| warning.line).collect();
    assert_eq!(lines, [Some(2), Some(3)]);
    assert_eq!(loaded.sessions[0].session.log().len(), 2);
    let error =
        read(damaged.to_vec(), ReadOptions { strict: true, format: None, ..ReadOptions::default() }).unwrap_err();
    assert!(matches!(error, ReadError::DamagedLine { line: 2, .. }), "{error}");
    // Agents' files are parsed once, and report their damaged lines as well.
    let agent = b"{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n{\"type\":\n";
    let loaded = read(agent.to_vec(), ReadOptions::default()).unwrap();
    assert_eq!((loaded.format, loaded.warnings.len(), loaded.warnings[0].line), (Format::ClaudeCode, 1, Some(2)));
    assert!(read(agent.to_vec(), ReadOptions { strict: true, format: None, ..ReadOptions::default() }).is_err());
}

#[test]
fn decompressing_ends_where_too_much_comes_out() {
    let gzip = |content: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    };
    let check = |compressed: &[u8], most: usize, expect: Option<usize>| {
        let given = decompress(compressed, most);
        assert_eq!(given.as_ref().ok().map(Vec::len), expect);
        assert!(expect.is_some() || matches!(given, Err(ReadError::TooLarge { most: of }) if of == most));
    };
    let zeros = gzip(&[b'0'; 1_000_000]);
    assert!(zeros.len() < 2_000);
    check(&zeros, 1_000_000, Some(1_000_000));
    check(&zeros, 999_999, None);
    check(&[zeros.clone(), zeros.clone()].concat(), 1_999_999, None);
    check(&[zeros.clone(), zeros].concat(), 2_000_000, Some(2_000_000));
}

#[test]
fn what_reads_as_nothing_is_told() {
    let check = |content: &str, messages: usize, expect: &[&str]| {
        let loaded = read(content.as_bytes().to_vec(), ReadOptions::default()).unwrap();
        assert_eq!(loaded.sessions[0].session.log().len(), messages);
        let told: Vec<String> = loaded.warnings.into_iter().map(|warning| warning.message).collect();
        assert_eq!(told, expect, "{content}");
    };
    let nothing = |format: &str| {
        format!("no message was found in it: it reads as a session of {format} that nobody has spoken in")
    };
    let claude = |kind: &str, uuid: &str, text: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"parentUuid\":null,\"sessionId\":\"S\",\"uuid\":\"{uuid}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    check(&claude("user", "1", "a"), 1, &[]);
    check(&[claude("user", "1", "a"), claude("user", "1", "a"), claude("user", "2", "b")].concat(), 2, &[]);
    let passed_over = |count: u32| {
        format!(
            "passed over: {count} of the messages from here on have the uuid of an earlier record, and are not copies of it"
        )
    };
    let equal = [claude("system", "1", "x"), claude("user", "1", "a"), claude("user", "1", "b")].concat();
    check(&equal, 0, &[&passed_over(2), &nothing("claude-code")]);
    check(&[claude("user", "1", "a"), claude("user", "1", "b")].concat(), 1, &[&passed_over(1)]);
    check("{\"type\":\"session_meta\",\"payload\":{\"id\":\"C\"}}\n", 0, &[&nothing("codex")]);
    check("{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n", 0, &[&nothing("pi")]);
}

#[test]
fn a_named_format_is_the_only_one_tried() {
    let check = |format: Format, input: &str, works: bool| {
        let read = read(
            input.as_bytes().to_vec(),
            ReadOptions { format: Some(format), strict: false, ..ReadOptions::default() },
        );
        assert_eq!(read.is_ok(), works, "{format}: {:?}", read.err());
        if let Ok(loaded) = read {
            assert_eq!(loaded.format, format);
        }
    };
    check(Format::Anthropic, CHAT, true);
    check(Format::OpenaiChat, CHAT, true);
    for format in [Format::ClaudeCode, Format::Codex, Format::Pi] {
        check(format, CHAT, false);
        check(format, "{\"a\":1}\n{\"b\":2}\n", false);
        check(format, "some text", false);
    }
    for format in [Format::OpenaiChat, Format::OpenaiResponses, Format::Anthropic] {
        check(format, "some text", false);
        check(format, "{\"a\":", false);
    }
    check(Format::OpenaiChat, "{\"messages\":[{\"a\":1}]}", false);
    check(Format::Anthropic, "{\"messages\":[3]}", false);
}

#[test]
fn messages_that_are_checked_have_each_to_be_one() {
    let check = |json: &str, expect: &str| {
        let found = read(json.as_bytes().to_vec(), ReadOptions { checked: true, ..ReadOptions::default() });
        assert_eq!(found.map(|_| ()).map_err(|error| error.to_string()).err().unwrap_or_default(), expect, "{json}");
    };
    let user = r#"{"role":"user","content":"hi"}"#;
    let content = "`content`: a text or a list of parts is expected, and this is a number";
    check(CHAT, "");
    check(&format!("{user}\n{user}"), "");
    check(
        &format!(r#"[{user},{{"role":"user","content":5}}]"#),
        &format!("message 1 is none of openai-chat: {content}"),
    );
    check(
        &format!(r#"{{"system":"x","messages":[{{"role":"user","content":5}},{user}]}}"#),
        &format!("message 0 is none of anthropic: {content}"),
    );
    check(r#"{"role":"user","content":5}"#, &format!("message 0 is none of openai-chat: {content}"));
    check(r#"["hi"]"#, "message 0 is none of openai-chat: a message is an object, and this is a text");
    check(r#"{"model":"m","input":"hi"}"#, "");
    check(r#"{"a":1}"#, "this is not a session in a known format (JSON: an object with the keys a)");
    check("[]", "the session holds no messages: its list is empty; give a session with at least one message");
    // A recording of an agent holds what its agent writes.
    check(
        "{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n{\"type\":5}",
        "",
    );
}
