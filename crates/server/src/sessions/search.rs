//! Searches of the log: in one session, and in all of a tenant's.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use epitome::Session;
use epitome::context::ContextStatus;
use epitome::lookup::{Answer, Call, LogIndex, SessionPast};
use epitome::recall::{Passage, Pool, Query, QueryProblem, Source};
use epitome::session::Role;
use epitome::store::{Paging, SessionFilter};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::input::SessionId;
use super::key::SessionKey;
use super::list::{HANDLES, name_handles};
use super::named::NamedSession;
use super::open::{SessionSnapshot, read_at};
use super::state::Sessions;
use crate::auth::Caller;
use crate::http::{ApiError, Problem, check_name};

/// The sessions that are searched together, the last changed ones.
const MOST_SESSIONS: usize = 200;

/// The result of a search.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchResult {
    /// The passages, the best first.
    passages: Vec<FoundPassage>,
    /// Whether there is a next page.
    more: bool,
    /// The number of searched sessions, where it was more than one: the last changed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sessions: Option<usize>,
}

/// A passage of the log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundPassage {
    /// The session, where more than one was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    session: Option<Arc<str>>,
    /// The text. Where it comes from more than one message, each part has a line above it that names its message.
    text: String,
    /// The id of the message in which it matches best.
    message: String,
    /// That message's number, from 0.
    number: u32,
    /// The speaker's role.
    role: Role,
    /// The tool that was called there, or that printed it.
    tool: Option<Arc<str>>,
    /// The file that the call names.
    file: Option<Arc<str>>,
    /// The handle to recall the text that left the context with it.
    handle: Option<Arc<str>>,
    /// Whether the context still holds all of it.
    in_context: bool,
    /// The messages in it that a person took back, by their numbers.
    taken_back: Vec<u32>,
    /// The score, as a share of the best one's.
    score: f32,
}

impl FoundPassage {
    fn new(passage: Passage, session: Option<Arc<str>>) -> Self {
        Self {
            session,
            text: passage.text,
            message: passage.message.to_string(),
            number: passage.number,
            role: passage.role,
            tool: passage.tool,
            file: passage.file,
            handle: passage.handle,
            in_context: passage.in_context.unwrap_or(false),
            taken_back: passage.taken_back,
            score: passage.score,
        }
    }
}

/// The parameters of both routes, for the OpenAPI document; [`read_query`] reads them, because `q` and `from` may be
/// repeated. The limits are those of [`Query`].
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it is told of and not made")]
pub(crate) struct SearchParameters {
    /// The words to look for: a question, names; several are searched together
    #[param(required = false, max_items = 16)]
    q: Vec<String>,
    /// Only what these said: `user`, `assistant`, `tool`, `file` (calls that name one)
    #[param(explode = false)]
    from: Option<Vec<String>>,
    /// The newest first among what matches, in each session
    newest: Option<bool>,
    /// Passages of a page; 6 without it
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// Characters of a page; 9,000 without it
    #[param(minimum = 1, maximum = 200_000)]
    characters: Option<u32>,
    /// Which page, from 0
    #[param(maximum = 19)]
    page: Option<u32>,
}

/// The query parameters; over all sessions also the agent whose sessions are searched.
fn read_query(raw: Option<&str>, is_of_all: bool) -> Result<(Query, Option<String>), ApiError> {
    let mut query = Query::default();
    let mut agent = None;
    let url = reqwest::Url::parse(&format!("http://query/?{}", raw.unwrap_or_default()));
    let url = url.map_err(|_| bad_query("the query cannot be read".to_owned()))?;
    for (name, value) in url.query_pairs() {
        let number = || {
            let number = value.parse::<usize>();
            number.map_err(|_| bad_query(format!("`{name}` is a whole number, not `{value}`")))
        };
        match &*name {
            "q" => query.words.push(value.trim().to_owned()),
            "from" => {
                for source in value.split(',').map(str::trim).filter(|it| !it.is_empty()) {
                    let source = source.parse::<Source>();
                    query.from.push(source.map_err(|problem| bad_query(format!("`from`: {problem}")))?);
                }
            }
            "newest" => {
                let newest = value.parse();
                query.newest = newest.map_err(|_| bad_query(format!("`newest` is true or false, not `{value}`")))?;
            }
            "limit" => query.limit = number()?,
            "characters" => query.characters = number()?,
            "page" => query.page = number()?,
            "agent" if is_of_all => agent = Some(value.into_owned()),
            other => return Err(bad_query(format!("`{other}` is nothing that this route takes"))),
        }
    }
    query.words.retain(|words| !words.is_empty());
    if query.check() == Err(QueryProblem::Nothing) {
        return Err(bad_query("`q` is missing: the words to look for".to_owned()));
    }
    query.check().map_err(|problem| bad_query(problem.to_string()))?;
    Ok((query, agent))
}

fn bad_query(problem: String) -> ApiError {
    Problem::BadQuery.with(problem)
}

/// Searches the whole log of a session, also the messages that left its context.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/search", tag = "sessions",
    params(
        SessionId,
        SearchParameters,
    ),
    responses((status = 200, description = "What was found", body = SearchResult))
)]
pub(crate) async fn search(named: NamedSession, RawQuery(raw): RawQuery) -> Result<Json<SearchResult>, ApiError> {
    let (query, _) = read_query(raw.as_deref(), false)?;
    let NamedSession { sessions: shared, key } = named.clone();
    let found =
        named.read(move |seen| search_index(&shared, &key, seen, |index, session| index.search(session, &query)));
    let page = found.await?;
    let passages = page.passages.into_iter().map(|passage| FoundPassage::new(passage, None)).collect();
    Ok(Json(SearchResult { passages, more: page.more, sessions: None }))
}

