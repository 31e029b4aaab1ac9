//! The service under measurement: the real program, in a process of its own.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A service that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    process: Child,
    config: PathBuf,
    store: PathBuf,
}

impl Running {
    /// Starts the program beside this one, or the one that `EPITOME` names, with a configuration and in front of a
    /// provider.
    pub(crate) fn start(config: &str, provider: SocketAddr) -> io::Result<Self> {
        Self::start_with(config, provider, &[])
    }

    /// The same with more options.
    pub(crate) fn start_with(config: &str, provider: SocketAddr, options: &[&str]) -> io::Result<Self> {
        let beside = std::env::current_exe()?.with_file_name("epitome");
        let program = std::env::var_os("EPITOME").map_or(beside, PathBuf::from);
        let file = std::env::temp_dir().join(format!("epitome-service-{}.toml", std::process::id()));
        std::fs::write(&file, config)?;
        let upstream = format!("http://{provider}");
        let store = std::env::temp_dir().join(format!("epitome-service-{}.sqlite", std::process::id()));
        remove(&store);
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--requests-per-minute", "0", "--config"])
            .arg(&file)
            .args(["--upstream", &upstream])
            .args(["--store", &format!("sqlite:{}", store.display())])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()?;
        let mut said = BufReader::new(process.stderr.take().ok_or_else(|| io::Error::other("nothing to listen to"))?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        // What it goes on to say is read and thrown away: a full pipe would stop it.
        std::thread::spawn(move || io::copy(&mut said, &mut io::sink()));
        match address {
            Some(address) => Ok(Self { address, process, config: file, store }),
            None => {
                process.kill()?;
                Err(io::Error::other(format!("the service does not say where it listens: {line}")))
            }
        }
    }

    /// Resident memory in MiB: now, and the most so far. Zeros where the system does not tell.
    pub(crate) fn memory(&self) -> (u64, u64) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
        };
        (of("VmRSS:"), of("VmHWM:"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It holds nothing that is worth an orderly end.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.config);
        remove(&self.store);
    }
}

/// Removes a database with the files beside it, as far as there are any.
fn remove(store: &std::path::Path) {
    for end in ["", "-wal", "-shm"] {
        let mut file = store.as_os_str().to_owned();
        file.push(end);
        let _ = std::fs::remove_file(file);
    }
}
