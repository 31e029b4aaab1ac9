//! Threads for background work that may wait for a model.

use std::time::Duration;

use epitome::engine::block_on;
use epitome::live::{BackgroundExecutor, Preparation};
use epitome::strategy::BoxFuture;
use tokio::runtime::Handle;

/// The threads of the service's runtime for work that blocks.
#[derive(Debug)]
pub(crate) struct BackgroundThreads(Handle);

impl BackgroundThreads {
    /// The threads of the runtime that this is called in; `None` outside of one.
    pub(crate) fn here() -> Option<Self> {
        Handle::try_current().ok().map(Self)
    }
}

impl BackgroundThreads {
    /// Waits until nothing is prepared any more, for at most `patience`. Returns whether that was reached. Blocks its thread.
    pub(crate) fn wait(&self, preparation: &Preparation, patience: Duration) -> bool {
        self.0.block_on(async { tokio::time::timeout(patience, preparation.wait_until_done()).await.is_ok() })
    }
}

impl BackgroundExecutor for BackgroundThreads {
    fn run(&self, work: BoxFuture<'static, ()>) {
        self.0.spawn_blocking(move || block_on(work));
    }
}
