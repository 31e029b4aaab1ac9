//! A request as far as compactions are concerned: our items expanded, and what it asks for.

use axum::body::Bytes;
use epitome::formats::Format;
use serde_json::Value;

use super::covered::{CoveredMessages, message_hash};
use super::demand::{Asked, Demand, asked_of_endpoint, asked_of_request, is_trigger};
use super::expand::{Message, expand};
use super::fields::RequestFields;
use super::item::{ItemProblem, Opener};
use super::known::unknown_part;
use super::refusal::{Cause, Refusal};
use super::route::Route;

/// A request that was looked at.
#[derive(Debug)]
pub(super) struct ReadRequest {
    /// The compaction that is to be made here.
    pub(super) demand: Option<Demand>,
    /// Why one that is asked for cannot be made here, as a code.
    pub(super) detail: Option<&'static str>,
    /// Whether there was an item of ours.
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

/// Looks at a request. `None` where it is not a request with a list of messages, or has nothing of compactions. With
/// `may_answer` unset no compaction is made here. Linear in the request.
///
/// # Errors
///
/// An item of ours cannot be used, or the request asks for what no provider does.
pub(super) fn read(
    body: &Bytes,
    opener: Opener<'_>,
    route: Route,
    may_answer: bool,
) -> Result<Option<ReadRequest>, Refusal> {
    let name = if opener.format == Format::OpenaiResponses { "input" } else { "messages" };
    let Some(fields) = RequestFields::parse(body) else { return Ok(None) };
    let came = match (fields.list(name), route) {
        (Some(came), _) => came,
        // Its history may be elsewhere: there is something to say of it all the same.
        (None, Route::Compactions) => Vec::new(),
        (None, _) => return Ok(None),
    };
    let expanded = expand(&came, opener)?;
    let asked = match route {
        Route::Compactions => asked_of_endpoint(&fields),
        Route::Conversation => asked_of_request(opener.format, &fields, &expanded.messages),
        Route::Counting => Asked::Nothing,
    };
    let (demand, detail) = match asked {
        Asked::Nothing if !expanded.has_item => return Ok(None),
        Asked::Nothing => (None, None),
        Asked::Provider(code) => (None, Some(code)),
        Asked::Wrong(wrong) if may_answer => return Err(Refusal::new(Cause::Demand(wrong), name)),
        Asked::Wrong(_) => (None, Some("switched-off")),
        Asked::Here(_) if !may_answer => (None, Some("switched-off")),
        Asked::Here(demand) => match unknown_part(opener.format, &expanded.messages) {
            Some(code) => (None, Some(code)),
            None => (Some(demand), None),
        },
    };
    let with_demand = match expanded.has_item {
        true => Bytes::from(fields.with(&[(name, Some(&list_of(&expanded.messages)))])),
        false => body.clone(),
    };
    if expanded.has_item && with_demand.len() > opener.most {
        return Err(Refusal::new(Cause::Item(ItemProblem::TooLarge), name));
    }
    let Some(made_here) = demand else {
        let without_demand = with_demand.clone();
        let (covered, users) = (CoveredMessages::default(), Vec::new());
        let has_item = expanded.has_item;
        return Ok(Some(ReadRequest { demand, detail, has_item, with_demand, without_demand, covered, users }));
    };
    let kept: Vec<&Message<'_>> = expanded.messages.iter().filter(|message| !is_trigger(message)).collect();
    let list = list_of(&kept);
    let changed = match made_here.field(&fields) {
        Some((field, rest)) => fields.with(&[(name, Some(&list)), (field, rest.as_deref())]),
        None => fields.with(&[(name, Some(&list))]),
    };
    let mut covered = expanded.covered;
    let mut users = Vec::new();
    for (json, is_covered) in came.iter().zip(expanded.is_covered).filter(|_| opener.format == Format::OpenaiResponses)
    {
        let item: Value = serde_json::from_str(json).unwrap_or_default();
        if let Some(hash) = message_hash(&item) {
            // Each is covered as often as it was said, however often it is sent.
            if !is_covered {
                covered.push(hash);
            }
            users.extend((item["role"] == "user").then(|| (*json).to_owned()));
        }
    }
    Ok(Some(ReadRequest {
        demand,
        detail,
        has_item: expanded.has_item,
        with_demand,
        without_demand: Bytes::from(changed),
        covered,
        users,
    }))
}

fn list_of<S: AsRef<str>>(messages: &[S]) -> String {
    let messages: Vec<&str> = messages.iter().map(AsRef::as_ref).collect();
    format!("[{}]", messages.join(","))
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
