//! The words of a call as Python gives them.

use epitome_binding::{Share, Words};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};

use crate::failure::Failure;
use crate::json_text::WholeText;

/// The words of a call; the budget with its name in the call, the settings as JSON.
pub(crate) fn words_of(
    budget: Option<(&'static str, Bound<'_, PyAny>)>,
    chain: Option<Vec<String>>,
    mode: Option<&str>,
    task: Option<&str>,
    focus: Option<WholeText>,
    settings: Option<&[u8]>,
) -> Result<Words, Failure> {
    let budget = budget.map(|(name, given)| share_of(name, &given)).transpose()?;
    let wrong = |error| Failure::config(format!("`settings` takes a dictionary of settings: {error}"));
    let settings = settings.map(serde_json::from_slice).transpose().map_err(wrong)?;
    Words::new(budget, chain, mode, task, focus.map(|text| text.0), settings)
}

/// A budget: an `int` is tokens, a `float` a share of what the messages take now.
fn share_of(name: &str, given: &Bound<'_, PyAny>) -> Result<Share, Failure> {
    let wrong = || {
        Failure::config(format!(
            "`{name}` takes a number of tokens (int, 1 or more) or a share of the messages (float, above 0 and at most 1), \
             not {given}"
        ))
    };
    if given.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    if let Ok(tokens) = given.extract::<u32>() {
        return if tokens > 0 { Ok(Share::Tokens(tokens)) } else { Err(wrong()) };
    }
    let share = given.cast::<PyFloat>().ok().map(|share| share.value());
    share.filter(|share| *share > 0.0 && *share <= 1.0).map(Share::Part).ok_or_else(wrong)
}
