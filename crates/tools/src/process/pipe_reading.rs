//! Reads the two pipes of a command as soon as something is in them, on a thread that does nothing else.
//!
//! What the two streams carry has an order only by when it is read: two lines that were both there when this looked may have
//! been written in either order, and standard output goes first then. So nothing may keep it from looking: neither the
//! tasks of the runtime, nor a journal that takes its time, for which it keeps on reading up to a limit.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver as JobReceiver, Sender as JobSender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

use planwright_model::event::OutputStream;

/// A chunk read from one of the pipes.
pub(super) type OutputChunk = (OutputStream, Vec<u8>);

/// How many chunks wait to be taken.
const TAKEN_AHEAD: usize = 16;
/// How many bytes may wait behind them. A command that prints faster than that stands still until some are taken.
const WAITING_BYTES: usize = 4 << 20;
/// How soon a chunk that waits is offered again.
const OFFER_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
const READ_SIZE: usize = 64 * 1024;

/// What is read from the pipes of one command. The reading ends with it, also while somebody still writes.
pub(super) struct PipeReading {
    chunks: mpsc::Receiver<OutputChunk>,
    stop: Arc<OwnedFd>,
}

impl PipeReading {
    /// Starts to read standard output and standard error.
    pub(super) fn start(out: OwnedFd, err: OwnedFd) -> io::Result<Self> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        for pipe in [&out, &err] {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let (sender, chunks) = mpsc::channel(TAKEN_AHEAD);
        let pipes = vec![(OutputStream::Stdout, out), (OutputStream::Stderr, err)];
        let reader = PipeReader {
            pipes,
            stop: Arc::clone(&stop),
            sender,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        };
        run_on_reader_thread(reader)?;
        Ok(Self { chunks, stop })
    }

    /// The next chunk; `None` once both pipes are closed.
    pub(super) async fn next_chunk(&mut self) -> Option<OutputChunk> {
        self.chunks.recv().await
    }

    /// A chunk that is there already.
    pub(super) fn ready_chunk(&mut self) -> Option<OutputChunk> {
        self.chunks.try_recv().ok()
    }
}

impl Drop for PipeReading {
    fn drop(&mut self) {
        // It ends anyway when both pipes are closed.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
    }
}

struct PipeReader {
    /// Those that are open, standard output first.
    pipes: Vec<(OutputStream, OwnedFd)>,
    stop: Arc<OwnedFd>,
    sender: mpsc::Sender<OutputChunk>,
    waiting: VecDeque<OutputChunk>,
    waiting_bytes: usize,
}

impl PipeReader {
    fn run(mut self) {
        let mut buffer = vec![0; READ_SIZE];
        loop {
            // Before waiting for the first time too: a pipe whose writers are gone never becomes ready.
            self.read_ready(&mut buffer);
            if self.pass_on().is_err() {
                return;
            }
            if self.pipes.is_empty() {
                return self.pass_on_rest();
            }
            if !self.wait() {
                return;
            }
        }
    }

    /// Reads once from each pipe that has something.
    fn read_ready(&mut self, buffer: &mut [u8]) {
        if self.waiting_bytes >= WAITING_BYTES {
            return;
        }
        let (waiting, waiting_bytes) = (&mut self.waiting, &mut self.waiting_bytes);
        self.pipes.retain(|(stream, pipe)| match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => false,
            Ok(read) => {
                *waiting_bytes += read;
                match waiting.back_mut() {
                    Some((last, bytes)) if last == stream && bytes.len() < READ_SIZE => {
                        bytes.extend_from_slice(&buffer[..read]);
                    }
                    _ => waiting.push_back((*stream, buffer[..read].to_vec())),
                }
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => true,
            Err(error) => {
                tracing::warn!(%error, "the output of a command cannot be read to its end");
                false
            }
        });
    }

    /// Passes on what can be taken now. An error means that nobody takes it any more.
    fn pass_on(&mut self) -> Result<(), ()> {
        while !self.waiting.is_empty() {
            let place = match self.sender.try_reserve() {
                Ok(place) => place,
                Err(mpsc::error::TrySendError::Full(())) => return Ok(()),
                Err(mpsc::error::TrySendError::Closed(())) => return Err(()),
            };
            if let Some(chunk) = self.waiting.pop_front() {
                self.waiting_bytes -= chunk.1.len();
                place.send(chunk);
            }
        }
        Ok(())
    }

    fn pass_on_rest(&mut self) {
        for chunk in std::mem::take(&mut self.waiting) {
            if self.sender.blocking_send(chunk).is_err() {
                return;
            }
        }
    }

