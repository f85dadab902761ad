//! Sending commands to a session that may have ended.

use planwright_model::event::Command;
use tokio::sync::mpsc;

/// Sends a command to a session. One that has ended takes no more; whoever waits for its end learns why.
pub(crate) async fn send_command(commands: &mpsc::Sender<Command>, command: Command) {
    let name = command.name();
    if commands.send(command).await.is_err() {
        tracing::debug!(command = name, "a command came after the end of the session");
    }
}
