//! Other compactors: a command that reads a request as JSON and writes the compacted messages.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use epitome::formats::{Format, ReadOptions, Wire, read, render};
use epitome::session::Entry;
use serde_json::{Value, json};

use crate::cases::case::Case;
use crate::run::method::Method;

impl Method {
    /// Returns a command for a shell as the method `name`, with at most `timeout` for one case at one budget. It reads
    /// `{"messages": […], "budget_tokens": N}`, messages in the form of OpenAI chat, from standard input and writes
    /// `{"messages": […]}` to standard output. One that fails, writes something else or takes longer is stopped, with what it
    /// started, and has no result for that case.
    pub fn command(name: &str, command: &str, timeout: Duration) -> Self {
        let command = command.to_owned();
        Self::other(name, move |case, budget| compact(&command, timeout, case, budget))
    }
}

fn compact(command: &str, timeout: Duration, case: &Case, budget: u32) -> Result<Vec<Entry>, String> {
    let rendered = render(case.prefix.view(), Wire::OpenaiChat, case.prefix.tools.as_deref(), None);
    let request: Value = serde_json::from_str(&rendered.json).map_err(|error| error.to_string())?;
    let input = json!({ "messages": request["messages"], "budget_tokens": budget }).to_string();
    let output = run(command, timeout, input)?;
    let answer: Value = serde_json::from_slice(&output).map_err(|error| format!("its output is not JSON: {error}"))?;
    let messages = answer.get("messages").filter(|messages| messages.is_array());
    let messages = messages.ok_or("its output has no list `messages`")?;
    let bytes = json!({ "messages": messages }).to_string().into_bytes();
    let options = ReadOptions { format: Some(Format::OpenaiChat), strict: true, ..ReadOptions::default() };
    let mut loaded = read(bytes, options).map_err(|error| format!("its messages cannot be read: {error}"))?;
    let session = loaded.sessions.pop().ok_or("its messages are none")?;
    Ok(session.session.view().to_vec())
}

fn run(command: &str, timeout: Duration, input: String) -> Result<Vec<u8>, String> {
    let (name, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut shell = Command::new(name);
    shell.args([option, command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: processes that the shell starts end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut child = shell.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let deadline = Instant::now() + timeout;
    let stdin = child.stdin.take();
    // A command that closes its input early is judged by its output.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    let stdout = collect_output(child.stdout.take());
    let stderr = collect_output(child.stderr.take());
    let late = || format!("it took more than {} s", timeout.as_secs_f64());
    let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
    let Ok(output) = stdout.recv_timeout(left(deadline)) else {
        stop(&mut child);
        return Err(late());
    };
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                stop(&mut child);
                return Err(late());
            }
            Err(error) => return Err(format!("it was lost: {error}")),
        }
    };
    if status.success() {
        return Ok(output);
    }
    let said = stderr.recv_timeout(left(deadline)).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(format!("it failed with {status}: {last}"))
}

/// Ends a command that was not waited for yet, and the processes that it started.
fn stop(child: &mut Child) {
    // It may have ended by itself in the meantime; then nothing has to be ended.
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads a pipe to its end on a thread of its own, because a full pipe would stop the command.
fn collect_output(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // After an error only the output before it is there.
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}