/// Searches everything that was said in the sessions of a tenant, those that were changed last.
#[utoipa::path(
    get, path = "/v1/search", tag = "sessions",
    params(
        ("agent" = Option<String>, Query, description = "Only sessions of this agent"),
        SearchParameters,
    ),
    responses((status = 200, description = "What was found", body = SearchResult))
)]
pub(crate) async fn search_all(
    State(sessions): State<Arc<Sessions>>,
    Extension(caller): Extension<Caller>,
    RawQuery(raw): RawQuery,
) -> Result<Json<SearchResult>, ApiError> {
    let (query, agent) = read_query(raw.as_deref(), true)?;
    if let Some(agent) = &agent {
        check_name("agent", agent)?;
    }
    let storage = sessions.storage()?;
    let tenant = storage.tenant(&caller)?;
    let filter = SessionFilter { agent, ..SessionFilter::default() };
    let paging = Paging { most: MOST_SESSIONS as u32, after: None };
    let infos = storage.store.sessions(&tenant, &filter, &paging).await.map_err(|error| storage.api_error(error))?;
    let mut pool: Pool<Arc<str>> = Pool::new(query.clone());
    let mut searched = 0;
    for info in &infos.items {
        let key: SessionKey = (tenant.clone(), Arc::from(&*info.id));
        let (shared, its_key, query) = (Arc::clone(&sessions), key.clone(), query.clone());
        let share = read_at(&sessions, key, move |seen| {
            search_index(&shared, &its_key, seen, |index, session| index.share(session, &query))
        });
        match share.await {
            Ok(share) => {
                searched += 1;
                pool.add(Arc::clone(&info.id), share);
            }
            // It was deleted meanwhile.
            Err(error) if error.problem.status() == StatusCode::NOT_FOUND => {}
            Err(error) => return Err(error),
        }
    }
    let (found, more) = sessions.core.workers.run(&caller.tenant, move |_| pool.page()).await?;
    let passages = found.into_iter().map(|(session, passage)| FoundPassage::new(passage, Some(session))).collect();
    Ok(Json(SearchResult { passages, more, sessions: Some(searched) }))
}

/// Looks something up in the index of a session, which is brought up to date first.
fn search_index<T>(
    sessions: &Sessions,
    key: &SessionKey,
    seen: SessionSnapshot<'_>,
    look: impl FnOnce(&LogIndex, &Session) -> Result<T, QueryProblem>,
) -> Result<T, ApiError> {
    let session = seen.opened.live.session();
    let index = sessions.indexes.index(key, seen.opened.bytes());
    // A panic may leave an old index: it is compared with the session before it is used.
    let mut index = index.lock();
    index.follow(session);
    look(&index, session).map_err(|problem| bad_query(problem.to_string()))
}

/// Answers a call of a model's tool about a session.
pub(crate) async fn answer(named: &NamedSession, call: Call) -> Result<Answer, ApiError> {
    let NamedSession { sessions: shared, key } = named.clone();
    let (answer, is_new) = named
        .read(move |seen| {
            let live = &seen.opened.live;
            let says_nothing = seen.info.about.settings.get(HANDLES).is_none();
            let index = shared.indexes.index(&key, seen.opened.bytes());
            let mut index = index.lock();
            let archive = |handle: &str| live.recall(handle).map_err(|error| error.to_string());
            let status = || ContextStatus::measure(live.session(), live.engine(), live.budget(), |_| live.fullness());
            let mut past =
                SessionPast { session: live.session(), index: &mut index, archive: &archive, status: &status };
            Ok((past.answer(&call), says_nothing && !live.engine().handles))
        })
        .await?;
    if is_new {
        name_handles(named).await;
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use utoipa::openapi::path::ParameterIn;

    use super::*;

    #[test]
    fn the_document_tells_the_limits_that_are_kept() {
        let parameters = SearchParameters::into_params(|| Some(ParameterIn::Query));
        let check = |name: &str, key: &str, expect: usize| {
            let parameter = parameters.iter().find(|parameter| parameter.name == name).unwrap();
            let schema = serde_json::to_value(parameter).unwrap()["schema"].clone();
            assert_eq!(schema[key].as_u64(), Some(expect as u64), "{name}: {schema}");
        };
        check("q", "maxItems", Query::MOST_QUERIES);
        check("limit", "maximum", Query::MOST_PASSAGES);
        check("characters", "maximum", Query::MOST_CHARACTERS);
        check("page", "maximum", Query::MOST_PAGES - 1);
    }

    #[test]
    fn both_routes_take_the_same() {
        let read = |raw: &str, is_of_all| read_query(Some(raw), is_of_all).map_err(|error| error.message);
        for raw in ["q=a&q=b&from=user,file&newest=true&limit=3&characters=500&page=2", "from=user", "newest=true"] {
            assert_eq!(read(raw, true), read(raw, false));
            assert!(read(raw, true).is_ok(), "{raw}");
        }
        for (raw, part) in [
            ("", "`q` is missing"),
            ("q=x&limit=0", "`limit` is 1 to 100 passages, not 0"),
            ("q=x&limit=101", "`limit` is 1 to 100 passages, not 101"),
            ("q=x&limit=many", "`limit` is a whole number, not `many`"),
            ("q=x&characters=200001", "`characters` is 1 to 200000, not 200001"),
            ("q=x&page=20", "20 pages at most"),
        ] {
            assert_eq!(read(raw, true), read(raw, false));
            assert!(read(raw, true).is_err_and(|problem| problem.contains(part)), "{raw}");
        }
        assert_eq!(read("q=x&agent=a", true).unwrap().1.as_deref(), Some("a"));
        assert!(read("q=x&agent=a", false).is_err_and(|problem| problem.contains("`agent`")));
    }
}
