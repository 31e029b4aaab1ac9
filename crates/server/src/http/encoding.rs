//! Compressed bodies of requests.

use std::io::{self, Read};

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use epitome::formats::{GzipReader, MAX_MEMBERS};

use super::error::ApiError;
use super::problem::Problem;

/// The largest window of a zstd frame, as a power of two: 8 MiB, the most that RFC 9659 allows in HTTP. A frame with a
/// larger one would take that memory before its first byte is out.
const ZSTD_WINDOW: u32 = 23;

/// A coding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Zlib,
    Zstd,
}

impl Coding {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Zlib),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib => "deflate",
            Self::Zstd => "zstd",
        }
    }

    fn decode(self, body: &[u8], most: usize, room: impl Fn(usize) -> bool) -> io::Result<UnpackedBody> {
        match self {
            Self::Gzip => read_within(GzipReader::new(body), most, room),
            Self::Zlib => read_within(flate2::read::ZlibDecoder::new(body), most, room),
            Self::Zstd => read_within(ZstdReader::new(body)?, most, room),
        }
    }
}

/// The content of zstd: of all its frames, of which there may be as many as gzip may have members.
struct ZstdReader<'b> {
    /// `None` behind an error.
    frame: Option<zstd::stream::read::Decoder<'static, &'b [u8]>>,
    frames: usize,
}

impl<'b> ZstdReader<'b> {
    fn new(body: &'b [u8]) -> io::Result<Self> {
        Ok(Self { frame: Some(Self::frame(body)?), frames: 1 })
    }

    fn frame(body: &'b [u8]) -> io::Result<zstd::stream::read::Decoder<'static, &'b [u8]>> {
        let mut frame = zstd::stream::read::Decoder::with_buffer(body)?.single_frame();
        frame.window_log_max(ZSTD_WINDOW)?;
        Ok(frame)
    }
}

impl Read for ZstdReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else { return Ok(0) };
            let count = frame.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            let rest = self.frame.take().map(|frame| frame.finish()).unwrap_or_default();
            if rest.is_empty() {
                return Ok(0);
            }
            if self.frames == MAX_MEMBERS {
                return Err(io::Error::new(
                    io::ErrorKind::QuotaExceeded,
                    format!("it has more than {MAX_MEMBERS} frames"),
                ));
            }
            self.frame = Some(Self::frame(rest)?);
            self.frames += 1;
        }
    }
}

/// What came out of something packed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnpackedBody {
    /// All of it.
    Whole(Vec<u8>),
    /// More than it may be.
    TooLarge,
    /// There is no room for it now.
    NoRoom,
}

/// The bytes for which room is asked at a time.
const PIECE: usize = 256 << 10;

/// Reads up to `most` bytes, and asks for `room` for each piece before it is read.
pub(crate) fn read_within(from: impl Read, most: usize, room: impl Fn(usize) -> bool) -> io::Result<UnpackedBody> {
    let mut from = from.take(most as u64 + 1);
    let mut read = Vec::new();
    loop {
        let piece = PIECE.min(most + 1 - read.len());
        if !room(piece) {
            return Ok(UnpackedBody::NoRoom);
        }
        if from.by_ref().take(piece as u64).read_to_end(&mut read)? < piece {
            return Ok(UnpackedBody::Whole(read));
        }
        if read.len() > most {
            return Ok(UnpackedBody::TooLarge);
        }
    }
}

/// A body without the codings that its headers name. `None` where one of them is not known (gzip, deflate and zstd are), or
/// where the body is not in it. The memory that it takes is bounded by `most` bytes and a window of 8 MiB, whatever the
/// body claims.
///
/// # Errors
///
/// The body has more than `most` bytes without its codings, or more members than are read, or `room` has none for it: it is asked before a piece is
/// unpacked, with the piece's bytes.
pub(crate) async fn decoded_body(
    headers: &HeaderMap,
    body: Bytes,
    most: usize,
    room: impl Fn(usize) -> bool + Send + 'static,
) -> Result<Option<Bytes>, ApiError> {
    let Some(codings) = codings_of(headers) else { return Ok(None) };
    if codings.is_empty() {
        return Ok(Some(body));
    }
    // A few bytes may become many: not on a thread that answers others.
    let work = move || {
        let mut body = body;
        for coding in codings.into_iter().rev() {
            match coding.decode(&body, most, &room) {
                Ok(UnpackedBody::Whole(decoded)) => body = Bytes::from(decoded),
                Ok(UnpackedBody::TooLarge) => {
                    let message = format!("the body is larger than {most} bytes when it is decompressed");
                    return Err(Problem::TooLarge.with(message));
                }
                Ok(UnpackedBody::NoRoom) => {
                    return Err(Problem::Busy.with("too many bytes of compressed bodies are under way"));
                }
                Err(error) if error.kind() == io::ErrorKind::QuotaExceeded => {
                    return Err(Problem::TooLarge.with(format!("the body cannot be decompressed: {error}")));
                }
                Err(error) => {
                    tracing::debug!(%error, coding = coding.name(), "a body cannot be decompressed");
                    return Ok(None);
                }
            }
        }
        Ok(Some(body))
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| Problem::Internal)?
}

