//! Lists of messages, fitted call after call.

use epitome::Runtime;
use epitome::engine::{Mode, Status};
use epitome::formats::Wire;
use epitome::strategy::{HostChanges, Named};
use epitome_fit::{Beside, FitOptions, FitStatus, Fitted, Fitter};

use crate::failure::parts_of;
use crate::input::profile_of;
use crate::{Failure, Parts};

/// How much a fitter may remember, where the host says so, and what the host can change.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// Conversations.
    pub conversations: Option<usize>,
    /// Bytes of what is known of them.
    pub memory_bytes: Option<usize>,
    /// Bytes of what left the context.
    pub archive_bytes: Option<usize>,
    /// The key of the hashes by which conversations are recognised.
    pub secret: Option<[u8; 32]>,
    /// The changes that the host can make to its list.
    pub host: HostChanges,
    /// The strategies to ask in place of the configuration's, or the name of a chain.
    pub chain: Option<Vec<String>>,
}

/// The changes of that name that a host can make; all of them without one.
///
/// # Errors
///
/// There are no changes of that name.
pub fn host_of(name: Option<&str>) -> Result<HostChanges, Failure> {
    let Some(name) = name else { return Ok(HostChanges::default()) };
    HostChanges::from_name(name).map_err(|error| Failure::config(format!("`host`: {error}")))
}

/// What stands beside the messages, as text.
#[derive(Debug, Clone, Default)]
pub enum Text {
    /// Nothing.
    #[default]
    Nothing,
    /// What the request has there, as JSON.
    Json(String),
    /// The tokens of something that is not shown.
    Tokens(u32),
}

impl Text {
    /// The same, borrowed for a request.
    pub fn beside(&self) -> Beside<'_> {
        match self {
            Self::Nothing => Beside::Nothing,
            Self::Json(json) => Beside::Json(json),
            Self::Tokens(tokens) => Beside::Tokens(*tokens),
        }
    }
}

fn options(parts: &Parts, budget: Option<u32>, once: bool, bounds: &Bounds) -> FitOptions {
    let mut options = match budget {
        Some(tokens) if once => FitOptions::once(tokens),
        Some(tokens) => FitOptions::within(tokens),
        None => FitOptions::for_budget(parts.runtime.budget.clone()),
    };
    options.conversations = bounds.conversations.unwrap_or(options.conversations);
    options.memory_bytes = bounds.memory_bytes.unwrap_or(options.memory_bytes);
    options.archive_bytes = bounds.archive_bytes.unwrap_or(options.archive_bytes);
    options.secret = bounds.secret.unwrap_or(options.secret);
    options.host = bounds.host;
    options
}

/// What the configuration describes, with the chain of the words.
fn runtime(parts: &Parts, bounds: &Bounds) -> Result<Runtime, Failure> {
    let mut runtime = parts.runtime.clone();
    if let Some(names) = &bounds.chain {
        let chain = runtime.chain(names, &parts.registry);
        runtime.fixed = Some(chain.map_err(|problem| Failure::config(format!("`chain`: {problem}")))?);
        runtime.mode = Mode::Fixed;
    }
    Ok(runtime)
}

/// A fitter within `budget` tokens, or the budget of the configuration; `once` for a list that does not grow.
///
/// # Errors
///
/// A chain that does not exist.
pub fn fitter(
    parts: &Parts,
    profile: Wire,
    budget: Option<u32>,
    once: bool,
    bounds: &Bounds,
) -> Result<Fitter, Failure> {
    let options = options(parts, budget, once, bounds);
    Ok(Fitter::with_engine(parts.engine(), &runtime(parts, bounds)?, profile, options))
}

/// The fitter whose state these bytes are; its lists are of the format in them unless one is named.
///
/// # Errors
///
/// The bytes are damaged, or of another version or counter; a chain that does not exist.
pub fn fitter_from_state(
    state: &[u8],
    parts: &Parts,
    format: Option<&str>,
    budget: Option<u32>,
    bounds: &Bounds,
) -> Result<Fitter, Failure> {
    let profile = format.map(|name| profile_of(Some(name), None)).transpose()?;
    let options = options(parts, budget, false, bounds);
    Ok(Fitter::from_state_with_engine(state, parts.engine(), &runtime(parts, bounds)?, profile, options)?)
}

/// What to say where a list cannot be made to fit; `None` where it fits.
pub fn problem_of(fitted: &Fitted) -> Option<String> {
    let Fitted { status, tokens_after, budget, detail, floor, .. } = fitted;
    (*status == FitStatus::Infeasible).then(|| {
        let why = match (floor, detail) {
            (Some(floor), _) => format!(": what must stay takes at least {} ({})", floor.tokens, parts_of(floor)),
            (None, Some(detail)) => format!(" ({detail})"),
            (None, None) => String::new(),
        };
        format!(
            "the messages take {tokens_after} tokens and cannot fit {budget}{why}; give a larger budget, or shorten what \
             must stay"
        )
    })
}

/// `unchanged`, `replayed`, `compacted`, `hollow` where this call's compaction left next to nothing of what was asked for and
/// worked on, or `infeasible`.
pub fn status_name(fitted: &Fitted) -> &'static str {
    let is_hollow = || fitted.report.as_ref().is_some_and(|report| report.status == Status::Hollow);
    match fitted.status {
        FitStatus::Unchanged => "unchanged",
        FitStatus::Replayed => "replayed",
        FitStatus::Compacted if is_hollow() => "hollow",
        FitStatus::Compacted => "compacted",
        FitStatus::Infeasible => "infeasible",
    }
}
