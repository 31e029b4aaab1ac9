//! A provider's request in place of the one that was read.

use super::WriteError;
use super::rows::rows;
use super::target::Target;
use crate::gemini;
use crate::input::{self, Shape};
use crate::json::quote;
use crate::render::{self, RequestItem, RequestParts, Wire};
use crate::requests;
use crate::requests::envelope::{Envelope, envelopes};
use crate::{Format, LoadedFile};

pub(crate) fn write(target: &Target<'_>, profile: Wire) -> Vec<u8> {
    let bytes = &*target.loaded.bytes;
    let shape = shape(target.loaded);
    let mut found = shape.map(|shape| envelopes(&shape, requests::keys(Format::from(profile)))).unwrap_or_default();
    let whole = found.len() == 1;
    let view = target.session.view();
    // Some recordings are in this format in their messages only.
    let in_place = found.len() == target.loaded.sessions.len();
    if target.is_unchanged() && render::is_paired(view, profile) {
        match found.get(target.index) {
            Some(envelope) if in_place && !whole => return [&bytes[envelope.span.clone()], b"\n"].concat(),
            _ if target.loaded.sessions.len() == 1 => return bytes.to_vec(),
            _ => {}
        }
    }
    if !in_place {
        return render::render(view, profile, target.session.tools.as_deref(), Some(target.source)).json.into_bytes();
    }
    let parts = render::parts(view, profile, Some(target.source));
    let envelope = found.swap_remove(target.index);
    let mut out = Vec::with_capacity(envelope.span.len());
    match &envelope.list {
        Some(list) => {
            let (lead, tail) = if whole { (0, bytes.len()) } else { (envelope.span.start, envelope.span.end) };
            let extra = missing_system(&envelope, &parts, profile);
            match (&envelope.wrapper, extra) {
                (Some(_), Some((name, system))) => {
                    // The new field goes first in the object.
                    let open = envelope.span.start + 1;
                    out.extend_from_slice(&bytes[lead..open]);
                    out.extend_from_slice(format!("{}:{system},", quote(name)).as_bytes());
                    out.extend_from_slice(&bytes[open..list.start]);
                }
                (None, Some((name, system))) => {
                    out.extend_from_slice(&bytes[lead..list.start]);
                    out.extend_from_slice(
                        format!("{{{}:{system},{}:", quote(name), quote(profile.list_field())).as_bytes(),
                    );
                }
                (_, None) => out.extend_from_slice(&bytes[lead..list.start]),
            }
            out.extend(listed(&parts, &envelope, target));
            if envelope.wrapper.is_none() && extra.is_some() {
                out.push(b'}');
            }
            out.extend_from_slice(&bytes[list.end..tail]);
            if !whole {
                out.push(b'\n');
            }
        }
        None => {
            for part in &parts.items {
                out.extend_from_slice(part.json.as_bytes());
                out.push(b'\n');
            }
        }
    }
    out
}

/// Writes the rows of a request in place of those that were read.
pub(crate) fn write_rows(target: &Target<'_>, profile: Wire) -> Result<Vec<u8>, WriteError> {
    let bytes = &*target.loaded.bytes;
    if target.is_unchanged() {
        return Ok(bytes.to_vec());
    }
    let not_writable = || WriteError::NotWritable(Format::from(profile));
    let shape = shape(target.loaded).ok_or_else(not_writable)?;
    let found = envelopes(&shape, requests::keys(Format::from(profile)));
    let [envelope] = &found[..] else { return Err(not_writable()) };
    let Some(list) = &envelope.list else { return Err(not_writable()) };
    let items = rows(target, profile, &envelope.items)?;
    let parts = RequestParts { items, ..RequestParts::default() };
    Ok([&bytes[..list.start], &listed(&parts, envelope, target), &bytes[list.end..]].concat())
}

/// The shape of the file, as it was found when it was read; `None` where it has none.
fn shape(loaded: &LoadedFile) -> Option<Shape<'_>> {
    if loaded.is_document {
        return std::str::from_utf8(&loaded.bytes).ok().map(Shape::Document);
    }
    input::split(&loaded.bytes).ok()
}

/// The system prompt where it must stand beside the messages and the request has no place for it yet.
fn missing_system<'p>(
    envelope: &Envelope<'_>,
    parts: &'p RequestParts,
    profile: Wire,
) -> Option<(&'static str, &'p str)> {
    let name = profile.system_field()?;
    let is_there = |name: &str| envelope.wrapper.as_ref().is_some_and(|wrapper| wrapper.get(name).is_some());
    let has_place = is_there(name) || (profile == Wire::Gemini && is_there(gemini::SYSTEM_IN_SNAKE_CASE));
    parts.system.as_deref().filter(|_| !has_place).map(|system| (name, system))
}

/// The list of messages with the white space of the one that was read.
fn listed(parts: &RequestParts, envelope: &Envelope<'_>, target: &Target<'_>) -> Vec<u8> {
    let bytes = &*target.loaded.bytes;
    let spans: Vec<_> = envelope.items.iter().map(|(span, _)| span.clone()).collect();
    let (Some(list), Some(first), Some(last)) = (&envelope.list, spans.first(), spans.last()) else {
        return fresh(parts);
    };
    if bytes.get(list.start) != Some(&b'[') {
        return fresh(parts);
    }
    let between = match &spans[..] {
        [first, second, ..] => &bytes[first.end..second.start],
        _ => b",\n".as_slice(),
    };
    let mut out = bytes[list.start..first.start].to_vec();
    for (index, part) in parts.items.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator(part, target, &spans, bytes).unwrap_or(between));
        }
        out.extend_from_slice(part.json.as_bytes());
    }
    out.extend_from_slice(&bytes[last.end..list.end]);
    out
}

/// The bytes in front of a message that is as it was read.
fn separator<'b>(
    part: &RequestItem,
    target: &Target<'_>,
    spans: &[std::ops::Range<usize>],
    bytes: &'b [u8],
) -> Option<&'b [u8]> {
    let span = target.source.span(part.record?)?;
    let at = spans.binary_search_by_key(&span.start, |span| span.start).ok()?;
    let before = spans.get(at.checked_sub(1)?)?;
    bytes.get(before.end..span.start)
}

fn fresh(parts: &RequestParts) -> Vec<u8> {
    let items: Vec<&str> = parts.items.iter().map(|part| part.json.as_str()).collect();
    format!("[\n{}\n]", items.join(",\n")).into_bytes()
}
