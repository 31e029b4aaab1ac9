//! Configurations in which a model writes summaries.

use epitome::Config;
use epitome::engine::block_on;
use epitome::providers::chat::{ChatErrorKind, ChatRequest};

use crate::EvalError;

/// Tokens that the answer to the first question may take: some models think before they answer.
const FIRST_ANSWER: u32 = 200;

/// Returns a configuration in which nobody steps in for the model, and its answers count however often they are used, after the
/// model has answered a question. An answer that says nothing,
/// and a service that is only busy, are good enough: summaries are asked for more than once.
pub(super) fn measured_alone(config: &Config) -> Result<Config, EvalError> {
    let mut config = config.clone();
    for (key, value) in [("summary.fall_back_to_rules", false.into()), ("summary.on_failure", "stop".into())] {
        config.set(key, &value).map_err(EvalError::Config)?;
    }
    config.count_known_answers();
    let (model, about) = config.chat_model().map_err(|errors| EvalError::Config(errors.to_string()))?;
    let request = ChatRequest {
        system: "You answer in one word.".to_owned(),
        user: "Is anybody there?".to_owned(),
        max_tokens: FIRST_ANSWER,
    };
    match block_on(model.complete(&request)) {
        Err(error) if error.fails_all || error.kind == ChatErrorKind::Rejected => {
            Err(EvalError::Model { model: about.to_string(), problem: error.message })
        }
        _ => Ok(config),
    }
}
