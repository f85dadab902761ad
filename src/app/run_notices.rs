//! Telling somebody what happened: to a run by the command that its plan names, to a ticket by that of the settings.

use std::process::Stdio;

use planwright_engine::RunNotice;
use planwright_model::SessionId;

/// Starts the command and does not wait for it. It sees what happened in its environment, and no key of a provider.
pub(super) fn start_notice_command(notice: &RunNotice, without: &[String]) {
    let Some((program, arguments)) = notice.command.split_first() else { return };
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .current_dir(&notice.workspace)
        .env("PLANWRIGHT_EVENT", notice.cause.name())
        .env("PLANWRIGHT_SESSION", notice.session.to_string())
        .env("PLANWRIGHT_TEXT", &notice.text);
    start_detached(command, without);
}

/// Something on the approval desk that waits for the person.
pub(super) struct TicketNotice<'a> {
    /// The command of the settings; nothing is started if it is empty.
    pub(super) command: &'a [String],
    pub(super) ticket: &'a SessionId,
    pub(super) words: &'a str,
}

/// Starts the command of the settings and does not wait for it.
pub(super) fn start_ticket_command(notice: &TicketNotice<'_>, without: &[String]) {
    let Some((program, arguments)) = notice.command.split_first() else { return };
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .env("PLANWRIGHT_EVENT", "ticket")
        .env("PLANWRIGHT_SESSION", notice.ticket.to_string())
        .env("PLANWRIGHT_TEXT", notice.words);
    start_detached(command, without);
}

fn start_detached(mut command: tokio::process::Command, without: &[String]) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    for name in without {
        command.env_remove(name);
    }
    if let Err(error) = command.spawn() {
        tracing::warn!(%error, "the command of a notice could not be started");
    }
}