/// The codings of a body in the order in which they were applied; `None` where one is not known.
fn codings_of(headers: &HeaderMap) -> Option<Vec<Coding>> {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let names: Vec<String> =
        values.flat_map(|value| value.to_str().unwrap_or("?").split(',')).map(|it| it.trim().to_lowercase()).collect();
    names.iter().filter(|name| !name.is_empty() && *name != "identity").map(|name| Coding::from_name(name)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write as _;

    use super::*;

    const MOST: usize = 1_000;

    fn gzipped(body: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    fn zlibbed(body: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    fn zstandard(body: &[u8], window: u32) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(window).unwrap();
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    async fn check(encoding: &str, body: Vec<u8>, expect: Result<Option<&[u8]>, Problem>) {
        let mut headers = HeaderMap::new();
        if !encoding.is_empty() {
            headers.insert(header::CONTENT_ENCODING, encoding.parse().unwrap());
        }
        let found = decoded_body(&headers, Bytes::from(body), MOST, |_| true).await;
        let found = found.map_err(|error| error.problem);
        assert_eq!(found, expect.map(|body| body.map(Bytes::copy_from_slice)), "{encoding}");
    }

    #[tokio::test]
    async fn without_room_nothing_is_unpacked() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
        let body = || Bytes::from(gzipped(&vec![0; 3 * PIECE]));
        let check = async |room: usize, expect: Option<Problem>| {
            let left = std::sync::atomic::AtomicUsize::new(room);
            let take = move |bytes: usize| {
                let order = std::sync::atomic::Ordering::Relaxed;
                left.fetch_update(order, order, |left| left.checked_sub(bytes)).is_ok()
            };
            let found = decoded_body(&headers, body(), 10 * PIECE, take).await;
            assert_eq!(found.err().map(|error| error.problem), expect, "{room}");
        };
        check(0, Some(Problem::Busy)).await;
        check(2 * PIECE, Some(Problem::Busy)).await;
        check(4 * PIECE, None).await;
    }

    #[tokio::test]
    async fn bodies_are_decoded_within_their_bound() {
        let (short, long) = (b"{\"model\":1}".as_slice(), [b'x'; MOST]);
        for (name, encode) in [
            ("gzip", gzipped as fn(&[u8]) -> Vec<u8>),
            ("X-GZIP", gzipped),
            ("deflate", zlibbed),
            ("zstd", |body| zstandard(body, 20)),
        ] {
            check(name, encode(short), Ok(Some(short))).await;
            check(name, encode(&long), Ok(Some(&long))).await;
            check(name, encode(&[b'x'; MOST + 1]), Err(Problem::TooLarge)).await;
            check(name, encode(&vec![0; 50 << 20]), Err(Problem::TooLarge)).await;
            let whole = encode(&long);
            check(name, whole[..whole.len() - 5].to_vec(), Ok(None)).await;
            check(name, short.to_vec(), Ok(None)).await;
            check(name, Vec::new(), Ok(None)).await;
        }
        for (name, empty) in [("gzip", gzipped(b"")), ("zstd", zstandard(b"", 20))] {
            let whole = if name == "gzip" { gzipped(short) } else { zstandard(short, 20) };
            check(name, [whole.clone(), empty.repeat(MAX_MEMBERS - 1)].concat(), Ok(Some(short))).await;
            check(name, [whole, empty.repeat(MAX_MEMBERS)].concat(), Err(Problem::TooLarge)).await;
        }
        for name in ["", "identity", "identity, identity"] {
            check(name, short.to_vec(), Ok(Some(short))).await;
        }
        check("gzip, zstd", zstandard(&gzipped(short), 20), Ok(Some(short))).await;
        for unknown in ["br", "zstd, br", "compress"] {
            check(unknown, short.to_vec(), Ok(None)).await;
        }
        check("zstd", zstandard(short, ZSTD_WINDOW + 2), Ok(None)).await;
    }
}
