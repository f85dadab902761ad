//! The threads from which commands are started.
//!
//! A confined command is killed when the thread that started it ends, because that is what the kernel watches. Threads
//! of a runtime come and go; these live as long as the program. A thread that starts a process stands still until that
//! runs its own program, so there are two, and nobody else waits with them.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

type SpawnJob = Box<dyn FnOnce() + Send>;

const THREADS: usize = 2;

/// Starts a command from a thread that outlives it.
pub(crate) async fn spawn_from_thread(command: Command) -> io::Result<Child> {
    let (reply, answer) = oneshot::channel();
    // Whoever asked and is gone meanwhile wants no command either: it is killed when it is dropped.
    send_job(command, move |child| drop(reply.send(child)))?;
    answer.await.unwrap_or_else(|_| Err(thread_gone()))
}

/// The same for whoever cannot wait otherwise.
pub(crate) fn spawn_on_thread(command: Command) -> io::Result<Child> {
    let (reply, answer) = mpsc::sync_channel(1);
    // Whoever asked waits for it below.
    send_job(command, move |child| drop(reply.send(child)))?;
    answer.recv().unwrap_or_else(|_| Err(thread_gone()))
}

fn send_job(
    mut command: Command,
    reply: impl FnOnce(io::Result<Child>) + Send + 'static,
) -> io::Result<()> {
    static SPAWNERS: OnceLock<Vec<Sender<SpawnJob>>> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let spawners = SPAWNERS.get_or_init(|| (0..THREADS).filter_map(|_| start_thread()).collect());
    let number = NEXT.fetch_add(1, Ordering::Relaxed).checked_rem(spawners.len());
    let spawner = number.and_then(|number| spawners.get(number)).ok_or_else(thread_gone)?;
    let runtime = Handle::current();
    let work = Box::new(move || {
        let _entered = runtime.enter();
        reply(command.spawn());
    });
    spawner.send(work).map_err(|_| thread_gone())
}

fn thread_gone() -> io::Error {
    io::Error::other("the thread that starts commands is gone")
}

fn start_thread() -> Option<Sender<SpawnJob>> {
    let (sender, inbox) = mpsc::channel::<SpawnJob>();
    let run = move || inbox.into_iter().for_each(|work| work());
    let started = std::thread::Builder::new().name("spawner".to_owned()).spawn(run);
    started.inspect_err(|error| tracing::error!(%error, "a thread that starts commands")).ok()?;
    Some(sender)
}
