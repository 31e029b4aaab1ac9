//! All problems that the service answers with, in one table: status, code, message and help.
//!
//! The table in `docs/errors.md` is printed from this one, and so are the codes that the OpenAPI document lists.

use std::time::Duration;

use axum::http::StatusCode;
use serde::{Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::error::ApiError;

/// Where a caller reads what a route takes.
const DESCRIBED: &str = "GET /openapi.json describes what each route takes";

/// Declares [`Problem`]: under each status the variants with their code, the usual message (`; after N` is the
/// `Retry-After` in seconds), and the help.
macro_rules! problems {
    (@wait) => { None };
    (@wait $seconds:literal) => { Some($seconds) };
    ($($status:ident { $($variant:ident $code:literal $(after $wait:literal)?: $title:literal, $help:expr;)* })*) => {
        /// The problems of a request, or of the service.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Problem {
            $($(#[doc = $title] $variant,)*)*
        }

        impl Problem {
            /// All of them, by status.
            pub(crate) const ALL: &[Self] = &[$($(Self::$variant,)*)*];

            /// The status of the answer.
            pub(crate) fn status(self) -> StatusCode {
                match self {
                    $($(Self::$variant)|* => StatusCode::$status,)*
                }
            }

            /// The problem's code for programs, in kebab case.
            pub(crate) fn code(self) -> &'static str {
                match self {
                    $($(Self::$variant => $code,)*)*
                }
            }

            /// The message, as far as it does not depend on the request.
            pub(crate) fn title(self) -> &'static str {
                match self {
                    $($(Self::$variant => $title,)*)*
                }
            }

            /// The help, as far as it does not depend on the request.
            pub(crate) fn help(self) -> &'static str {
                match self {
                    $($(Self::$variant => $help,)*)*
                }
            }

            /// After how many seconds trying again makes sense, where waiting helps.
            fn wait(self) -> Option<u64> {
                match self {
                    $($(Self::$variant => problems!(@wait $($wait)?),)*)*
                }
            }
        }
    };
}

