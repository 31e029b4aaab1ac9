//! Running a command with a request on its standard input: bounded in time and output, and with nothing left behind.

use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};

use epitome_strategy::lock;
use std::thread;
use std::time::{Duration, Instant};

/// The number of bytes of standard error that are kept.
const ERRORS: usize = 2_048;
/// The interval at which a running program is checked.
const GLANCE: Duration = Duration::from_millis(5);
/// The time to wait for the output of a program that has ended: a process that it started may hold it open.
const GRACE: Duration = Duration::from_millis(250);

/// The limits of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramLimits {
    pub(super) time: Duration,
    /// Bytes of its answer.
    pub(super) output: usize,
}

/// The output of a program that ended well.
#[derive(Debug)]
pub(super) struct ProgramOutput {
    pub(super) output: Vec<u8>,
    /// The end of its standard error.
    pub(super) errors: Vec<u8>,
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(super) enum ProgramFailure {
    Start(io::Error),
    Time { limit: Duration, errors: Vec<u8> },
    Output { limit: usize },
    Exit { status: ExitStatus, errors: Vec<u8> },
    Wait(io::Error),
}

impl fmt::Display for ProgramFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(formatter, "could not be started: {error}"),
            Self::Time { limit, errors } => {
                write!(formatter, "took longer than {} ms and was ended{}", limit.as_millis(), error_tail(errors))
            }
            Self::Output { limit } => write!(formatter, "answered more than {limit} bytes and was ended"),
            Self::Exit { status, errors } => write!(formatter, "ended with {status}{}", error_tail(errors)),
            Self::Wait(error) => write!(formatter, "was lost sight of: {error}"),
        }
    }
}

/// The end of a program's standard error, for the end of a message; on one line.
pub(super) fn error_tail(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!("; it said: {}", lines.join(" / ")) }
}

/// Runs `command` (the program and its arguments) with `input` on its standard input. Takes as long as the program does,
/// `limits.time` at most beside what ending it takes.
pub(super) fn run(command: &[String], input: Vec<u8>, limits: ProgramLimits) -> Result<ProgramOutput, ProgramFailure> {
    let started = Instant::now();
    let mut running = RunningProgram::start(command)?;
    let (sender, events) = mpsc::channel();
    let output = read_all(running.child.stdout.take(), limits.output, Some(sender));
    let errors = read_end(running.child.stderr.take());
    write_all(running.child.stdin.take(), input);
    let ended = wait(&mut running, &events, started + limits.time);
    // From here on nothing of the program runs any more; it may have left a process that holds its output open.
    let status = running.end();
    let errors = errors.take(Instant::now() + GRACE);
    match ended {
        End::Time => Err(ProgramFailure::Time { limit: limits.time, errors }),
        End::TooMuch => Err(ProgramFailure::Output { limit: limits.output }),
        End::Exit => {
            let status = status.map_err(ProgramFailure::Wait)?;
            if !status.success() {
                return Err(ProgramFailure::Exit { status, errors });
            }
            let output = output.take(Instant::now() + GRACE);
            if output.len() > limits.output {
                Err(ProgramFailure::Output { limit: limits.output })
            } else {
                Ok(ProgramOutput { output, errors })
            }
        }
    }
}

enum End {
    Exit,
    Time,
    TooMuch,
}

