//! The thread from which commands are started.
//!
//! A confined command is killed when the thread that started it ends, because that is what the kernel watches. Threads
//! of a runtime come and go; this one lives as long as the program.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;

type SpawnJob = Box<dyn FnOnce() + Send>;

/// Starts a command from the thread that outlives it.
pub(crate) fn spawn_on_thread(mut command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Option<Sender<SpawnJob>>> = OnceLock::new();
    let thread_gone = || io::Error::other("the thread that starts commands is gone");
    let spawner = SPAWNER.get_or_init(start_thread).as_ref().ok_or_else(thread_gone)?;
    let runtime = Handle::current();
    let (reply, answer) = mpsc::sync_channel(1);
    let work = Box::new(move || {
        let _entered = runtime.enter();
        // Whoever asked waits for it below.
        let _ = reply.send(command.spawn());
    });
    spawner.send(work).map_err(|_| thread_gone())?;
    answer.recv().unwrap_or_else(|_| Err(thread_gone()))
}

fn start_thread() -> Option<Sender<SpawnJob>> {
    let (sender, inbox) = mpsc::channel::<SpawnJob>();
    let run = move || inbox.into_iter().for_each(|work| work());
    let started = std::thread::Builder::new().name("spawner".to_owned()).spawn(run);
    started.inspect_err(|error| tracing::error!(%error, "the thread that starts commands")).ok()?;
    Some(sender)
}
