//! The number of files that the process may have open: each connection is one, and one more where a request is sent on.

/// Files for everything but connections: the store, logs, the libraries' own.
const BESIDE: usize = 192;

/// Files that a connection may take: its own, and the one to a provider.
const OF_A_CONNECTION: usize = 2;

/// Raises the process's limit on open files to the most that the system allows it, and returns the limit; `None` where
/// the limit is unknown.
#[cfg(unix)]
pub(crate) fn raise_limit() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "the limit on open files cannot be raised");
        }
    }
    let limit = getrlimit(Resource::Nofile).current;
    limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn raise_limit() -> Option<usize> {
    None
}

/// The number of connections that `files` open files allow, at most `wanted`.
pub(crate) fn connections(wanted: usize, files: Option<usize>) -> usize {
    let possible = files.map_or(wanted, |files| files.saturating_sub(BESIDE) / OF_A_CONNECTION);
    wanted.min(possible.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_what_the_files_allow() {
        let check = |wanted, files, expect| assert_eq!(connections(wanted, files), expect, "{wanted} {files:?}");
        check(4_096, None, 4_096);
        check(4_096, Some(1_048_576), 4_096);
        check(4_096, Some(1_024), 416);
        check(4_096, Some(100), 1);
    }
}
