//! What the commands that measure share: their failures, and what helps where nothing is left to measure.

use std::path::PathBuf;

use epitome_eval::{EvalError, Filter};

use crate::failure::Failure;
use crate::render::text::plural;

/// Why there is nothing to measure.
pub(crate) fn none_fits(sessions: usize, paths: &[PathBuf]) -> Failure {
    Failure::usage_text(match sessions {
        0 => {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("there is no session in {}", names.join(", "))
        }
        sessions => format!("none of {} fits", plural(sessions, "session")),
    })
}

/// The advice where a filter leaves no session: the options that exclude some.
pub(crate) fn fewer(filter: &Filter) -> String {
    let options = [
        ("--min-tokens", filter.min_tokens > 0),
        ("--min-calls", filter.min_calls > 0),
        ("--min-needed", filter.min_needed > 0),
        ("--task", filter.task.is_some()),
        ("--format", filter.format.is_some()),
        ("--only", filter.only.is_some()),
    ];
    let set: Vec<&str> = options.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    let (least, others): (Vec<&str>, Vec<&str>) = set.into_iter().partition(|name| name.starts_with("--min"));
    let mut help = Vec::new();
    if !least.is_empty() {
        help.push(format!("lower {}", least.join(", ")));
    }
    if !others.is_empty() {
        help.push(format!("leave out {}", others.join(", ")));
    }
    help.push("name other files".to_owned());
    help.join(", or ")
}

pub(crate) fn failure(error: EvalError) -> Failure {
    match error {
        EvalError::Read { .. } => Failure::usage(error).with_help("check the path"),
        // Where the next step is in the words, it is not told twice.
        EvalError::Method(ref words) if words.contains("did you mean") || words.contains("`epitome strategies`") => {
            Failure::usage(error)
        }
        EvalError::Method(_) => Failure::usage(error).with_help("`epitome strategies` lists strategies and chains"),
        EvalError::Config(_) => Failure::usage(error).with_help("docs/configuration.md lists every setting"),
        EvalError::Prices(_) => Failure::usage(error).with_help("docs/evaluation.md shows a price table"),
        EvalError::Probes { .. } => Failure::usage(error).with_help("docs/evaluation.md says how probes are written"),
        EvalError::Patterns(_) => Failure::other(error),
    }
}

/// The values in their order, each once.
pub(crate) fn each_once<T: Clone, K: PartialEq>(values: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for value in values {
        if found.iter().all(|other| key(other) != key(value)) {
            found.push(value.clone());
        }
    }
    found
}
