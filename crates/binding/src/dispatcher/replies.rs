//! The values that calls reply with.

use epitome_fit::{FitPiece, Fitted};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fit_status::{infeasibility, status_name};

/// The result of fitting a list: what the package needs to put its own objects together. The report is beside it, as text that is
/// read where somebody asks for it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FitReply<'a> {
    format: &'static str,
    status: &'static str,
    unchanged: bool,
    tokens_before: u32,
    tokens_after: u32,
    budget: u32,
    /// Bytes of each message that came, as JSON.
    lengths: Vec<usize>,
    pieces: Vec<PieceReply<'a>>,
    system: Option<&'a RawValue>,
    problem: Option<String>,
    /// What became of a compaction that the model asked for.
    asked: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum PieceReply<'a> {
    Keep(usize, usize),
    Edit { index: usize, message: &'a RawValue, texts: Option<&'a [epitome_fit::TextChange]> },
    Insert { message: &'a RawValue },
}

impl<'a> FitReply<'a> {
    pub(super) fn new(fitted: &'a Fitted, came: &[&str]) -> Result<Self, serde_json::Error> {
        let piece = |piece: &'a FitPiece| {
            Ok(match piece {
                FitPiece::Keep { start, end } => PieceReply::Keep(*start, *end),
                FitPiece::Edit { index, message, texts } => {
                    PieceReply::Edit { index: *index, message: serde_json::from_str(message)?, texts: texts.as_deref() }
                }
                FitPiece::Insert { message, .. } => PieceReply::Insert { message: serde_json::from_str(message)? },
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
            problem: infeasibility(fitted),
            asked: fitted.asked.as_deref(),
        })
    }
}

/// A tool that a model can call.
#[derive(Debug, Serialize)]
pub(crate) struct ToolEntry {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) parameters: Value,
}

/// The answer to a model that looked something up.
#[derive(Debug, Serialize)]
pub(crate) struct LookUpReply {
    pub(super) text: String,
    /// Whether its call was wrong.
    pub(super) is_error: bool,
}

/// What matters of a session, as one text.
#[derive(Debug, Serialize)]
pub(crate) struct BriefReply {
    pub(super) text: String,
    /// How many messages it is of.
    pub(super) messages: usize,
}

/// A rule of its provider that a request breaks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct BrokenRule {
    /// Where, such as `messages[3].content[0]`.
    pub(super) path: String,
    /// The rule, as a code: `call-without-result`, `alternation`, …
    pub(super) rule: &'static str,
    /// What is wrong, for a person.
    pub(super) message: String,
}

/// A format of sessions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct FormatEntry {
    pub(super) name: &'static str,
    /// What is read in it, in a line.
    pub(super) about: &'static str,
    /// Whether `to` may name it.
    pub(super) writable: bool,
}

/// The tokens that a provider's refusal names.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
pub(crate) struct ContextOverflow {
    /// The most that the model takes.
    #[cfg_attr(test, schema(required))]
    pub(super) limit: Option<u32>,
    /// What the request had.
    #[cfg_attr(test, schema(required))]
    pub(super) actual: Option<u32>,
}
