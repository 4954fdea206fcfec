//! Decompresses zstd data frame by frame.
//!
//! ruzstd decodes one frame; files by `pzstd` and concatenated files have several, with skippable frames between them.
//! It is used instead of the C library so that the project builds with Rust only.

use std::error::Error;
use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A reader of the content of all frames, in order.
pub(crate) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    pub fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Moves to the next frame with content; false at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.source).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(damage(&error, "the head of a frame makes no sense")),
            }
        }
    }

    fn check_sum(&self) -> io::Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(found)) if stored != found => {
                Err(io::Error::other("the checksum does not fit"))
            }
            _ => Ok(()),
        }
    }
}

/// The error in words: whether the data end too early, or else `what`.
fn damage(error: &FrameDecoderError, what: &str) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
        {
            return io::ErrorKind::UnexpectedEof.into();
        }
        cause = error.source();
    }
    io::Error::other(what)
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.in_frame && !self.next_frame()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let step = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.source, step);
                decoded.map_err(|error| damage(&error, "a block cannot be decoded"))?;
            }
            let length = self.decoder.read(target)?;
            if length > 0 {
                return Ok(length);
            }
            self.check_sum()?;
            self.in_frame = false;
        }
    }
}
