//! `POST /v1/sessions` and `POST /v1/sessions/import`: new sessions.

use std::io::Read as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use epitome::Session;
use epitome::formats::{Format, GzipReader, ReadOptions, read as read_file};
use epitome::store::{SessionArchive, SessionMetadata, StoredSession, Tenant};
use epitome::strategy::Cancellation;
use rustls::crypto::ring;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::input::{check_id, check_title, messages_of, read_messages};
use super::key::SessionKey;
use super::list::SessionAnswer;
use super::open::read_at;
use super::opened::{CachedSession, SessionRuntime};
use super::state::Sessions;
use crate::agents::runtime_for;
use crate::auth::Caller;
use crate::http::{ApiError, Problem, QueryParameters, body_of, check_name, json_of, parts, too_many_parts};
use crate::routes::job::RequestFields;
use crate::title::title_of;

/// Sessions that one file may bring.
const MOST_SESSIONS: usize = 1_000;

/// The factor by which the unpacked file may be larger than the largest body.
const MOST_GROWTH: usize = 8;

/// The factor by which a kept session may have more parts than a request.
pub(super) const MOST_TIMES_PARTS: usize = 4;

/// A session to be made.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSession {
    /// The session's id, unique among the tenant's; a new one is made where it is missing.
    #[schema(min_length = 1, max_length = 200)]
    id: Option<String>,
    /// A title for people.
    #[schema(max_length = 500)]
    title: Option<String>,
    /// The agent that it belongs to.
    #[schema(min_length = 1, max_length = 200)]
    agent: Option<String>,
    /// Settings of its own, over those of its agent: the keys of `[agents.NAME]`.
    #[schema(value_type = Option<Object>)]
    settings: Option<serde_json::Map<String, Value>>,
    /// A provider's request, or the list of its messages: what the session begins with, tool definitions included. Its
    /// model becomes the session's `runs_on`, where nothing else says how large the window is.
    #[schema(value_type = Option<Object>)]
    request: Option<Box<RawValue>>,
    /// The format of `request`: `openai-chat`, `openai-responses`, `anthropic` or `gemini`; recognised without it.
    format: Option<String>,
}

