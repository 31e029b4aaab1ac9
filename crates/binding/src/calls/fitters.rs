//! Calls about lists of messages.

use std::ops::Deref;

use epitome_fit::{FitRequest, Fitter};
use serde_json::json;
use serde_json::value::RawValue;

use super::Answer;
use super::read::read;
use super::told::FittedTold;
use super::words::{FitWords, FitterWords, Handle, OverflowWords, Retrieval};
use crate::{Failure, Parts, content_json, profile_of};

/// A fitter as `words` say; with `state`, the one whose state these bytes are. `parts` gives the engine of the number in the
/// words.
pub fn make_fitter<P: Deref<Target = Parts>>(
    words: &str,
    state: Option<&[u8]>,
    parts: impl Fn(u32) -> Result<P, Failure>,
) -> Result<Fitter, Failure> {
    let words: FitterWords = read(words)?;
    let (parts, format) = (parts(words.engine)?, words.format.as_deref());
    let (options, runtime, engine) = (words.options(&parts), words.runtime(&parts)?, parts.engine());
    let Some(state) = state else {
        return Ok(Fitter::with_engine(engine, &runtime, profile_of(format, None)?, options));
    };
    let profile = format.map(|name| profile_of(Some(name), None)).transpose()?;
    Ok(Fitter::from_state_with_engine(state, engine, &runtime, profile, options)?)
}

/// Carries out a call about one fitter; `words` and `data` as [`Calls::answer`](super::Calls::answer) has them. `fitter` gives
/// the fitter of the number in the words.
pub fn ask_fitter<F: Deref<Target = Fitter>>(
    name: &str,
    words: &str,
    data: &[u8],
    fitter: impl Fn(u32) -> Result<F, Failure>,
) -> Result<Answer, Failure> {
    match name {
        "fit" => {
            let words: FitWords = read(words)?;
            fit(&*fitter(words.handle)?, &words, data)
        }
        "fitter-retrieve" => {
            let words: Retrieval = read(words)?;
            let fitter = fitter(words.handle)?;
            let Some(content) = fitter.retrieve(&words.of) else { return Ok(Answer::json(&())) };
            let profile = profile_of(words.format.as_deref(), Some(fitter.profile().into()))?;
            Ok(Answer::of_json(content_json(&content, profile.into())?))
        }
        "fitter-size" => {
            let (conversations, bytes) = fitter(read::<Handle>(words)?.handle)?.size();
            Ok(Answer::json(&json!({ "conversations": conversations, "bytes": bytes })))
        }
        _ => Ok(Answer::json(&()).with_bytes(fitter(read::<Handle>(words)?.handle)?.state()?)),
    }
}

fn fit(fitter: &Fitter, words: &FitWords, messages: &[u8]) -> Result<Answer, Failure> {
    let items: Vec<&RawValue> = serde_json::from_slice(messages)
        .map_err(|error| Failure::Format(format!("messages: not a JSON list of messages: {error}")))?;
    let texts: Vec<&str> = items.into_iter().map(RawValue::get).collect();
    let mut request = FitRequest::new(&texts);
    (request.system, request.tools, request.key) = (words.system.get(), words.tools.get(), &words.key);
    (request.reported_tokens, request.asked) = (words.reported_tokens.0.map(u64::from), words.model_request()?);
    request.profile = words.format.as_deref().map(|name| profile_of(Some(name), None)).transpose()?;
    let overflow = words.overflow.as_ref().map(OverflowWords::tokens);
    let done = match overflow {
        None => fitter.fit(&request),
        Some(overflow) => fitter.fit_after(&request, overflow),
    };
    let fitted = done.map_err(|error| Failure::of_fit(error, request.profile.unwrap_or_else(|| fitter.profile())))?;
    let told = FittedTold::new(&fitted, &texts).map_err(Failure::other)?;
    Ok(Answer::json(&told).with_bytes(fitted.report_json().into_bytes()))
}