problems! {
    BAD_REQUEST {
        BadRequest "bad-request": "the body is not what the route takes", DESCRIBED;
        BrokenBody "broken-body": "the body broke off", "send the whole body";
        BadPath "bad-path": "the path cannot be read", "percent-encode names in paths as UTF-8";
        BadQuery "bad-query": "the query is not what the route takes", DESCRIBED;
        BadName "bad-name": "a name or an id cannot be one", "1 to 200 characters, no control characters";
        BadTitle "bad-title": "`title` cannot be a title", "500 characters at most, no control characters";
        BadLimit "bad-limit": "`limit` is out of range", "1 to 500";
        BadPage "bad-page": "`after` does not come from a page before", "leave `after` out for the first page";
        BadBudget "bad-budget": "a number of tokens is 0", "give 1 token or more";
        BadMessages "bad-messages": "`keep` or `drop` names messages that cannot be kept or dropped",
            "GET …/messages has the numbers of the messages";
        BadEpoch "bad-epoch": "the compaction is not given by its number", "GET …/history lists the compactions";
        BadCommand "bad-command": "the command cannot be read, or not run over HTTP", "`\"commands\": false` stores it as a message";
        BadSummary "bad-summary": "a summary cannot be that text", "the preview's `summaries` say how long each may be";
        Secret "secret": "the settings hold what looks like a secret", "leave the secret out";
        UnreadableRequest "unreadable-request": "`request` or `messages` cannot be read",
            "send a request of openai-chat, openai-responses, anthropic or gemini; `format` names the format where it is not recognised";
        NotARequest "not-a-request": "this is a session's file, and not a request to a provider",
            "send a request of openai-chat, openai-responses, anthropic or gemini";
        SeveralRequests "several-requests": "there are several requests in the body", "send one at a time";
        UnreadableSession "unreadable-session": "the file is not a session that can be read",
            "`format` names the format where it is not recognised";
        TooManySessions "too-many-sessions": "the file holds too many sessions", "1000 at most: split the file";
        UnknownFormat "unknown-format": "`format` does not name a format", "openai-chat, openai-responses, anthropic or gemini";
        UnknownModel "unknown-model": "nothing is known of the model", "give `window` or `budget` in tokens instead";
        UnknownTask "unknown-task": "`task` does not name a kind of task", "code, analysis, conversation, mixed or unknown";
        UnknownMode "unknown-mode": "`mode` does not name a mode", "fixed, adaptive or tournament";
        UnknownChain "unknown-chain": "`chain` names what is not there, or nothing",
            "`epitome strategies` lists the strategies";
        NoChain "no-chain": "the mode `fixed` needs a chain", "name it in `chain`";
        NoOverflow "no-overflow": "this answer does not say that the request was too long",
            "send the provider's status and body as they came, or `limit` and `tokens` instead";
        UnclearProvider "unclear-provider": "nothing shows which provider the request is for",
            "send the provider's key in the provider's own header (Authorization: Bearer, x-api-key, x-goog-api-key); a key goes to its own provider only";
        NoWebsocket "no-websocket": "the request does not open a WebSocket", "open it as a WebSocket, or read …/events";
    }
    UNAUTHORIZED {
        Unauthorized "unauthorized": "there is no valid token in the request",
            "send `Authorization: Bearer TOKEN`, or `X-Epitome-Token: TOKEN` where Authorization is a provider's";
    }
    FORBIDDEN {
        NotLocal "not-local": "the service has no tokens, and the request does not come from this machine",
            "call it as localhost or 127.0.0.1, or run it with tokens";
        ChannelNotAllowed "channel-not-allowed": "the service does not allow a channel's address or key",
            "--channel-host HOST[:PORT] allows a host";
    }
    NOT_FOUND {
        NoRoute "no-route": "there is no such route",
            "GET /openapi.json lists the routes; with --upstream other paths are a provider's";
        NoStore "no-store": "this service keeps no sessions", "start the service with --store sqlite:PATH or --store postgres://…";
        NotFound "not-found": "there is no such thing in the store", "list what there is";
        UnknownSession "unknown-session": "there is no such session", "GET /v1/sessions lists the sessions";
        UnknownEpoch "unknown-epoch": "there is no such compaction", "GET …/history lists the compactions";
        UnknownSummary "unknown-summary": "no such summary is in force",
            "GET …/summary gives the newest; a message behind a compaction that was undone is back in the view";
        NoSummary "no-summary": "no summary of this session is in force", "a summary comes with the compaction of a strategy that summarises";
        UnknownDraft "unknown-draft": "there is no such draft",
            "drafts are kept for a quarter of an hour, by the instance that made them; preview again";
        UnknownHandle "unknown-handle": "nothing left the context under this handle",
            "marks, summaries and GET …/history name the handles";
        UnknownHash "unknown-hash": "nothing is stored under this handle",
            "it was never stored for this tenant, or forgotten since: --archive-size sets how much is kept";
        UnknownMemory "unknown-memory": "there is no such memory", "GET /v1/memories lists the memories";
        UnknownAgent "unknown-agent": "there is no such agent", "GET /v1/agents lists the agents";
        UnknownChannel "unknown-channel": "there is no such channel", "GET /v1/channels lists the channels";
    }
    METHOD_NOT_ALLOWED {
        WrongMethod "wrong-method": "this route takes another method", "GET /openapi.json lists the routes with their methods";
    }
    REQUEST_TIMEOUT {
        SlowBody "slow-body": "the body took too long to arrive", "send it at once";
    }
    CONFLICT {
        Taken "taken": "there is a session of this id", "give another id, or none";
        Conflict "conflict": "the session was changed by another instance at the same time",
            "another instance works on it without this store's locks; try again";
        ReadOnly "read-only": "the configuration has one of this name", "choose another name, or change the configuration";
        InUse "in-use": "sessions or agents name it", "give them another one first";
        TooMany "too-many": "the tenant stores as many as it may", "delete one first";
        StaleDraft "stale-draft": "the session has changed since the draft was made", "preview it again";
        CompactionRunning "compaction-running": "a compaction of this session is under way",
            "its events say when it is done; GET /v1/sessions/{id} says `running` until then";
        AlreadyUndone "already-undone": "the compaction is undone already", "GET …/history says which are in force";
        Covered "covered": "a later compaction is built on this one", "undo the later one first";
        Refused "refused": "the compaction was refused, and `[live] on_refusal` makes that an error",
            "call …/maintain with {\"confirm\": true}, or apply the draft that it answers without `confirm`";
    }
    PAYLOAD_TOO_LARGE {
        TooLarge "too-large": "the body, or a file in it when it is decompressed, is too large", "send less, or raise --max-body";
        TooManyParts "too-many-parts": "there are too many messages, blocks and calls", "send less, or raise --max-parts";
    }
    UNSUPPORTED_MEDIA_TYPE {
        NotJson "not-json": "the request does not say that its body is JSON", "send the header `Content-Type: application/json`";
    }
    UNPROCESSABLE_ENTITY {
        Infeasible "infeasible": "the budget cannot be met: what must stay takes more",
            "the report's `floor` says what must stay; give a larger budget or window, or a shorter system prompt";
        RolledBack "rolled-back": "too little would have been kept",
            "the report's `quality` says what would have been lost; ask for less, or lower [quality]";
        StillTooLong "still-too-long": "the provider refused the request three times, or nothing more can leave",
            "use a model with a larger window, or begin a new session";
        BadSettings "bad-settings": "a setting has a wrong value or is not known, or what it names is not there",
            "GET /openapi.json describes the settings of an agent and of a channel";
        NoSuchAgent "unknown-agent": "the session names an agent that is not there",
            "PUT /v1/agents/{name} makes one, GET /v1/agents lists the agents";
    }
    UPGRADE_REQUIRED {
        NoProviderSocket "no-provider-socket": "the proxy speaks no WebSocket with a provider",
            "send the request over HTTP, which clients do that know this status";
    }
    TOO_MANY_REQUESTS {
        TooManyRequests "too-many-requests": "more requests in a minute than one tenant may make",
            "wait as long as Retry-After says; --requests-per-minute sets the limit";
        TooManyListeners "too-many-listeners": "the tenant watches as many sessions as it may", "close some";
    }
    INTERNAL_SERVER_ERROR {
        Internal "internal": "the service failed on this request",
            "nothing was changed; the log has more under this request's id";
    }
    BAD_GATEWAY {
        NotCompacted "not-compacted": "the model that writes summaries failed",
            "try again, or let the rules write summaries where the model fails: [summary] fall_back_to_rules = true";
        UpstreamUnreachable "upstream-unreachable" after 1: "there is no connection to the provider",
            "check the address of --upstream, and whether the provider runs";
        UpstreamBrokeOff "upstream-broke-off": "the provider's answer broke off", "try again";
    }
    SERVICE_UNAVAILABLE {
        Busy "busy" after 1: "too many requests, bodies or answers are under way",
            "try again as Retry-After says; the service has its limits, of which a tenant has half";
        SessionBusy "session-busy" after 1: "too many requests wait for this session",
            "wait for the answer to a request before the next one is sent";
        Timeout "timeout" after 5: "the work took longer than it may", "try again later, send less, or raise --work-timeout";
        StoreFull "store-full" after 30: "the store is full", "nothing was changed; free space, then try again";
        StoreUnavailable "store-unavailable" after 2: "the store does not answer",
            "nothing was changed, unless it broke off at the very end: GET the session says; then try again";
    }
    GATEWAY_TIMEOUT {
        UpstreamTimeout "upstream-timeout": "the provider did not answer in time",
            "try again; --upstream-timeout sets how long the provider may say nothing";
    }
}