    /// Waits for output, or until what waits can be offered again. `false` if nobody wants it any more.
    fn wait(&self) -> bool {
        let mut waited = vec![PollFd::new(&self.stop, PollFlags::IN)];
        if self.waiting_bytes < WAITING_BYTES {
            waited.extend(self.pipes.iter().map(|(_, pipe)| PollFd::new(pipe, PollFlags::IN)));
        }
        let limit = if self.waiting.is_empty() { None } else { Some(&OFFER_INTERVAL) };
        match poll(&mut waited, limit) {
            Ok(_) => waited[0].revents().is_empty(),
            Err(Errno::INTR) => true,
            Err(error) => {
                tracing::error!(%error, "the output of a command cannot be waited for");
                false
            }
        }
    }
}

/// Runs a reader on a thread that is free, or on a new one: most commands are short, and threads are not free of cost.
fn run_on_reader_thread(reader: PipeReader) -> io::Result<()> {
    static IDLE: Mutex<Vec<JobSender<PipeReader>>> = Mutex::new(Vec::new());
    fn idle() -> std::sync::MutexGuard<'static, Vec<JobSender<PipeReader>>> {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner)
    }
    let free = idle().pop();
    let reader = match free {
        Some(thread) => match thread.send(reader) {
            Ok(()) => return Ok(()),
            Err(refused) => refused.0,
        },
        None => reader,
    };
    let (jobs, received): (JobSender<PipeReader>, JobReceiver<PipeReader>) = channel();
    let work = move || {
        let mut next = Some(reader);
        while let Some(reader) = next {
            reader.run();
            idle().push(jobs.clone());
            next = received.recv().ok();
        }
    };
    std::thread::Builder::new().name("command-output".to_owned()).spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// A pipe, with the end that a command has.
    fn make_pipe() -> (OwnedFd, File) {
        let (read, write) = UnixStream::pair().unwrap();
        (read.into(), File::from(OwnedFd::from(write)))
    }

    async fn all_chunks(mut reading: PipeReading) -> Vec<(OutputStream, String)> {
        let mut all: Vec<(OutputStream, String)> = Vec::new();
        while let Some((stream, bytes)) = reading.next_chunk().await {
            let text = String::from_utf8(bytes).unwrap();
            match all.last_mut() {
                Some((last, joined)) if *last == stream => joined.push_str(&text),
                _ => all.push((stream, text)),
            }
        }
        all
    }

    #[tokio::test]
    async fn of_what_is_there_at_once_standard_output_goes_first() {
        let ((out, mut to_out), (err, mut to_err)) = (make_pipe(), make_pipe());
        to_err.write_all(b"error").unwrap();
        to_out.write_all(b"printed").unwrap();
        drop((to_out, to_err));
        let reading = PipeReading::start(out, err).unwrap();
        let expected = [(OutputStream::Stdout, "printed"), (OutputStream::Stderr, "error")];
        assert_eq!(all_chunks(reading).await, expected.map(|(on, text)| (on, text.to_owned())));
    }

    /// Nobody takes anything while all of it is written: the order is kept all the same.
    #[tokio::test]
    async fn the_order_of_both_streams_does_not_depend_on_who_takes_them() {
        const LINES: usize = 400;
        let ((out, to_out), (err, to_err)) = (make_pipe(), make_pipe());
        let read_ends = [out.try_clone().unwrap(), err.try_clone().unwrap()];
        let reading = PipeReading::start(out, err).unwrap();
        let mut expected = Vec::new();
        for line in 0..LINES {
            let to_error = line % 3 == 0;
            let (stream, mut pipe, end) = if to_error {
                (OutputStream::Stderr, &to_err, &read_ends[1])
            } else {
                (OutputStream::Stdout, &to_out, &read_ends[0])
            };
            let text = format!("line {line}\n");
            pipe.write_all(text.as_bytes()).unwrap();
            // The next line is written once this one was read.
            while rustix::io::ioctl_fionread(end).unwrap() > 0 {
                std::thread::yield_now();
            }
            expected.push((stream, text));
        }
        drop((to_out, to_err));
        let found = all_chunks(reading).await;
        let lines = found.iter().flat_map(|(stream, text)| {
            text.split_inclusive('\n').map(|line| (*stream, line.to_owned()))
        });
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[tokio::test]
    async fn reading_ends_with_whoever_takes_it_although_somebody_still_writes() {
        let ((out, mut to_out), (err, _to_err)) = (make_pipe(), make_pipe());
        let watched = out.try_clone().unwrap();
        let mut reading = PipeReading::start(out, err).unwrap();
        to_out.write_all(b"one").unwrap();
        assert!(reading.next_chunk().await.is_some());
        drop(reading);
        // Its end of the pipe is closed when the thread has ended with it; this clone keeps the pipe itself open.
        to_out.write_all(b"two").unwrap();
        let begun = std::time::Instant::now();
        loop {
            let left = rustix::io::ioctl_fionread(&watched).unwrap();
            if left == 3 && begun.elapsed() > std::time::Duration::from_millis(100) {
                return;
            }
            assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{left} bytes are left");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
