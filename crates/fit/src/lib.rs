//! Fits a host's list of messages into a budget, call after call, with the same decisions at the same places.
//!
//! A host that calls a model in a loop of its own holds a list of messages in the provider's form. [`Fitter::fit`] says what to
//! send in place of it, by the numbers of the messages: keep these, change that one, insert this one.
//!
//! ```
//! use epitome::formats::Wire;
//! use epitome_fit::{FitOptions, FitRequest, Fitter};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = epitome::Config::default().build(&epitome::registry())?;
//! let fitter = Fitter::new(&runtime, Wire::OpenaiChat, FitOptions::within(60_000));
//!
//! let messages = vec![r#"{"role":"user","content":"Fix the build"}"#.to_owned()]; // grows with every turn
//! // Before each call of the model:
//! let fitted = fitter.fit(&FitRequest::new(&messages))?;
//! let to_send = fitted.to_messages(&messages)?;
//! # assert!(fitted.is_unchanged() && to_send == messages);
//! # Ok(())
//! # }
//! ```
//!
//! [`conversation`] holds the parts that it is made of, for hosts that have requests as bytes.

mod archive;
pub mod conversation;
mod error;
mod fitted;
mod fitter;
mod options;
mod pieces;
mod request;
mod state;

pub use archive::{ArchiveHit, Archives, epoch_bytes, message_bytes};
pub use error::{FitError, StateError};
pub use fitted::{FitPiece, FitRemoval, FitReport, FitStatus, Fitted, TextChange};
pub use fitter::{Fitter, fit};
pub use options::FitOptions;
pub use request::{FitRequest, RequestPart};
