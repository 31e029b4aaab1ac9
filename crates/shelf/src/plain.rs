//! Files that can be read to their end: a pipe or a device in place of a file is an error, and is not waited for.

use std::fs;
use std::io;
use std::path::Path;

/// Descriptors of this process by their paths: what a shell hands over (`<(…)`, `>(…)`) is a pipe that ends when its other side
/// does, and was opened before. Sources: `fd(4)` of the BSDs and macOS, `proc_pid_fd(5)` of Linux.
const DESCRIPTORS: [&str; 3] = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];

/// The names of the same, and the device that has no bytes and takes any.
const NAMES: [&str; 4] = ["/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/null"];

/// Fails where opening `path`, or reading it to its end, could wait for ever: it is a pipe (FIFO), a socket or a device. What is
/// not there, and a folder, pass: the system tells these better.
pub fn check_plain(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    let is_handed = NAMES.iter().any(|name| path == Path::new(name))
        || path.parent().is_some_and(|parent| DESCRIPTORS.iter().any(|folder| parent == Path::new(folder)));
    match fs::metadata(path) {
        Ok(there) if !is_handed && !there.is_file() && !there.is_dir() => {
            let message = format!("it is {}, and no file", kind_of(&there));
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
        _ => Ok(()),
    }
}

/// The bytes of a file. Errors as [`check_plain`] does, and where it cannot be read.
pub fn read_plain(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    check_plain(&path)?;
    fs::read(path)
}

/// The text of a file. Errors as [`read_plain`] does, and where it is not UTF-8.
pub fn read_plain_text(path: impl AsRef<Path>) -> io::Result<String> {
    check_plain(&path)?;
    fs::read_to_string(path)
}

#[cfg(unix)]
fn kind_of(there: &fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;

    let kind = there.file_type();
    match () {
        () if kind.is_fifo() => "a pipe (FIFO)",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(not(unix))]
fn kind_of(_: &fs::Metadata) -> &'static str {
    "a device"
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_may_be_waited_for_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let check = |path: &Path, expect: Result<&[u8], &str>| {
            let read = read_plain(path).map_err(|error| error.to_string());
            assert_eq!(read.as_deref().map_err(|error| &**error), expect, "{path:?}");
        };
        check(&at("file"), Ok(b"text"));
        check(&at("pipe"), Err("it is a pipe (FIFO), and no file"));
        check(&at("link"), Err("it is a pipe (FIFO), and no file"));
        check(&at("socket"), Err("it is a socket, and no file"));
        check(Path::new("/dev/zero"), Err("it is a device, and no file"));
        check(Path::new("/dev/null"), Ok(b""));
        assert!(check_plain(at("missing")).is_ok() && check_plain(folder.path()).is_ok());
        assert!(check_plain("/dev/fd/0").is_ok() && check_plain("/dev/stdin").is_ok());
        assert_eq!(read_plain_text(at("file")).unwrap(), "text");
    }
}
