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
    assert!(format_of(&gzip[..gzip.len() / 2]).unwrap_err().starts_with("cannot decompress"));
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
    check(b"[{\"role\":\"user\",", "damaged JSON");
    check(b"\x00\xff\xfe", "neither JSON nor UTF-8");
    check(b"{\"x\":1}\n{\"x\":2}\n", "2 JSON lines, first an object with the keys x");
    check(b"[]", "a list of 0");
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
    let error = read(damaged.to_vec(), ReadOptions { strict: true, format: None }).unwrap_err();
    assert!(matches!(error, ReadError::DamagedLine { line: 2, .. }), "{error}");
    // Agents' files are parsed once, and report their damaged lines as well.
    let agent = b"{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n{\"type\":\n";
    let loaded = read(agent.to_vec(), ReadOptions::default()).unwrap();
    assert_eq!((loaded.format, loaded.warnings.len(), loaded.warnings[0].line), (Format::ClaudeCode, 1, Some(2)));
    assert!(read(agent.to_vec(), ReadOptions { strict: true, format: None }).is_err());
}

#[test]
fn a_named_format_is_the_only_one_tried() {
    let check = |format: Format, input: &str, works: bool| {
        let read = read(input.as_bytes().to_vec(), ReadOptions { format: Some(format), strict: false });
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