/// Makes a session, empty or with the messages of a request.
#[utoipa::path(
    post, path = "/v1/sessions", tag = "sessions", request_body = NewSession,
    responses((status = 201, description = "The session", body = SessionAnswer))
)]
pub(crate) async fn create(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<(StatusCode, Json<SessionAnswer>), ApiError> {
    let mut new: NewSession = json_of(request, &sessions.core.settings.limits).await?;
    if let Some(title) = &new.title {
        check_title(title)?;
    }
    new.id.as_deref().map_or(Ok(()), check_id)?;
    new.agent.as_deref().map_or(Ok(()), |agent| check_name("agent", agent))?;
    let (given, format) = (new.request.take(), new.format.take());
    let settings = settings_of(&sessions, &mut new, given.as_deref());
    let most_parts = sessions.core.settings.limits.parts;
    let begin = move |_: &Cancellation| match given {
        Some(given) => new_session(&given, format.as_deref(), most_parts),
        None => Ok(Session::new()),
    };
    let session = sessions.core.workers.run(&caller.tenant, begin).await??;
    let about = SessionMetadata { agent: new.agent, title: new.title, settings };
    let id = new.id.map_or_else(new_id, Ok)?;
    let key = sessions.key(&caller, &id)?;
    let made = make(&sessions, key, about, session).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// The settings of a new session. The model of its request counts as the one that it runs on, where nothing else says how
/// large its window is, and something is known of it.
fn settings_of(sessions: &Sessions, new: &mut NewSession, request: Option<&RawValue>) -> Value {
    let mut settings = new.settings.take();
    let says = |key: &str| settings.as_ref().is_some_and(|settings| settings.contains_key(key));
    if sessions.core.settings.budget_by_model && new.agent.is_none() && !says("runs_on") && !says("window") {
        let wishes = request.and_then(|request| serde_json::from_str::<RequestFields>(request.get()).ok());
        let model =
            wishes.and_then(|wishes| wishes.model).filter(|model| sessions.core.runtime.budget_for(model).is_ok());
        if let Some(model) = model {
            settings.get_or_insert_default().insert("runs_on".to_owned(), Value::String(model));
        }
    }
    settings.map_or(Value::Null, Value::Object)
}

/// The session that begins with the messages of a request.
fn new_session(request: &RawValue, format: Option<&str>, most_parts: usize) -> Result<Session, ApiError> {
    let loaded = read_messages(request.get(), format, most_parts)?;
    let mut session = Session::new();
    session.tools = loaded.sessions.first().and_then(|loaded| loaded.session.tools.clone());
    for message in messages_of(&loaded) {
        session.push(message);
    }
    Ok(session)
}

/// Stores a new session and keeps it in memory.
pub(super) async fn make(
    sessions: &Arc<Sessions>,
    key: SessionKey,
    about: SessionMetadata,
    mut session: Session,
) -> Result<SessionAnswer, ApiError> {
    let settled = SessionRuntime {
        runtime: runtime_for(&sessions.core, &sessions.runtimes, &key.0, &about).await?,
        problem: None,
    };
    session.id = Some(Arc::clone(&key.1));
    let owner = key.0.name();
    let shared = Arc::clone(sessions);
    let stored = async move {
        let storage = shared.storage()?;
        let mut archive = SessionArchive::new();
        let created = storage.store.create_session(&key.0, &key.1, &about, &session, &mut archive).await;
        let version = created.map_err(|error| storage.api_error(error))?;
        let info = shared.info(&key).await?;
        let times = storage.store.epoch_times(&key.0, &key.1).await.map_err(|error| storage.api_error(error))?;
        let stored = StoredSession { session, archive, version, about };
        let opened = CachedSession::new(&shared.core, &key, &settled, stored, info.created_at, times);
        shared.cache.put(&key, opened);
        Ok::<SessionKey, ApiError>(key)
    };
    let key = sessions.core.workers.run_future(&owner, &Cancellation::new(), stored).await??;
    read_at(sessions, key, |seen| Ok(SessionAnswer::new(seen))).await
}

/// A new id, which no session has.
pub(super) fn new_id() -> Result<String, ApiError> {
    let mut bytes = [0; 16];
    let random = ring::default_provider().secure_random.fill(&mut bytes);
    random.map_err(|_| {
        tracing::error!("the system gives no random bytes");
        ApiError::from(Problem::Internal)
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The options of an import.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// The agent that the sessions belong to.
    agent: Option<String>,
    /// A title; without one, what the session begins with.
    title: Option<String>,
    /// The file's format, by its name on the command line; recognised without it.
    format: Option<String>,
}

/// The sessions of a file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Imported {
    /// The imported sessions, in the file's order.
    sessions: Vec<SessionAnswer>,
    /// The parts of the file that were left out in reading.
    warnings: Vec<String>,
}

/// Makes sessions of a recorded session's file, in any format that `epitome` reads, plain or gzipped.
#[utoipa::path(
    post, path = "/v1/sessions/import", tag = "sessions", params(ImportQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The file"),
    responses((status = 201, description = "The sessions", body = Imported))
)]
pub(crate) async fn import(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    QueryParameters(how): QueryParameters<ImportQuery>,
    request: Request,
) -> Result<(StatusCode, Json<Imported>), ApiError> {
    let storage = sessions.storage()?;
    let tenant = storage.tenant(&caller)?;
    let how = ImportQuery {
        agent: how.agent.filter(|it| !it.is_empty()),
        title: how.title.filter(|it| !it.is_empty()),
        ..how
    };
    how.title.as_deref().map_or(Ok(()), check_title)?;
    how.agent.as_deref().map_or(Ok(()), |agent| check_name("agent", agent))?;
    let format = how.format.as_deref().filter(|it| !it.is_empty()).map(any_format).transpose()?;
    let (parts, body) = request.into_parts();
    let body = body_of(body, &parts.headers, &sessions.core.settings.limits).await?;
    let most_parts = sessions.core.settings.limits.parts.saturating_mul(MOST_TIMES_PARTS);
    let most_bytes = sessions.core.settings.limits.body_bytes.saturating_mul(MOST_GROWTH);
    let (files, warnings) =
        sessions.core.workers.run(&caller.tenant, move |_| from_file(&body, format, most_bytes, most_parts)).await??;
    // On a task of its own: all or none are made, also when the caller leaves.
    let (shared, working) = (Arc::clone(&sessions), sessions.under_way.begin());
    let made = tokio::spawn(async move {
        let made = make_all(&shared, tenant, &how, files).await;
        drop(working);
        made
    });
    let sessions = made.await.map_err(|_| Problem::Internal)??;
    Ok((StatusCode::CREATED, Json(Imported { sessions, warnings })))
}

/// Makes all of these sessions, or none, as far as the store lets us.
async fn make_all(
    sessions: &Arc<Sessions>,
    tenant: Tenant,
    how: &ImportQuery,
    files: Vec<Session>,
) -> Result<Vec<SessionAnswer>, ApiError> {
    let mut begun: Vec<SessionKey> = Vec::new();
    let mut answers = Vec::new();
    for (number, session) in (1..).zip(files) {
        let title = match &how.title {
            Some(title) if number > 1 => Some(format!("{title} ({number})")),
            Some(title) => Some(title.clone()),
            None => title_of(&session),
        };
        let about = SessionMetadata { agent: how.agent.clone(), title, settings: Value::Null };
        let key: SessionKey = (tenant.clone(), Arc::from(new_id()?));
        begun.push(key.clone());
        match make(sessions, key, about, session).await {
            Ok(answer) => answers.push(answer),
            Err(error) => {
                let storage = sessions.storage()?;
                // Also the one that failed: it may be there by half.
                for key in &begun {
                    sessions.cache.take(key);
                    storage.store.delete_session(&key.0, &key.1).await.ok();
                }
                return Err(error);
            }
        }
    }
    Ok(answers)
}

fn any_format(name: &str) -> Result<Format, ApiError> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = Format::ALL.iter().map(|(_, name, _)| *name).collect();
        Problem::UnknownFormat.with("`format` does not name a format").with_help(known.join(", "))
    })
}

