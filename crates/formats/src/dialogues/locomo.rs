//! LoCoMo: two people over months, in numbered and dated sittings.

use epitome_session::{Block, Content, Media, MediaSource};
use serde_json::Value;

use super::turn;
use crate::agents::fields::{first_object, id, items, non_empty_str};
use crate::agents::log::{Log, gather};
use crate::agents::time::{parse_iso, parse_spoken};
use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::Probe;
use crate::loaded::LoadedSession;
use crate::reader::FormatReader;

pub(super) const READER: FormatReader = FormatReader { format: Format::Locomo, fits, read };

fn fits(probe: &Probe<'_>) -> bool {
    let document = &probe.document;
    let sample = if document.is_array() { first_object(document) } else { Some(document) };
    sample.is_some_and(|sample| {
        let conversation = &sample["conversation"];
        conversation["speaker_a"].is_string() && conversation["speaker_b"].is_string()
    })
}

fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
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
    let mut log = Log::new(name);
    let first = conversation["speaker_a"].as_str().unwrap_or("");
    for sitting in sittings(conversation) {
        let time = conversation[format!("session_{sitting}_date_time")].as_str().unwrap_or("");
        let time = parse_spoken(time).or_else(|| parse_iso(time));
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
