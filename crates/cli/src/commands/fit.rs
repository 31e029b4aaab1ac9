//! `epitome fit --stdio`: the calls of the packages for a program in any language, a line of JSON for each call and each answer.

mod calls;
mod fitters;
mod kept;

use std::io::{self, BufRead, Read as _};
use std::process::ExitCode;

use crate::args::FitArgs;
use crate::failure::{CommandResult, Failure};
use crate::{configuration, terminal};
use calls::{Calls, unreadable};
use kept::KeptDecisions;

/// The longest line that is read, in bytes: as much as the service takes in a request.
const LONGEST: u64 = 64 * 1024 * 1024;

pub(crate) fn run(args: &FitArgs) -> CommandResult {
    let registry = epitome::registry();
    let config = match args.plugin {
        true => configuration::read_for_plugin(&registry)?,
        false => configuration::read_for_agent(&args.configuration, &registry)?,
    };
    let kept = if args.plugin { KeptDecisions::of_person() } else { None };
    let mut calls = Calls::new(config, kept).map_err(|failure| Failure::usage(anyhow::Error::new(failure)))?;
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        // The end of a line does not count, and is read already where the line is just as long as it may be.
        let answer = if length as u64 > LONGEST && line.last() != Some(&b'\n') {
            skip_line(&mut input)?;
            Some(unreadable(format_args!("is longer than {LONGEST} bytes")))
        } else {
            calls.answer(&line, write_line)?
        };
        if let Some(answer) = answer {
            write_line(answer)?;
        }
    }
}

fn write_line(mut line: String) -> io::Result<()> {
    line.push('\n');
    terminal::standard(line.as_bytes())
}

/// Reads to the end of a line, without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (used, is_end) = match end {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        input.consume(used);
        if is_end {
            return Ok(());
        }
    }
}
