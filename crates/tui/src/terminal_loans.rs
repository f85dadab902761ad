//! Lending the terminal: a command of the run may ask for it, and the screen that has it steps aside.

use std::sync::LazyLock;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

/// How long a command waits for a screen: the first task of a run may start before the screen does, and there is none for a
/// moment between two of them.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Somebody wants the terminal.
#[derive(Debug)]
pub(crate) struct TerminalRequest {
    /// What it is for, in a few words.
    pub(crate) title: String,
    pub(crate) granted: oneshot::Sender<LentTerminal>,
}

/// The terminal of the screen, which is taken back when this is dropped.
#[derive(Debug)]
pub struct LentTerminal {
    _returned: oneshot::Sender<()>,
}

/// The screen of this process, of which there is one at a time as there is one terminal.
static SCREEN: LazyLock<watch::Sender<Option<mpsc::Sender<TerminalRequest>>>> =
    LazyLock::new(|| watch::Sender::new(None));

/// The end at which a screen is asked for its terminal. Nobody can ask it any more once this is dropped.
#[derive(Debug)]
pub(crate) struct TerminalDesk {
    requests: mpsc::Receiver<TerminalRequest>,
}

impl TerminalDesk {
    pub(crate) fn open() -> Self {
        let (sender, requests) = mpsc::channel(1);
        SCREEN.send_replace(Some(sender));
        Self { requests }
    }

    /// The next who wants the terminal.
    pub(crate) async fn next_request(&mut self) -> TerminalRequest {
        match self.requests.recv().await {
            Some(request) => request,
            // Another screen has taken its place.
            None => std::future::pending().await,
        }
    }
}

impl Drop for TerminalDesk {
    fn drop(&mut self) {
        SCREEN.send_replace(None);
    }
}

/// Pairs what is lent with what tells when it is given back.
pub(crate) fn new_loan() -> (LentTerminal, oneshot::Receiver<()>) {
    let (sender, receiver) = oneshot::channel();
    (LentTerminal { _returned: sender }, receiver)
}

/// Waits until the screen of this process has stepped aside. `None` where there is no screen.
pub async fn borrow_terminal(title: &str) -> Option<LentTerminal> {
    let mut screen = SCREEN.subscribe();
    let shown = screen.wait_for(Option::is_some);
    let screen = tokio::time::timeout(SCREEN_TIMEOUT, shown).await.ok()?.ok()?.clone()?;
    let (granted, answer) = oneshot::channel();
    screen.send(TerminalRequest { title: title.to_owned(), granted }).await.ok()?;
    answer.await.ok()
}
