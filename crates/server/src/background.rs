//! Threads for what goes on in the background and may wait for a model.

use epitome::engine::block_on;
use epitome::live::Background;
use epitome::strategy::BoxFuture;
use tokio::runtime::Handle;

/// The threads of the service's runtime for work that blocks.
#[derive(Debug)]
pub(crate) struct BackgroundThreads(Handle);

impl BackgroundThreads {
    /// Those of the runtime that this is called in; `None` outside of one.
    pub(crate) fn here() -> Option<Self> {
        Handle::try_current().ok().map(Self)
    }
}

impl Background for BackgroundThreads {
    fn run(&self, work: BoxFuture<'static, ()>) {
        self.0.spawn_blocking(move || block_on(work));
    }
}
