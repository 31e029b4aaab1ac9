//! Work that continues when its caller has stopped waiting.

use tokio::sync::watch;

/// Counts work that is under way, so that the service can wait for its end before it stops.
#[derive(Debug, Default)]
pub(crate) struct WorkCounter(watch::Sender<usize>);

/// Work that is under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Work(watch::Sender<usize>);

impl WorkCounter {
    pub(crate) fn begin(&self) -> Work {
        self.0.send_modify(|count| *count += 1);
        Work(self.0.clone())
    }

    /// Waits until there is no such work.
    pub(crate) async fn wait_until_idle(&self) {
        // It ends with its sender alone, which is here.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
