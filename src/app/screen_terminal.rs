//! The terminal of the screen, lent to commands that need one.

use futures_util::future::BoxFuture;
use planwright_tools::executor::NO_TERMINAL;
use planwright_tools::process::{TerminalLender, TerminalLoan};

/// Lends the terminal of the screen that this process shows, if it shows one.
#[derive(Debug)]
pub(super) struct ScreenTerminal;

impl TerminalLender for ScreenTerminal {
    fn borrow_terminal(&self, title: &str) -> BoxFuture<'_, Result<TerminalLoan, String>> {
        let title = title.to_owned();
        Box::pin(async move {
            let lent = planwright_tui::borrow_terminal(&title).await;
            lent.map(TerminalLoan::new).ok_or_else(|| NO_TERMINAL.to_owned())
        })
    }
}
