//! LoCoMo: two people over months, in numbered and dated sittings.

use epitome_session::{Block, Content, Media, MediaSource};
use jiff::civil::DateTime;
use serde_json::Value;

use super::sets::turn;
use crate::json::value::{first_object, id, items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::session_builder::{SessionBuilder, gather};
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let document = &probe.document;
    let sample = if document.is_array() { first_object(document) } else { Some(document) };
    sample.is_some_and(|sample| {
        let conversation = &sample["conversation"];
        conversation["speaker_a"].is_string() && conversation["speaker_b"].is_string()
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let samples = match &probe.document {
        Value::Array(samples) => samples,
        single => std::slice::from_ref(single),
    };
    let sessions = samples.iter().enumerate().map(|(number, sample)| {
        let name = non_empty_str(&sample["sample_id"]).map_or_else(|| number.to_string(), str::to_owned);
        (name.clone(), session(&name, &sample["conversation"]))
    });
    gather(Format::Locomo, sessions, warnings)
}

fn session(name: &str, conversation: &Value) -> Option<LoadedSession> {
    let mut log = SessionBuilder::new(name);
    let first = conversation["speaker_a"].as_str().unwrap_or("");
    for sitting in sittings(conversation) {
        let time = conversation[format!("session_{sitting}_date_time")].as_str().unwrap_or("");
        let time = parse_spoken(time).or_else(|| time::parse(time));
        for said in items(&conversation[format!("session_{sitting}")]) {
            let speaker = said["speaker"].as_str().unwrap_or("");
            let mut message = turn(id(&said["dia_id"]), speaker == first, said["text"].as_str().unwrap_or(""));
            message.blocks.extend(image(said));
            message.name = (!speaker.is_empty()).then(|| speaker.into());
            message.timestamp = time;
            log.push(message);
        }
    }
    log.finish(name)
}

/// The time of a text such as `1:56 pm on 8 May, 2023`.
fn parse_spoken(text: &str) -> Option<i64> {
    DateTime::strptime("%I:%M %p on %d %B, %Y", text).ok().and_then(time::in_utc)
}

/// The numbers of the sittings, in order; some numbers may be missing.
fn sittings(conversation: &Value) -> Vec<u32> {
    let keys = conversation.as_object().into_iter().flatten().map(|(key, _)| key);
    let mut numbers: Vec<u32> = keys.filter_map(|key| key.strip_prefix("session_")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// A shared picture: its caption where there is one, as the set's own questions rest on that.
fn image(said: &Value) -> Option<Block> {
    if let Some(caption) = non_empty_str(&said["blip_caption"]) {
        return Some(Block::text(format!("[image: {caption}]")));
    }
    let url = items(&said["img_url"]).first().and_then(Value::as_str).or_else(|| said["img_url"].as_str())?;
    Some(Block::new(Content::Media(Media { mime: "".into(), source: MediaSource::Url(url.into()) })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spoken_times() {
        let check = |text: &str, expect: &str| assert_eq!(parse_spoken(text), time::parse(expect), "{text}");
        check("1:56 pm on 8 May, 2023", "2023-05-08T13:56Z");
        check("12:09 am on 13 September, 2023", "2023-09-13T00:09Z");
        check("13:00 pm on 8 May, 2023", "none");
        check("1:56 pm on 8 Mayhem", "none");
        check("yesterday", "none");
    }
}
