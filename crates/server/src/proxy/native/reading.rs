//! A request as far as compactions are concerned: our items expanded, and what it asks for.

use axum::body::Bytes;
use epitome::wire::{CompactionRequest, Outline, RequestBody, RequestedCompaction, Route};
use serde_json::Value;

use super::covered::{CoveredMessages, message_hash};
use super::error::{Cause, NativeError};
use super::expand::expand;
use super::item::{ItemProblem, Opener};
use super::known::unknown_part;

/// A request that was looked at.
#[derive(Debug)]
pub(super) struct ReadRequest {
    /// The compaction that is to be made here.
    pub(super) demand: Option<CompactionRequest>,
    /// Why one that is asked for cannot be made here, as a code.
    pub(super) detail: Option<&'static str>,
    /// Whether the request had one of our items.
    pub(super) has_item: bool,
    /// The request with ordinary messages in place of our items, and with what asks for a compaction.
    pub(super) with_demand: Bytes,
    /// The same without what asks for a compaction.
    pub(super) without_demand: Bytes,
    /// The client's own messages in it.
    pub(super) covered: CoveredMessages,
    /// The messages of users, as they came.
    pub(super) users: Vec<String>,
}

/// What was found in a request.
#[derive(Debug)]
pub(super) enum Reading {
    /// Nothing of compactions, or no list of messages; where its parts are, as far as that was found.
    Plain(Option<Outline>),
    /// One of our items, or a request for a compaction.
    Request(ReadRequest),
}

/// Looks at a request. With `may_answer` unset no compaction is made here. Linear in the request.
///
/// # Errors
///
/// One of our items cannot be used, or the request asks for something that no provider does.
pub(super) fn read(body: &Bytes, opener: Opener<'_>, route: Route, may_answer: bool) -> Result<Reading, NativeError> {
    let (wire, name) = (opener.wire, opener.wire.list_field());
    let Ok(request) = RequestBody::read(body, wire) else { return Ok(Reading::Plain(None)) };
    let came = match (&request.items, route) {
        (Some(came), _) => came,
        // Its history may be elsewhere: there is something to say of it all the same.
        (None, Route::Compactions) => &Vec::new(),
        (None, _) => return Ok(Reading::Plain(None)),
    };
    let expanded = expand(came, opener)?;
    let messages: Vec<&str> = expanded.messages.iter().map(AsRef::as_ref).collect();
    let asked = wire.asked(route, &request.fields, &messages);
    let (demand, detail) = match asked {
        RequestedCompaction::Nothing if !expanded.has_item => return Ok(Reading::Plain(request.outline().ok())),
        RequestedCompaction::Nothing => (None, None),
        RequestedCompaction::Provider(code) => (None, Some(code)),
        RequestedCompaction::Wrong(wrong) if may_answer => return Err(NativeError::new(Cause::Request(wrong), name)),
        RequestedCompaction::Wrong(_) => (None, Some("switched-off")),
        RequestedCompaction::Here(_) if !may_answer => (None, Some("switched-off")),
        RequestedCompaction::Here(demand) => match unknown_part(wire.into(), &messages) {
            Some(code) => (None, Some(code)),
            None => (Some(demand), None),
        },
    };
    let with_demand = match expanded.has_item {
        true => Bytes::from(request.fields.with(&[(name, Some(&list_of(&messages)))])),
        false => body.clone(),
    };
    if expanded.has_item && with_demand.len() > opener.most {
        return Err(NativeError::new(Cause::Item(ItemProblem::TooLarge), name));
    }
    let Some(made_here) = demand else {
        let without_demand = with_demand.clone();
        let (covered, users) = (CoveredMessages::default(), Vec::new());
        let has_item = expanded.has_item;
        let found = ReadRequest { demand, detail, has_item, with_demand, without_demand, covered, users };
        return Ok(Reading::Request(found));
    };
    let kept: Vec<&str> = messages.iter().copied().filter(|message| !wire.is_trigger(message)).collect();
    let list = list_of(&kept);
    let changed = match made_here.field(&request.fields) {
        Some((field, rest)) => request.fields.with(&[(name, Some(&list)), (field, rest.as_deref())]),
        None => request.fields.with(&[(name, Some(&list))]),
    };
    let mut covered = expanded.covered;
    let mut users = Vec::new();
    for (json, is_covered) in came.iter().zip(expanded.is_covered).filter(|_| wire.keeps_messages_in_front()) {
        let item: Value = serde_json::from_str(json).unwrap_or_default();
        if let Some(hash) = message_hash(&item) {
            // Each is covered as often as it was said, however often it is sent.
            if !is_covered {
                covered.push(hash);
            }
            users.extend((item["role"] == "user").then(|| (*json).to_owned()));
        }
    }
    Ok(Reading::Request(ReadRequest {
        demand,
        detail,
        has_item: expanded.has_item,
        with_demand,
        without_demand: Bytes::from(changed),
        covered,
        users,
    }))
}

fn list_of(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
