//! LoCoMo: two people over months, in numbered and dated sittings.

use epitome::session::{Block, Content, Media, MediaSource};
use jiff::civil::DateTime;
use serde_json::Value;

use super::turns::{Named, first_object, id, in_utc, items, list, push, session, str_of, time, turn};
use super::{Question, distinct_turns};

pub(super) fn fits(document: &Value) -> bool {
    let sample = if document.is_array() { first_object(document) } else { Some(document) };
    sample.is_some_and(|sample| {
        let conversation = &sample["conversation"];
        conversation["speaker_a"].is_string() && conversation["speaker_b"].is_string()
    })
}

pub(super) fn read(document: &Value) -> Vec<Named> {
    let read_one = |(number, sample): (usize, &Value)| {
        let name = match str_of(&sample["sample_id"]) {
            "" => number.to_string(),
            id => id.to_owned(),
        };
        let log = of_sample(&name, &sample["conversation"]);
        (name, log)
    };
    list(document).iter().enumerate().map(read_one).collect()
}

/// The questions of each conversation. LoCoMo names the turns of each by their ids; some lists hold several in one string.
pub(super) fn questions(document: &Value, number: usize) -> Vec<Question> {
    let sample = list(document).get(number).unwrap_or(&Value::Null);
    let of = |question: &Value| Question {
        text: str_of(&question["question"]).to_owned(),
        answer: id(&question["answer"]),
        turns: distinct_turns(items(&question["evidence"]).iter().flat_map(|ids| str_of(ids).split([';', ',', ' ']))),
    };
    items(&sample["qa"]).iter().map(of).collect()
}

fn of_sample(name: &str, conversation: &Value) -> epitome::Session {
    let mut log = session(name);
    let first = str_of(&conversation["speaker_a"]);
    for sitting in sittings(conversation) {
        let clock = str_of(&conversation[format!("session_{sitting}_date_time")]);
        let at = parse_spoken(clock).or_else(|| time(clock));
        for said in items(&conversation[format!("session_{sitting}")]) {
            let speaker = str_of(&said["speaker"]);
            let mut message = turn(id(&said["dia_id"]), speaker == first, str_of(&said["text"]));
            message.blocks.extend(image(said));
            message.name = (!speaker.is_empty()).then(|| speaker.into());
            message.timestamp = at;
            push(&mut log, message);
        }
    }
    log
}

/// The time of a text such as `1:56 pm on 8 May, 2023`.
fn parse_spoken(text: &str) -> Option<i64> {
    DateTime::strptime("%I:%M %p on %d %B, %Y", text).ok().and_then(in_utc)
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
    let caption = str_of(&said["blip_caption"]);
    if !caption.is_empty() {
        return Some(Block::text(format!("[image: {caption}]")));
    }
    let url = items(&said["img_url"]).first().and_then(Value::as_str).or_else(|| said["img_url"].as_str())?;
    Some(Block::new(Content::Media(Media { source: MediaSource::Url(url.into()), ..Media::default() })))
}
