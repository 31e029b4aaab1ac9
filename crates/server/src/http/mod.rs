//! What every route speaks: errors, paths, queries, bodies, requests in a provider's format.

mod body;
mod error;
mod extract;
mod method;
mod outcome;
pub(crate) mod parts;
mod request;

pub(crate) use body::{body_of, json_of, json_or_default};
pub(crate) use error::{ApiError, ErrorBody};
pub(crate) use extract::{PathParameters, QueryParameters, check_name, page_size};
pub(crate) use method::{no_route, wrong_method};
pub(crate) use outcome::{NO_SUMMARY_HELP, require_compacted, status_name};
pub(crate) use request::{provider_format, read_request, too_many_parts};
