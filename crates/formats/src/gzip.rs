//! Gzip, with as many members as a file may sensibly have.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// The most members of one stream: files that are appended to have one for each time, and those in blocks one for each 64 KiB.
/// An empty member is 20 bytes and takes microseconds to begin: a few MB of them would keep a core busy for a minute.
pub const MAX_MEMBERS: usize = 10_000;

/// The content of gzip: of all its members, one behind the other. Linear in the bytes, and a bounded number of members.
#[derive(Debug)]
pub struct GzipReader<'b> {
    member: GzDecoder<&'b [u8]>,
    members: usize,
}

impl<'b> GzipReader<'b> {
    /// Reads `bytes` from the beginning of the first member.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { member: GzDecoder::new(bytes), members: 1 }
    }
}

impl Read for GzipReader<'_> {
    /// Errors where the data is damaged or ends too early, and of the kind [`io::ErrorKind::QuotaExceeded`] where there are
    /// more than [`MAX_MEMBERS`].
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.member.read(into)?;
            let rest = *self.member.get_ref();
            if count > 0 || into.is_empty() || rest.is_empty() {
                return Ok(count);
            }
            if self.members == MAX_MEMBERS {
                let message = format!("it has more than {MAX_MEMBERS} members");
                return Err(io::Error::new(io::ErrorKind::QuotaExceeded, message));
            }
            self.member = GzDecoder::new(rest);
            self.members += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn members_behind_each_other() {
        let member = |content: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        };
        let check = |bytes: &[u8], expect: Result<&[u8], io::ErrorKind>| {
            let mut content = Vec::new();
            let read = GzipReader::new(bytes).read_to_end(&mut content);
            assert_eq!(read.map(|_| &*content).map_err(|error| error.kind()), expect);
        };
        check(&member(b"one"), Ok(b"one"));
        check(&[member(b"one"), member(b""), member(b"two")].concat(), Ok(b"onetwo"));
        check(&member(b"").repeat(MAX_MEMBERS), Ok(b""));
        check(&member(b"").repeat(MAX_MEMBERS + 1), Err(io::ErrorKind::QuotaExceeded));
        check(&member(b"one")[..15], Err(io::ErrorKind::UnexpectedEof));
        check(&[member(b"one"), b"more".to_vec()].concat(), Err(io::ErrorKind::UnexpectedEof));
        check(&[member(b"one"), vec![0; 20]].concat(), Err(io::ErrorKind::InvalidInput));
        check(b"", Err(io::ErrorKind::UnexpectedEof));
    }
}
