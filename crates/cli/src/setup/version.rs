//! The version of an agent, as its program says it.

use std::fmt;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long an agent may take to say its version, and how often that is looked at. Pi takes a second.
const SAYS: (Duration, Duration) = (Duration::from_secs(10), Duration::from_millis(20));

/// A version: three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl Version {
    /// The first version in what a program says of itself: `2.1.332 (Claude Code)`, `codex-cli 0.171.0`.
    fn read(said: &str) -> Option<Self> {
        said.split_whitespace().find_map(|word| {
            let plain = word.trim_start_matches('v').split(['-', '+']).next()?;
            let numbers: Vec<u32> = plain.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
            numbers.try_into().ok().map(Self)
        })
    }

    /// The version of the program of this name; `None` where there is none, or it says none in time.
    pub(super) fn of(program: &str) -> Option<Self> {
        let mut command = Command::new(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let (most, pause) = SAYS;
        let begun = Instant::now();
        while begun.elapsed() < most {
            // What it says is short, so that it never waits for a reader.
            if let Ok(Some(_)) = child.try_wait() {
                let mut said = String::new();
                child.stdout.take()?.read_to_string(&mut said).ok()?;
                return Self::read(&said);
            }
            std::thread::sleep(pause);
        }
        // An agent that hangs is not waited for, and gets no word.
        let _ = child.kill();
        let _ = child.wait();
        None
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_programs() {
        let check =
            |said: &str, expect: Option<[u32; 3]>| assert_eq!(Version::read(said).map(|it| it.0), expect, "{said}");
        check("2.1.332 (Claude Code)\n", Some([2, 1, 332]));
        check("codex-cli 0.171.0\n", Some([0, 171, 0]));
        check("v1.18.33-beta.1\n", Some([1, 18, 33]));
        check("1.5.2", Some([1, 5, 2]));
        check("codex 1.2", None);
        check("", None);
        assert!(Version([2, 1, 197]) < Version([2, 1, 259]) && Version([1, 0, 0]) > Version([0, 171, 0]));
        assert_eq!(Version::of("no-such-program-of-epitome"), None);
    }
}
