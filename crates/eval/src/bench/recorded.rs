//! The whole session in its agent's form: the strings that it used later, and the count of its own model.

use std::path::{Path, PathBuf};

use epitome::Session;
use epitome::engine::count_message;
use epitome::formats::{LoadedSession, ReadOptions, read};
use epitome::session::Entry;
use epitome::tokens::by_model;

use super::figures::{BenchFigure, Figures};
use crate::EvalError;
use crate::cases::budget::BudgetSpec;
use crate::cases::case::{Case, CaseId, CaseOptions};
use crate::cases::cut::floor;
use crate::figures::kept::KeptCount;
use crate::run::method::Method;

/// The possible names of a whole session; the first that exists is read.
const NAMES: [&str; 4] = ["session.jsonl.gz", "session.json.gz", "session.jsonl", "session.json"];

/// Returns the session beside a prefix and its format; `None` where there is no file of one. The error names the file.
pub(super) fn whole_session(prefix: &Path) -> Result<Option<(String, LoadedSession)>, EvalError> {
    let folder = prefix.parent().unwrap_or(Path::new(""));
    let Some(path) = NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else { return Ok(None) };
    let wrong = |path: &PathBuf, problem: String| EvalError::Probes { file: path.display().to_string(), problem };
    let bytes = epitome_shelf::read_plain(&path)
        .map_err(|error| EvalError::Read { file: path.display().to_string(), error })?;
    let loaded = read(bytes, ReadOptions::default()).map_err(|error| wrong(&path, error.to_string()))?;
    let format = loaded.format.as_str().to_owned();
    match loaded.sessions.into_iter().next() {
        Some(session) => Ok(Some((format, session))),
        None => Err(wrong(&path, "holds no session".to_owned())),
    }
}

/// Returns for each budget whether the result of `method` is within it as the session's model counts; a budget is a share
/// of the first half of the session in that count. Linear in the session for each budget.
pub(super) fn own_count(
    id: &CaseId,
    format: &str,
    session: &Session,
    method: &Method,
    budgets: &[BudgetSpec],
) -> Result<Vec<(BudgetSpec, Figures)>, EvalError> {
    let Some(mut case) = Case::new(id.clone(), format, session, &CaseOptions::default())? else {
        return Ok(Vec::new());
    };
    case.prefix.model.clone_from(&session.model);
    let counter = by_model(session.model.as_deref()).map_err(|error| EvalError::Config(error.to_string()))?;
    let of_model = |it: &Entry| count_message(&*counter, &it.message).total;
    let tokens: Vec<u32> = case.prefix.view().iter().map(of_model).collect();
    let least = floor(case.prefix.view(), &tokens);
    let mut found = Vec::new();
    for budget in budgets {
        let most = budget.tokens(tokens.iter().sum()).max(least);
        let outcome = method.compact(&case, most);
        let is_within =
            outcome.entries.as_ref().is_some_and(|entries| entries.iter().map(of_model).sum::<u32>() <= most);
        let mut figures = Figures::default();
        figures.add_outcome(&outcome, None);
        figures.add(BenchFigure::Within, KeptCount::count(&[is_within]));
        found.push((*budget, figures));
    }
    Ok(found)
}
