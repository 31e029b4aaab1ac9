//! Output into the input's own file, tried again while that file grows.

use std::path::Path;

use epitome::formats::write_again;

use crate::args::InputArgs;
use crate::failure::Failure;
use crate::output::Target;
use crate::session::in_place::InPlaceOutcome;
use crate::session::input;
use crate::terminal;

/// The number of times that a growing file is read again before the command gives up. Reading and appending take some
/// hundredths of a second: an agent that writes a hundred lines a second leaves room within this.
const TRIES: u32 = 24;

/// Repeats `attempt` until the file at `path` takes its output; it returns `None` if the file has grown in the meantime.
pub(crate) fn until_taken<T>(path: &Path, attempt: impl FnMut() -> Result<Option<T>, Failure>) -> Result<T, Failure> {
    until_attempted(attempt)?.ok_or_else(|| busy(path))
}

fn until_attempted<T>(mut attempt: impl FnMut() -> Result<Option<T>, Failure>) -> Result<Option<T>, Failure> {
    for _ in 0..TRIES {
        if let Some(done) = attempt()? {
            return Ok(Some(done));
        }
    }
    Ok(None)
}

/// Writes the record of a session's view once more, because there are lines in front of the first record that are not
/// in it. This program reads them as later messages; an agent that resumes from the record would not see them. Where
/// the file keeps changing, the command says so.
pub(crate) fn record_again(args: &InputArgs, target: &Target, index: usize) -> Result<(), Failure> {
    let attempts = || {
        let (bytes, original) = input::bytes_for(&args.file, target)?;
        let loaded = input::load_bytes(bytes, args, true)?;
        let bytes = write_again(&loaded, index).map_err(Failure::other)?;
        let taken = target.take(&bytes, &loaded.bytes, original.as_ref(), false)?;
        Ok((taken == InPlaceOutcome::Whole).then_some(()))
    };
    if until_attempted(attempts)?.is_none() {
        let file = args.file.display();
        terminal::note(&format!(
            "{file}: lines came in front of the compaction; compact once more when the agent is idle"
        ));
    }
    Ok(())
}

/// The error for a file that keeps changing.
pub(crate) fn busy(path: &Path) -> Failure {
    let failure = Failure::other(anyhow::anyhow!(
        "{} is in use: another program writes to it or has locked it, or its last line is not finished",
        path.display()
    ));
    failure.with_help("nothing was written; wait until the agent is idle, or name another file with -o")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_never_still_is_given_up() {
        let mut attempts = 0;
        let given_up = until_taken(Path::new("x"), || {
            attempts += 1;
            Ok(None::<()>)
        });
        assert!(given_up.is_err());
        assert_eq!(attempts, TRIES);
    }
}
