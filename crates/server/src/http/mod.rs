//! The HTTP parts that every route uses: errors, paths, queries, bodies, requests in a provider's format.

mod body;
mod encoding;
mod error;
mod extract;
mod outcome;
pub(crate) mod parts;
mod problem;
mod request;

pub(crate) use body::{body_of, json_of, json_or_default};
pub(crate) use encoding::{UnpackedBody, decoded_body, read_within};
pub(crate) use error::{ApiError, ErrorBody};
pub(crate) use extract::{PathParameters, QueryParameters, check_name, page_size};
pub(crate) use outcome::require_compacted;
pub(crate) use problem::Problem;
pub(crate) use request::{provider_format, read_request, too_many_parts};
