//! Telling somebody what happened to a run, by the command that its plan names.

use std::process::Stdio;

use planwright_engine::RunNotice;

/// Starts the command and does not wait for it. It sees what happened in its environment, and no key of a provider.
pub(super) fn start_notice_command(notice: &RunNotice, without: &[String]) {
    let Some((program, arguments)) = notice.command.split_first() else { return };
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .current_dir(&notice.workspace)
        .env("PLANWRIGHT_EVENT", notice.cause.name())
        .env("PLANWRIGHT_SESSION", notice.session.to_string())
        .env("PLANWRIGHT_TEXT", &notice.text)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    for name in without {
        command.env_remove(name);
    }
    if let Err(error) = command.spawn() {
        tracing::warn!(%error, program, "the command of `notify` could not be started");
    }
}
