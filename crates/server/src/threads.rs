//! The system's view of threads: the processor time that one has used, and their priorities.

use std::time::Duration;

/// The lower priority of a background thread, in steps of niceness: beside one that does not, it gets a tenth of a
/// core.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lets the system prefer other threads to this one, for good: without special rights a thread cannot come forward again.
/// Elsewhere than on Linux priorities are those of whole processes, and nothing is done.
pub(crate) fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        // On Linux "this process" is this thread.
        if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
            tracing::debug!(%error, "a thread does not step back");
        }
    }
}

/// The time of the processor that this thread has had; elsewhere than on Unix the time that has passed since some moment.
pub(crate) fn time_used() -> Duration {
    #[cfg(unix)]
    {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_thread_steps_back_alone() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let before = priority();
        let stepped = std::thread::spawn(move || {
            lower_priority();
            priority()
        });
        assert_eq!((stepped.join().unwrap(), priority()), (NICENESS.max(before), before));
    }

    #[test]
    fn time_is_that_of_the_thread() {
        let before = time_used();
        let busy = || {
            let began = time_used();
            while time_used() - began < Duration::from_millis(30) {}
            time_used()
        };
        let of_another = std::thread::spawn(busy).join().unwrap();
        assert!(of_another >= Duration::from_millis(30) && time_used() - before < of_another);
        assert!(busy() - before >= Duration::from_millis(30));
    }
}
