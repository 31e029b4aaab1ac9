//! Sessions that the service keeps in a store.
//!
//! A request that changes a session waits for its turn at the session's [queue](queue) and for the store's lock, works on
//! the session in memory, and stores the changes; requests that only read never wait for a compaction. [`open`] does
//! this for all routes.

mod asked;
mod cache;
mod command;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod create;
mod drafts;
mod failure;
pub(crate) mod history;
mod indexes;
mod input;
pub(crate) mod kept;
mod key;
pub(crate) mod list;
pub(crate) mod maintain;
mod marks;
pub(crate) mod messages;
mod named;
mod open;
mod opened;
mod queue;
pub(crate) mod render;
pub(crate) mod search;
mod state;
mod under_way;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Problem;
use crate::openapi::{with_optional_body, with_problems};
pub(crate) use asked::compact_as_asked;
pub(crate) use command::answer_text;
pub(crate) use input::{SessionId, check_id};
pub(crate) use named::NamedSession;
pub(crate) use state::Sessions;

/// The problems of every route about one session.
const ONE: &[Problem] = &[Problem::BadName, Problem::NoStore, Problem::UnknownSession];

/// The problems of messages in a provider's format.
const READING: &[Problem] =
    &[Problem::UnknownFormat, Problem::UnreadableRequest, Problem::NotARequest, Problem::SeveralRequests];

/// The problems of settings that a session has, or gets.
const SETTINGS: &[Problem] = &[Problem::BadSettings, Problem::NoSuchAgent, Problem::ChannelNotAllowed, Problem::Secret];

/// The problems of a compaction's options.
const ASKING: &[Problem] = &[Problem::BadBudget, Problem::UnknownTask, Problem::UnknownChain, Problem::BadMessages];

/// The problems of every change of a session.
const CHANGING: &[Problem] = &[Problem::Conflict, Problem::SessionBusy];

/// The problems of every compaction.
const COMPACTING: &[Problem] = &[
    Problem::CompactionRunning,
    Problem::StaleDraft,
    Problem::Infeasible,
    Problem::RolledBack,
    Problem::NotCompacted,
    Problem::SessionBusy,
    Problem::Conflict,
];

/// The problems of undoing a compaction.
const UNDOING: &[Problem] = &[Problem::UnknownEpoch, Problem::AlreadyUndone, Problem::Covered];

/// The routes.
pub(crate) fn router(sessions: Arc<Sessions>) -> OpenApiRouter {
    use Problem as P;
    let new: &[P] = &[P::BadName, P::BadTitle, P::NoStore];
    let commands: &[P] = &[P::BadCommand, P::UnknownHandle];
    OpenApiRouter::new()
        .routes(with_problems(routes!(list::list), &[&[P::NoStore, P::BadLimit, P::BadPage]]))
        .routes(with_problems(routes!(create::create), &[new, READING, SETTINGS, &[P::Taken]]))
        .routes(with_problems(
            routes!(create::import),
            &[new, SETTINGS, &[P::UnknownFormat, P::UnreadableSession, P::TooManySessions]],
        ))
        .routes(with_problems(routes!(list::get, list::delete), &[ONE]))
        .routes(with_problems(routes!(list::describe), &[ONE, SETTINGS, &[P::BadTitle]]))
        .routes(with_problems(routes!(messages::messages), &[ONE, &[P::BadLimit]]))
        .routes(with_problems(
            routes!(messages::append),
            &[ONE, READING, CHANGING, commands, COMPACTING, SETTINGS, UNDOING],
        ))
        .routes(with_problems(routes!(messages::behind), &[ONE, &[P::BadLimit, P::UnknownSummary]]))
        .routes(with_problems(routes!(messages::summary), &[ONE, &[P::NoSummary]]))
        .routes(with_problems(routes!(render::request), &[ONE, &[P::UnknownFormat]]))
        .routes(with_problems(routes!(maintain::check), &[ONE]))
        .routes(with_problems(routes!(context::context), &[ONE]))
        .routes(with_optional_body(with_problems(
            routes!(maintain::maintain),
            &[ONE, COMPACTING, SETTINGS, &[P::Refused]],
        )))
        .routes(with_optional_body(with_problems(routes!(compact::preview), &[ONE, COMPACTING, SETTINGS, ASKING])))
        .routes(with_problems(routes!(compact::apply), &[ONE, COMPACTING, SETTINGS, &[P::UnknownDraft, P::BadSummary]]))
        .routes(with_optional_body(with_problems(routes!(compact::compact), &[ONE, COMPACTING, SETTINGS, ASKING])))
        .routes(with_problems(routes!(kept::kept), &[ONE]))
        .routes(with_problems(routes!(kept::release), &[ONE, CHANGING]))
        .routes(with_optional_body(with_problems(routes!(history::undo), &[ONE, CHANGING, UNDOING])))
        .routes(with_problems(routes!(history::history), &[ONE]))
        .routes(with_problems(routes!(history::epoch), &[ONE, &[P::BadEpoch, P::UnknownEpoch]]))
        .routes(with_problems(routes!(history::recall), &[ONE, &[P::UnknownHandle]]))
        .routes(with_problems(
            routes!(maintain::overflow),
            &[ONE, COMPACTING, SETTINGS, &[P::NoOverflow, P::StillTooLong]],
        ))
        .routes(with_problems(routes!(search::search), &[ONE]))
        .routes(with_problems(routes!(search::search_all), &[&[P::NoStore, P::BadName]]))
        .with_state(sessions)
}
