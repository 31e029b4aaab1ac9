//! What every target asks of a reader: no panic, and a session that holds together.

use epitome_formats::{Format, ReadOptions, read};

/// Reads `content`, as `format` where one is given, leniently and strictly.
pub fn check(content: &[u8], format: Option<Format>) {
    for strict in [false, true] {
        let Ok(loaded) = read(content.to_vec(), ReadOptions { format, strict, ..ReadOptions::default() }) else {
            continue;
        };
        assert!(!loaded.sessions.is_empty(), "success means at least one session");
        for one in &loaded.sessions {
            let session = &one.session;
            assert!(session.full_view().len() == session.log().len(), "the full view holds every message");
            for message in session.log() {
                for call in &message.text_calls {
                    let text = message.blocks[call.block as usize].excerptable().expect("a text holds the call");
                    let _ = &text[call.start as usize..call.end as usize];
                }
                for record in &message.records {
                    let _ = &loaded.bytes[one.records[*record as usize].clone()];
                }
            }
            for epoch in session.journal() {
                for change in epoch.changes() {
                    let _ = change.entry();
                }
            }
        }
    }
}

/// The first byte picks one of `formats`, the others are the content: recognition is left out, so that a reader also
/// meets what it would never be given on its own.
#[allow(dead_code)]
pub fn check_as(data: &[u8], formats: &[Format]) {
    if let Some((first, content)) = data.split_first() {
        check(content, Some(formats[usize::from(*first) % formats.len()]));
    }
}
