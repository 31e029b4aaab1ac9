//! The tools of a model over the Model Context Protocol, at `/mcp`: each tenant's sessions, and no other's.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use epitome::lookup::{Answer, Call, session_of};
use epitome_mcp::{CallOrigin, ToolBackend, http_service};
use serde_json::{Map, Value};

use crate::auth::Caller;
use crate::http::Problem;
use crate::sessions::{NamedSession, Sessions, check_id, compact_as_asked, search};

/// The header that names the session for all calls of a client.
const SESSION: &str = "x-epitome-session";

/// The route. It speaks a protocol of its own, so the OpenAPI document does not have it.
pub(crate) fn router(sessions: Arc<Sessions>) -> Router {
    Router::new().route(epitome_mcp::PATH, any(mcp)).with_state(sessions)
}

async fn mcp(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let session = headers.get(SESSION).and_then(|id| id.to_str().ok()).map(|id| id.trim().to_owned());
    let answers = Arc::new(TenantSessions { sessions, caller, session });
    // Access was checked before: by a token, or by the caller being on this machine.
    http_service(answers, true).handle(request).await.map(Body::new)
}

/// The sessions of one tenant, for one request.
#[derive(Debug)]
struct TenantSessions {
    sessions: Arc<Sessions>,
    caller: Caller,
    /// The session that the request is about, where its header says so.
    session: Option<String>,
}

impl ToolBackend for TenantSessions {
    fn has_many_sessions(&self) -> bool {
        self.session.is_none()
    }

    fn compacts(&self) -> bool {
        true
    }

    async fn answer(&self, tool: &str, arguments: Map<String, Value>, origin: &CallOrigin) -> Answer {
        let read = Call::read(tool, &arguments).and_then(|call| Ok((call, session_of(&arguments)?)));
        let (call, named) = match read {
            Ok(read) => read,
            Err(problem) => return Answer::refusal(problem),
        };
        let which = || {
            Answer::refusal(format!(
                "Which session? Pass its id as `session`, or have the client send it in the header `{SESSION}`."
            ))
        };
        let named_id = named.as_ref().or(self.session.as_ref());
        // A host that keeps its sessions here under their own ids need not say it twice.
        let Some(id) = named_id.or(origin.session.as_ref()) else { return which() };
        let found = check_id(id).and_then(|()| NamedSession::new(&self.sessions, &self.caller, id));
        if let Call::Compact(asked) = call {
            let answered = async { compact_as_asked(&found?, asked).await };
            return match answered.await {
                Ok(named_id) => Answer::new(named_id),
                Err(error) if named_id.is_none() && error.problem == Problem::UnknownSession => which(),
                Err(error) => Answer::refusal(format!("{}: {}", error.message, error.help)),
            };
        }
        let is_lookup = call.is_lookup();
        let answered = async { search::answer(&found?, call).await };
        let answer = match answered.await {
            Ok(answer) => answer,
            Err(error) if named_id.is_none() && error.problem == Problem::UnknownSession => return which(),
            Err(error) => Answer::refusal(format!("{}: {}", error.message, error.help)),
        };
        if is_lookup {
            self.sessions.core.metrics.looked_up("mcp", answer.has_found);
        }
        answer
    }
}
