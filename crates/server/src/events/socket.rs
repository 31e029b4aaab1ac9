//! `GET /v1/sessions/{id}/socket`: the same events over a WebSocket, and commands from the client.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;

use super::hub::{NextEvent, Subscription};
use super::stream::subscribe;
use crate::http::{ApiError, Problem};
use crate::sessions::{NamedSession, SessionId, answer_text};

/// The sub-protocol that is spoken.
pub(crate) const SUBPROTOCOL: &str = "epitome";

/// The largest message that a client may send: a compaction with the longest focus.
const MOST_BYTES: usize = 32 << 10;

/// The interval at which a client is asked whether it is still connected.
const PING: Duration = Duration::from_secs(20);

/// The events of a session, as they happen, each one text message. A client may send commands as texts (`/compact the
/// parser`) or a compaction as `{"type": "compact", "sessionId": …, "instructions": …, "keep": […], "drop": […]}`; beside the
/// events it gets one `command_done` or `command_error` for each, in their order. The token comes in a header, or from a browser as
/// the sub-protocol `epitome.token.` with the token in URL-safe base64, beside the sub-protocol `epitome`.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/socket", tag = "events",
    params(SessionId),
    responses((status = 101, description = "A WebSocket"))
)]
pub(crate) async fn socket(
    named: NamedSession,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|refused| Problem::NoWebsocket.with(refused.body_text()))?;
    let subscription = subscribe(&named, None).await?;
    let upgrade = upgrade.protocols([SUBPROTOCOL]).max_message_size(MOST_BYTES).max_frame_size(MOST_BYTES);
    Ok(upgrade.on_upgrade(move |socket| talk(socket, subscription, named)))
}

/// Sends events until one side is gone. A client that says nothing for two pings is gone too.
/// Commands are run one after the other; what they change is stored also where the client has gone meanwhile.
async fn talk(mut socket: WebSocket, mut subscription: Subscription, named: NamedSession) {
    let mut command: Option<JoinHandle<Option<String>>> = None;
    let mut pings = tokio::time::interval_at(Instant::now() + PING, PING);
    let mut heard = Instant::now();
    loop {
        let next = tokio::select! {
            next = subscription.next() => match next {
                NextEvent::Event(event) => Message::text(event.json.clone()),
                NextEvent::End(why) => {
                    let frame = CloseFrame { code: close_code::AWAY, reason: why.into() };
                    // The subscription is over whether or not the client receives this.
                    let _ = send_message(&mut socket, Message::Close(Some(frame))).await;
                    return;
                }
            },
            answered = end_of(&mut command) => {
                heard = Instant::now();
                match answered {
                    Ok(Some(answer)) => Message::text(answer),
                    Ok(None) => continue,
                    Err(failed) => {
                        tracing::error!(%failed, "a command over a WebSocket failed");
                        return;
                    }
                }
            }
            // A client with a command under way is not read: what it sends waits.
            said = socket.recv(), if command.is_none() => match said {
                Some(Ok(Message::Text(text))) => {
                    heard = Instant::now();
                    command = Some(tokio::spawn(answer_text(named.clone(), text.as_str().to_owned())));
                    continue;
                }
                // Pings are answered by themselves.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_))) => {
                    heard = Instant::now();
                    continue;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            _ = pings.tick() => {
                if command.is_none() && heard.elapsed() > PING * 2 {
                    return;
                }
                Message::Ping(Bytes::new())
            }
        };
        if !send_message(&mut socket, next).await {
            return;
        }
    }
}

/// Waits for the command under way; for ever where there is none.
async fn end_of(command: &mut Option<JoinHandle<Option<String>>>) -> Result<Option<String>, JoinError> {
    let Some(running) = command else { return std::future::pending().await };
    let ended = running.await;
    *command = None;
    ended
}

/// Whether a message went out; a client that does not read is gone.
async fn send_message(socket: &mut WebSocket, message: Message) -> bool {
    tokio::time::timeout(PING, socket.send(message)).await.is_ok_and(|sent| sent.is_ok())
}