/// Waits until the program has ended, its time is over, or it has written too much.
fn wait(running: &mut RunningProgram, output: &Receiver<Output>, deadline: Instant) -> End {
    let mut open = true;
    // The first glances come fast: a program that answers at once is not to wait.
    let mut glance = Duration::from_micros(200);
    loop {
        if running.has_ended() {
            return End::Exit;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return End::Time;
        }
        let pause = glance.min(left);
        if open {
            match output.recv_timeout(pause) {
                Ok(Output::TooMuch) => return End::TooMuch,
                // Closed: the end of the program is near.
                Ok(Output::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    open = false;
                    glance = Duration::from_micros(200);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        } else {
            thread::sleep(pause);
        }
        glance = (glance * 2).min(GLANCE);
    }
}

/// A program that runs; it is ended and waited for whatever happens, with everything that it started in its group.
struct RunningProgram {
    child: Child,
    status: Option<ExitStatus>,
}

impl RunningProgram {
    fn start(command: &[String]) -> Result<Self, ProgramFailure> {
        let (program, arguments) = command.split_first().ok_or_else(|| {
            ProgramFailure::Start(io::Error::new(io::ErrorKind::InvalidInput, "there is no program in the command"))
        })?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().map_err(ProgramFailure::Start)?;
        Ok(Self { child, status: None })
    }

    /// Whether the program has ended; it is not waited for yet, so that its group keeps its number.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match self.pid() {
            Some(pid) => !matches!(waitid(WaitId::Pid(pid), options), Ok(None)),
            None => true,
        }
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        match self.child.try_wait() {
            Ok(None) => false,
            Ok(Some(status)) => {
                self.status = Some(status);
                true
            }
            Err(_) => true,
        }
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
    }

    /// Ends the program and its group, and waits for it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        // The program may be gone already; then there is nothing to end.
        #[cfg(unix)]
        if let Some(pid) = self.pid() {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        #[cfg(not(unix))]
        let _ = self.child.kill();
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The reader's result for the standard output.
enum Output {
    Closed,
    TooMuch,
}

/// The output that a thread has read so far, and whether it has finished.
struct PipeReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl PipeReader {
    /// The output until the pipe was closed, or until `deadline`. A thread whose pipe is held open by a process that
    /// left the program's group ends with that process.
    fn take(mut self, deadline: Instant) -> Vec<u8> {
        if let Some(thread) = self.thread.take() {
            while !thread.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_micros(200));
            }
        }
        std::mem::take(&mut *lock(&self.bytes))
    }
}

/// Reads a pipe to its end, `limit` bytes and one more at most.
fn read_all(pipe: Option<impl Read + Send + 'static>, limit: usize, events: Option<Sender<Output>>) -> PipeReader {
    read(
        pipe,
        move |bytes, new| {
            bytes.extend_from_slice(&new[..new.len().min((limit + 1).saturating_sub(bytes.len()))]);
            bytes.len() <= limit
        },
        events,
    )
}

/// Reads a pipe to its end and keeps the last part.
fn read_end(pipe: Option<impl Read + Send + 'static>) -> PipeReader {
    read(
        pipe,
        |bytes, new| {
            bytes.extend_from_slice(new);
            bytes.drain(..bytes.len().saturating_sub(ERRORS));
            true
        },
        None,
    )
}

fn read<P: Read + Send + 'static>(
    pipe: Option<P>,
    mut keep: impl FnMut(&mut Vec<u8>, &[u8]) -> bool + Send + 'static,
    events: Option<Sender<Output>>,
) -> PipeReader {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&bytes);
    let work = move || {
        let Some(mut pipe) = pipe else { return };
        let mut buffer = vec![0; 65_536];
        let mut event = Output::Closed;
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            if !keep(&mut lock(&shared), &buffer[..count]) {
                event = Output::TooMuch;
                break;
            }
        }
        if let Some(events) = events {
            // Whoever asked may have gone.
            let _ = events.send(event);
        }
    };
    // Without a thread nothing is read, and the program's time runs out.
    PipeReader { bytes, thread: thread::Builder::new().name("strategy-output".to_owned()).spawn(work).ok() }
}

/// Writes the request from a thread of its own: a program that does not read must not block anyone.
fn write_all(pipe: Option<impl Write + Send + 'static>, input: Vec<u8>) {
    let work = move || {
        if let Some(mut pipe) = pipe {
            // A program that answers without reading everything is within its rights.
            let _ = pipe.write_all(&input);
        }
    };
    let _ = thread::Builder::new().name("strategy-input".to_owned()).spawn(work);
}
