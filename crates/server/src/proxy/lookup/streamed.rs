//! Answers that come as streams: one after the other from the provider, as one to the client.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use epitome::formats::Format;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::events::{Event, Events, written};
use super::telling::{Kind, Round, Told};
use super::{HOLD, Lookup, Refused};

/// How long a client hears nothing before it gets a sign of life.
const SILENCE: Duration = Duration::from_secs(10);

/// A comment: clients pass over it.
const SIGN_OF_LIFE: &[u8] = b": still at work\n\n";

/// Pieces that wait for a slow client.
const WAITING: usize = 16;

type Pieces = BoxStream<'static, Result<Bytes, reqwest::Error>>;

/// The body of the answer that the client gets. Dropping it hangs up on the provider.
pub(super) fn body(lookup: Lookup, first: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static) -> Body {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        // A client that left hears nothing.
        let _ = tell(lookup, first.boxed(), &sender).await;
    });
    let pieces = stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) });
    Body::from_stream(pieces)
}

type Sender = mpsc::Sender<Result<Bytes, io::Error>>;

/// The client is gone.
struct Gone;

async fn send(sender: &Sender, piece: Bytes) -> Result<(), Gone> {
    sender.send(Ok(piece)).await.map_err(|_| Gone)
}

/// One answer of the provider, as far as it is not told yet.
#[derive(Default)]
struct Held {
    events: Vec<Event>,
    ending: Vec<Event>,
    broken: Option<reqwest::Error>,
    /// Whether the client sees it.
    is_shown: bool,
    failed: bool,
}

async fn tell(mut lookup: Lookup, mut pieces: Pieces, sender: &Sender) -> Result<(), Gone> {
    let mut told = Told::default();
    let mut names = lookup.asking.names.clone();
    loop {
        let shared = names.clone();
        let mut round = Round::new(lookup.format, &shared);
        let mut held = heard(&mut round, &mut told, pieces, sender).await?;
        let said = round.said();
        let (calls, has_others) = (said.ours(&names), said.has_others(&names));
        let is_whole = !held.ending.is_empty() && !held.failed && (round.is_over || held.broken.is_none());
        if calls.is_empty() || has_others || !is_whole || !lookup.may_ask() {
            if is_whole {
                lookup.graft(&said, &calls, has_others).await;
                lookup.keep(None);
            }
            return last(&mut round, &mut told, held, sender).await;
        }
        // The client sees nothing of it, or no more of it than it has seen.
        lookup.is_repeatable &= !held.is_shown;
        held.events.clear();
        lookup.look_up(&said, &calls).await;
        told.go_on(&round);
        pieces = match lookup.next_answer().await {
            Ok(answer) => answer.bytes_stream().boxed(),
            Err(refused) if told.has_begun => return fail(lookup.format, refused, sender).await,
            // What was looked up is left out, and the answer is the one to the client's own request.
            Err(_) => {
                (names, lookup.steps, told) = (Vec::new(), Vec::new(), Told::default());
                match lookup.send(lookup.asking.plain.clone()).await {
                    Ok(answer) if answer.status().is_success() => answer.bytes_stream().boxed(),
                    Ok(answer) => {
                        let said = answer.bytes().await.unwrap_or_default();
                        return fail(lookup.format, Refused(serde_json::from_slice(&said).ok()), sender).await;
                    }
                    Err(_) => return fail(lookup.format, Refused(None), sender).await,
                }
            }
        };
    }
}

/// Listens to one answer. What the client may see is told on as it comes; the rest is held.
async fn heard(round: &mut Round<'_>, told: &mut Told, mut pieces: Pieces, sender: &Sender) -> Result<Held, Gone> {
    let (mut held, mut events, mut said) = (Held::default(), Events::default(), 0_usize);
    let mut is_at_end = false;
    while !round.is_over && !is_at_end {
        match tokio::time::timeout(SILENCE, pieces.next()).await {
            Err(_) => {
                send(sender, Bytes::from_static(SIGN_OF_LIFE)).await?;
                continue;
            }
            Ok(None) => {
                // A last event may do without its blank line.
                is_at_end = true;
                events.end_here();
            }
            Ok(Some(Err(error))) => {
                held.broken = Some(error);
                break;
            }
            Ok(Some(Ok(piece))) => events.push(&piece),
        }
        while let Some(event) = events.next() {
            let kind = round.take(&event);
            match kind {
                Kind::Ours => continue,
                Kind::Ending => {
                    held.ending.push(event);
                    continue;
                }
                Kind::Text(characters) => said += characters,
                Kind::Broken => held.failed = true,
                Kind::Quiet | Kind::Clients => {}
            }
            held.is_shown |= matches!(kind, Kind::Clients | Kind::Broken) || said > HOLD;
            held.events.push(event);
        }
        if held.is_shown {
            for event in std::mem::take(&mut held.events) {
                if let Some(piece) = told.tell(round, &event) {
                    send(sender, piece).await?;
                }
            }
        }
    }
    Ok(held)
}

/// Tells the end of the last answer, or where it broke off.
async fn last(round: &mut Round<'_>, told: &mut Told, held: Held, sender: &Sender) -> Result<(), Gone> {
    for event in held.events.iter().chain(&held.ending) {
        if let Some(piece) = told.tell(round, event) {
            send(sender, piece).await?;
        }
    }
    match held.broken {
        Some(error) => {
            // What stands before it is sent first: an error at once would take it along.
            tokio::task::yield_now().await;
            sender.send(Err(io::Error::other(error.without_url()))).await.map_err(|_| Gone)
        }
        None => Ok(()),
    }
}

/// Tells that the provider failed in the middle, as its own streams do.
async fn fail(format: Format, Refused(said): Refused, sender: &Sender) -> Result<(), Gone> {
    let message = said.as_ref().and_then(|said| said["error"]["message"].as_str());
    let message = message.unwrap_or("the provider did not answer the request with what was looked up");
    let json: Value = match format {
        Format::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Format::OpenaiResponses => json!({"type": "error", "code": "server_error", "message": message, "param": null}),
        _ => json!({"error": {"type": "server_error", "code": null, "message": message}}),
    };
    let name = (format != Format::OpenaiChat).then_some("error");
    send(sender, written(name, &json)).await
}
