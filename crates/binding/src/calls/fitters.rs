//! Calls about lists of messages.

use std::ops::Deref;

use epitome::live::Overflow;
use epitome_fit::{FitPiece, FitRequest, Fitted, Fitter};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Answer;
use super::words::{FitWords, FitterWords, Handle, Retrieval, read};
use crate::fit::{problem_of, status_name};
use crate::{Failure, Parts, content_json, profile_of};

/// What became of a list: what the package needs to put its own objects together. The report is beside it, as text that is
/// read where somebody asks for it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    format: &'static str,
    status: &'static str,
    unchanged: bool,
    tokens_before: u32,
    tokens_after: u32,
    budget: u32,
    /// Bytes of each message that came, as JSON.
    lengths: Vec<usize>,
    pieces: Vec<Piece<'a>>,
    system: Option<&'a RawValue>,
    problem: Option<String>,
    /// What became of a compaction that the model asked for.
    asked: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Piece<'a> {
    Keep(usize, usize),
    Edit { index: usize, message: &'a RawValue, texts: Option<&'a [epitome_fit::TextChange]> },
    Insert { message: &'a RawValue },
}

impl<'a> Told<'a> {
    fn new(fitted: &'a Fitted, came: &[&str]) -> Result<Self, serde_json::Error> {
        let piece = |piece: &'a FitPiece| {
            Ok(match piece {
                FitPiece::Keep(kept) => Piece::Keep(kept.start, kept.end),
                FitPiece::Edit { index, message, texts } => {
                    Piece::Edit { index: *index, message: serde_json::from_str(message)?, texts: texts.as_deref() }
                }
                FitPiece::Insert { message, .. } => Piece::Insert { message: serde_json::from_str(message)? },
            })
        };
        Ok(Self {
            format: fitted.profile.as_str(),
            status: status_name(fitted),
            unchanged: fitted.is_unchanged(),
            tokens_before: fitted.tokens_before,
            tokens_after: fitted.tokens_after,
            budget: fitted.budget,
            lengths: came.iter().map(|message| message.len()).collect(),
            pieces: fitted.pieces.iter().map(piece).collect::<Result<_, _>>()?,
            system: fitted.system.as_deref().map(serde_json::from_str).transpose()?,
            problem: problem_of(fitted),
            asked: fitted.asked.as_deref(),
        })
    }
}

/// A fitter as `words` say; with `state`, the one whose state these bytes are. `parts` gives the engine of the number in the
/// words.
pub fn make_fitter<P: Deref<Target = Parts>>(
    words: &str,
    state: Option<&[u8]>,
    parts: impl Fn(u32) -> Result<P, Failure>,
) -> Result<Fitter, Failure> {
    let words: FitterWords = read(words)?;
    let (parts, format) = (parts(words.engine)?, words.format.as_deref());
    let (options, runtime, engine) = (words.options(&parts)?, words.runtime(&parts)?, parts.engine());
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
    (request.system, request.tools, request.key) = (words.system()?, words.tools()?, &words.key);
    (request.reported_tokens, request.asked) = (words.reported_tokens, words.model_request()?);
    request.profile = words.format.as_deref().map(|name| profile_of(Some(name), None)).transpose()?;
    let done = match &words.overflow {
        None => fitter.fit(&request),
        Some(limits) => fitter.fit_after(&request, Overflow { limit: limits.limit, actual: limits.actual }),
    };
    let fitted = done.map_err(|error| Failure::of_fit(error, request.profile.unwrap_or_else(|| fitter.profile())))?;
    let told = Told::new(&fitted, &texts).map_err(Failure::other)?;
    Ok(Answer::json(&told).with_bytes(fitted.report_json().into_bytes()))
}
