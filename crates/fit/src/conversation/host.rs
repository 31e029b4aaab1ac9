//! The host's part in the compaction of a request.

use std::time::Duration;

use bytes::Bytes;
use epitome::live::{LiveSession, Preparation};
use epitome::strategy::Cancellation;

/// A host around the compaction of one request. What it leaves out is not done.
pub trait Host {
    /// Gives up the work under way when requested.
    fn cancellation(&self) -> Cancellation {
        Cancellation::never()
    }

    /// Time since any beginning, as the host's clock has it. Without a clock no time passes.
    fn clock(&self) -> Duration {
        Duration::ZERO
    }

    /// The time that a compaction may take, by [`clock`](Self::clock). One that was given up before half of it had
    /// passed is tried again with the next request; a slower one would only be given up again.
    fn patience(&self) -> Duration {
        Duration::MAX
    }

    /// Has the conversation's own model write the hand-offs of `live`. `request` is what would be sent without a new
    /// compaction: the model is asked at its end.
    fn ask_model(&self, live: &mut LiveSession, request: &dyn Fn(&LiveSession) -> Option<Bytes>) {
        let _ = (live, request);
    }

    /// Has compactions of `live` prepared before they are due; whether it does.
    fn prepare_ahead(&self, live: &mut LiveSession, preparation: &Preparation) -> bool {
        let _ = (live, preparation);
        false
    }

    /// Waits for a compaction that is being prepared, for as long as `patience`; whether none is under way any more.
    fn has_ended(&self, preparation: &Preparation, patience: Duration) -> bool {
        let _ = (preparation, patience);
        true
    }
}

/// A host that does nothing of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {}
