//! `GET /v1/sessions/{id}/socket`: the same events over a WebSocket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::time::Instant;

use super::hub::{Next, Subscription};
use super::stream::subscribe;
use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody};
use crate::sessions::SessionId;
use crate::state::App;

/// The sub-protocol that is spoken.
pub(crate) const SUBPROTOCOL: &str = "epitome";

/// Begins the sub-protocol with a token: browsers give WebSockets no other header.
const TOKEN_PREFIX: &str = "epitome.token.";

/// The largest message that a client may send: it has nothing to say but pings.
const MOST_BYTES: usize = 4_096;

/// How often a client is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// The token that a browser hides among the sub-protocols: `epitome.token.` and the token in URL-safe base64.
pub(crate) fn token_of(headers: &HeaderMap) -> Option<String> {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut offered = offered.flat_map(|value| value.split(',')).map(str::trim);
    let encoded = offered.find_map(|protocol| protocol.strip_prefix(TOKEN_PREFIX))?;
    String::from_utf8(URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).ok()?).ok()
}

/// What happens to a session, as it happens, each event one text message. The token comes in a header, or from a browser
/// as the sub-protocol `epitome.token.` with the token in URL-safe base64, beside the sub-protocol `epitome`.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/socket", tag = "events", security(("token" = [])),
    params(("id" = String, Path, description = "The session")),
    responses(
        (status = 101, description = "A WebSocket"),
        (status = 400, description = "This is no WebSocket's opening, or the id cannot be one", body = ErrorBody),
        (status = 401, description = "No token, or a wrong one", body = ErrorBody),
        (status = 404, description = "There is no such session", body = ErrorBody),
        (status = 429, description = "Too many requests in a minute, or too many listeners", body = ErrorBody),
        (status = 503, description = "The store or the service is busy or gone", body = ErrorBody),
    )
)]
pub(crate) async fn socket(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    SessionId(id): SessionId,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|refused| {
        ApiError::bad("no-websocket", refused.body_text(), "open it as a WebSocket, or read …/events")
    })?;
    let subscription = subscribe(&app, &caller, &id, None).await?;
    let upgrade = upgrade.protocols([SUBPROTOCOL]).max_message_size(MOST_BYTES).max_frame_size(MOST_BYTES);
    Ok(upgrade.on_upgrade(move |socket| talk(socket, subscription)))
}

/// Sends events until one side is gone. A client that says nothing for two pings is gone too.
async fn talk(mut socket: WebSocket, mut subscription: Subscription) {
    let mut pings = tokio::time::interval_at(Instant::now() + PING, PING);
    let mut heard = Instant::now();
    loop {
        let next = tokio::select! {
            next = subscription.next() => match next {
                Next::Event(told) => Message::text(told.json.clone()),
                Next::End(why) => {
                    let frame = CloseFrame { code: close_code::AWAY, reason: why.into() };
                    // Whether they hear it or not, it is over.
                    let _ = sent(&mut socket, Message::Close(Some(frame))).await;
                    return;
                }
            },
            said = socket.recv() => match said {
                // Pings are answered by themselves.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Text(_) | Message::Binary(_))) => {
                    heard = Instant::now();
                    continue;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            _ = pings.tick() => {
                if heard.elapsed() > PING * 2 {
                    return;
                }
                Message::Ping(Bytes::new())
            }
        };
        if !sent(&mut socket, next).await {
            return;
        }
    }
}

/// Whether a message went out; a client that does not read is gone.
async fn sent(socket: &mut WebSocket, message: Message) -> bool {
    tokio::time::timeout(PING, socket.send(message)).await.is_ok_and(|sent| sent.is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_token_among_sub_protocols() {
        let check = |value: &str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, value.parse().unwrap());
            assert_eq!(token_of(&headers).as_deref(), expect, "{value}");
        };
        check("epitome, epitome.token.b3Blbi1zZXNhbWU", Some("open-sesame"));
        check("epitome.token.b3Blbi1zZXNhbWU=,epitome", Some("open-sesame"));
        check("epitome", None);
        check("epitome.token.!", None);
        check("epitome.token._w", None);
    }
}
