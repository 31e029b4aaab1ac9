//! Dispatcher about lists of messages.

use std::ops::Deref;

use epitome_fit::{FitRequest, Fitter};
use serde_json::json;
use serde_json::value::RawValue;

use super::Reply;
use super::options::{FitRequestOptions, FitterOptions, Handle, OverflowOptions, RetrieveOptions};
use super::read_options::read_options;
use super::replies::FitReply;
use crate::{Failure, Parts, content_json, profile_of};

/// A fitter as `options` say; with `state`, the one whose state these bytes are. `parts` gives the engine of the number in the
/// options.
pub fn make_fitter<P: Deref<Target = Parts>>(
    options: &str,
    state: Option<&[u8]>,
    parts: impl Fn(u32) -> Result<P, Failure>,
) -> Result<Fitter, Failure> {
    let options: FitterOptions = read_options(options)?;
    let (parts, format) = (parts(options.engine)?, options.format.as_deref());
    let (options, runtime, engine) = (options.options(&parts), options.runtime(&parts)?, parts.engine());
    let Some(state) = state else {
        return Ok(Fitter::with_engine(engine, &runtime, profile_of(format, None)?, options));
    };
    let profile = format.map(|name| profile_of(Some(name), None)).transpose()?;
    Ok(Fitter::from_state_with_engine(state, engine, &runtime, profile, options)?)
}

/// Carries out a call about one fitter; `options` and `data` as [`Dispatcher::call`](super::Dispatcher::call) has them. `fitter` gives
/// the fitter of the number in the options.
pub fn call_fitter<F: Deref<Target = Fitter>>(
    name: &str,
    options: &str,
    data: &[u8],
    fitter: impl Fn(u32) -> Result<F, Failure>,
) -> Result<Reply, Failure> {
    match name {
        "fit" => {
            let options: FitRequestOptions = read_options(options)?;
            fit(&*fitter(options.handle)?, &options, data)
        }
        "fitter-retrieve" => {
            let options: RetrieveOptions = read_options(options)?;
            let fitter = fitter(options.handle)?;
            let Some(content) = fitter.retrieve(&options.of) else { return Ok(Reply::json(&())) };
            let profile = profile_of(options.format.as_deref(), Some(fitter.profile().into()))?;
            Ok(Reply::of_json(content_json(&content, profile.into())?))
        }
        "fitter-size" => {
            let (conversations, bytes) = fitter(read_options::<Handle>(options)?.handle)?.size();
            Ok(Reply::json(&json!({ "conversations": conversations, "bytes": bytes })))
        }
        _ => Ok(Reply::json(&()).with_bytes(fitter(read_options::<Handle>(options)?.handle)?.state()?)),
    }
}

fn fit(fitter: &Fitter, options: &FitRequestOptions, messages: &[u8]) -> Result<Reply, Failure> {
    let items: Vec<&RawValue> = serde_json::from_slice(messages)
        .map_err(|error| Failure::Format(format!("messages: not a JSON list of messages: {error}")))?;
    let texts: Vec<&str> = items.into_iter().map(RawValue::get).collect();
    let mut request = FitRequest::new(&texts);
    (request.system, request.tools, request.key) = (options.system.get(), options.tools.get(), &options.key);
    (request.reported_tokens, request.asked) = (options.reported_tokens.0.map(u64::from), options.model_request()?);
    request.profile = options.format.as_deref().map(|name| profile_of(Some(name), None)).transpose()?;
    let overflow = options.overflow.as_ref().map(OverflowOptions::tokens);
    let done = match overflow {
        None => fitter.fit(&request),
        Some(overflow) => fitter.fit_after(&request, overflow),
    };
    let fitted = done.map_err(|error| Failure::of_fit(error, request.profile.unwrap_or_else(|| fitter.profile())))?;
    let reply = FitReply::new(&fitted, &texts).map_err(Failure::other)?;
    Ok(Reply::json(&reply).with_bytes(fitted.report_json().into_bytes()))
}