/// The sessions of a file with their messages as they are kept, and the warnings of reading.
fn from_file(
    file: &[u8],
    format: Option<Format>,
    most_bytes: usize,
    most_parts: usize,
) -> Result<(Vec<Session>, Vec<String>), ApiError> {
    let bytes = if file.starts_with(&[0x1f, 0x8b]) { decompress(file, most_bytes)? } else { file.to_vec() };
    if parts::are_too_many(&bytes, most_parts) {
        return Err(too_many_parts("the file", most_parts));
    }
    let loaded = read_file(bytes, ReadOptions { format, strict: false, ..ReadOptions::default() })
        .map_err(|error| Problem::UnreadableSession.with(error.to_string()))?;
    if loaded.sessions.len() > MOST_SESSIONS {
        let message = format!("the file holds {} sessions", loaded.sessions.len());
        return Err(Problem::TooManySessions.with(message));
    }
    let sessions: Vec<Session> = loaded.sessions.into_iter().map(|it| it.session).collect();
    if sessions.iter().all(|session| session.log().is_empty()) {
        return Err(Problem::UnreadableSession
            .with("there is no message in the file")
            .with_help("send a session with messages"));
    }
    let warning = |warning: &epitome::formats::Warning| match warning.line {
        Some(line) => format!("line {line}: {}", warning.message),
        None => warning.message.clone(),
    };
    Ok((sessions, loaded.warnings.iter().take(100).map(warning).collect()))
}

/// The content of a compressed file. Its size is found out first, without keeping any of it: what becomes too large takes no
/// memory. Linear in the content, twice.
fn decompress(file: &[u8], most_bytes: usize) -> Result<Vec<u8>, ApiError> {
    let damaged = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::QuotaExceeded {
            return Problem::TooLarge.with(format!("the file cannot be decompressed: {error}"));
        }
        Problem::UnreadableSession
            .with(format!("the file cannot be decompressed: {error}"))
            .with_help("get an intact copy")
    };
    let content = || GzipReader::new(file).take(most_bytes as u64 + 1);
    let size = std::io::copy(&mut content(), &mut std::io::sink()).map_err(damaged)?;
    if size > most_bytes as u64 {
        return Err(
            Problem::TooLarge.with(format!("the file is larger than {most_bytes} bytes when it is decompressed"))
        );
    }
    let mut bytes = Vec::with_capacity(size as usize);
    content().read_to_end(&mut bytes).map_err(damaged)?;
    Ok(bytes)
}
