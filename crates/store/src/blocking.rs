//! Waits for a future on a plain thread, for callers without a runtime.
//!
//! The store's futures are woken by its own thread, so no runtime is needed to drive them.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct UnparkWaker(Thread);

impl Wake for UnparkWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks this thread until the future completes.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(UnparkWaker(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn a_value_sent_by_another_thread_arrives() {
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || sender.send(7));
        assert_eq!(block_on(receiver), Ok(7));
        thread.join().unwrap().unwrap();
    }
}
