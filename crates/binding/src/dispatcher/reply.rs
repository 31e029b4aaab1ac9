//! The reply to a call.

use serde::Serialize;
use serde_json::{Value, json};

use crate::Failure;

/// The reply to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Whether the call failed: then `json` is an object with `kind` (`config`, `format`, `infeasible` or `other`),
    /// `message`, and what the kind has besides.
    pub is_failure: bool,
    /// The value or the failure, as JSON.
    pub json: String,
    /// What is large, or not JSON: a session, a state, a report.
    pub bytes: Option<Vec<u8>>,
}

impl Reply {
    /// A value.
    pub(super) fn json(value: &impl Serialize) -> Self {
        match serde_json::to_string(value) {
            Ok(json) => Self { is_failure: false, json, bytes: None },
            Err(error) => Self::of_failure(&Failure::other(format!("the answer is not JSON: {error}"))),
        }
    }

    /// A value that is JSON already.
    pub(super) fn of_json(json: String) -> Self {
        Self { is_failure: false, json, bytes: None }
    }

    /// The same with bytes beside it.
    pub(super) fn with_bytes(self, bytes: Vec<u8>) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Reports a failure.
    pub fn of_failure(failure: &Failure) -> Self {
        let message = failure.to_string();
        let value: Value = match failure {
            Failure::Config { problems } => json!({ "kind": "config", "message": message, "problems": problems }),
            Failure::Format(_) => json!({ "kind": "format", "message": message }),
            Failure::Infeasible { budget, floor, report } => json!({
                "kind": "infeasible", "message": message, "budget": budget, "floor": floor, "report": report,
            }),
            Failure::Conflict(_) | Failure::NotFound(_) | Failure::Other(_) => {
                json!({ "kind": "other", "message": message })
            }
        };
        Self { is_failure: true, json: value.to_string(), bytes: None }
    }
}