impl Problem {
    /// The error with a message of its own.
    pub(crate) fn with(self, message: impl Into<String>) -> ApiError {
        let error = ApiError::new(self, message.into());
        match self.wait() {
            Some(seconds) => error.retry_after(Duration::from_secs(seconds)),
            None => error,
        }
    }
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        problem.with(problem.title())
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl PartialSchema for Problem {
    fn schema() -> RefOr<Schema> {
        let mut codes: Vec<&str> = Self::ALL.iter().map(|problem| problem.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        let codes = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes));
        Schema::from(codes.description(Some("For programs: what is wrong")).build()).into()
    }
}

impl ToSchema for Problem {
    fn name() -> std::borrow::Cow<'static, str> {
        "ErrorCode".into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fmt::Write as _;

    use super::*;

    const BEGIN: &str = "<!-- errors: UPDATE_DOCS=1 cargo test -p epitome-server --lib writes them -->\n";
    const END: &str = "<!-- end of errors -->";

    /// The table of `docs/errors.md` is this one: `UPDATE_DOCS=1 cargo test -p epitome-server --lib` writes it.
    #[test]
    fn the_documented_errors_are_these() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
        let current = std::fs::read_to_string(page).unwrap();
        let mut table = "\n| status | code | what is wrong | what to do |\n|---|---|---|---|\n".to_owned();
        for problem in Problem::ALL {
            let (status, code) = (problem.status().as_u16(), problem.code());
            let [title, help] = [problem.title(), problem.help()].map(|text| text.replace('|', "\\|"));
            writeln!(table, "| {status} | `{code}` | {title} | {help} |").unwrap();
        }
        let (before, rest) = current.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let expect = format!("{before}{BEGIN}{table}\n{END}{after}");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(page, &expect).unwrap();
        } else {
            assert!(
                current == expect,
                "docs/errors.md is out of date: UPDATE_DOCS=1 cargo test -p epitome-server --lib"
            );
        }
    }
}
