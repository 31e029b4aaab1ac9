//! Calls about lists of messages.

use std::sync::Arc;

use epitome::live::Overflow;
use epitome_fit::{FitPiece, FitRequest, Fitted, Fitter};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::words::{FitWords, FitterWords, Handle, Retrieval, read};
use super::{Answer, Calls};
use crate::{Failure, content_json, fitter, fitter_from_state, problem_of, profile_of, status_name};

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
    pieces: Vec<Piece<'a>>,
    system: Option<&'a RawValue>,
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Piece<'a> {
    Keep(usize, usize),
    Edit { index: usize, message: &'a RawValue, texts: Option<&'a [epitome_fit::TextChange]> },
    Insert { message: &'a RawValue },
}

impl<'a> Told<'a> {
    fn new(fitted: &'a Fitted) -> Result<Self, serde_json::Error> {
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
            pieces: fitted.pieces.iter().map(piece).collect::<Result<_, _>>()?,
            system: fitted.system.as_deref().map(serde_json::from_str).transpose()?,
            problem: problem_of(fitted),
        })
    }
}

impl Calls {
    pub(super) fn make_fitter(&self, words: &str) -> Result<Answer, Failure> {
        let words: FitterWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let profile = profile_of(words.format.as_deref(), None)?;
        let made = fitter(&parts, profile, words.tokens()?, words.once, &words.bounds()?)?;
        Ok(self.keep_fitter(made))
    }

    pub(super) fn make_fitter_from_state(&self, words: &str, state: &[u8]) -> Result<Answer, Failure> {
        let words: FitterWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let made = fitter_from_state(state, &parts, words.format.as_deref(), words.tokens()?, &words.bounds()?)?;
        Ok(self.keep_fitter(made))
    }

    pub(super) fn fit(&self, words: &str, messages: &[u8]) -> Result<Answer, Failure> {
        let words: FitWords = read(words)?;
        let fitter = self.fitter(words.handle)?;
        let (system, tools) = (words.system()?, words.tools()?);
        let items: Vec<&RawValue> = serde_json::from_slice(messages)
            .map_err(|error| Failure::Format(format!("messages: not a JSON list of messages: {error}")))?;
        let texts: Vec<&str> = items.into_iter().map(RawValue::get).collect();
        let mut request = FitRequest::new(&texts);
        (request.system, request.tools, request.key) = (system.beside(), tools.beside(), &words.key);
        request.reported_tokens = words.reported_tokens;
        request.profile = words.format.as_deref().map(|name| profile_of(Some(name), None)).transpose()?;
        let done = match words.overflow {
            None => fitter.fit(&request),
            Some(limits) => fitter.fit_after(&request, Overflow { limit: limits.limit, actual: limits.actual }),
        };
        let fitted =
            done.map_err(|error| Failure::of_fit(error, request.profile.unwrap_or_else(|| fitter.profile())))?;
        let told = Told::new(&fitted).map_err(Failure::other)?;
        Ok(Answer::json(&told).with_bytes(fitted.report_json().into_bytes()))
    }

    pub(super) fn fitter_retrieve(&self, words: &str) -> Result<Answer, Failure> {
        let words: Retrieval = read(words)?;
        let fitter = self.fitter(words.handle)?;
        match fitter.retrieve(&words.of) {
            None => Ok(Answer::json(&())),
            Some(content) => Ok(Answer::of_json(content_json(
                &content,
                profile_of(words.format.as_deref(), Some(fitter.profile().into()))?.into(),
            )?)),
        }
    }

    pub(super) fn fitter_size(&self, words: &str) -> Result<Answer, Failure> {
        let (conversations, bytes) = self.fitter(read::<Handle>(words)?.handle)?.size();
        Ok(Answer::json(&json!({ "conversations": conversations, "bytes": bytes })))
    }

    pub(super) fn fitter_copy(&self, words: &str) -> Result<Answer, Failure> {
        let copy = self.fitter(read::<Handle>(words)?.handle)?.copy();
        Ok(self.keep_fitter(copy))
    }

    pub(super) fn fitter_state(&self, words: &str) -> Result<Answer, Failure> {
        let state = self.fitter(read::<Handle>(words)?.handle)?.state()?;
        Ok(Answer::json(&()).with_bytes(state))
    }

    /// The number and the format of a fitter.
    fn keep_fitter(&self, fitter: Fitter) -> Answer {
        let format = fitter.profile().as_str();
        Answer::json(&json!({ "handle": self.fitters.keep(fitter), "format": format }))
    }

    fn fitter(&self, handle: u32) -> Result<Arc<Fitter>, Failure> {
        self.fitters.get(handle).ok_or_else(|| Failure::other("this fitter was closed; make another one"))
    }
}
