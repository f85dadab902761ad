//! The process of a server: started with a cleared environment and a mark, stopped with everything it started.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::connection::unavailable_error;
use crate::process::{
    CALL_VARIABLE, GroupGuard, OwnedMark, end_group, end_leftovers, end_orphaned_servers,
};
use crate::sandbox::{PrivateDirectory, ToolchainPaths, environment};
use crate::tool::ToolError;
use planwright_model::StopSignal;

/// How long a server may take to exit after its input was closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(1);

/// A running server. When it goes out of scope, every process with its mark is killed.
#[derive(Debug)]
pub(super) struct McpServerProcess {
    child: Child,
    group: Option<GroupGuard>,
    mark: String,
    ended: bool,
    /// Home and temporary files of the server, removed with it.
    _private: PrivateDirectory,
}

impl McpServerProcess {
    /// Starts a server and returns its output and input.
    pub(super) fn start(
        name: &str,
        command: &[String],
        listed: &[String],
        set: &BTreeMap<String, String>,
    ) -> Result<(Self, ChildStdout, ChildStdin), ToolError> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(unavailable_error(format!("{name} has no command")));
        };
        let private = PrivateDirectory::create()
            .map_err(|error| unavailable_error(format!("making a private directory: {error}")))?;
        // Variables that are not UTF-8 do not reach servers.
        let person: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let homes = ToolchainPaths::find_existing(&person);
        let mut built =
            environment::build_environment(&person, listed, private.path(), &homes.variables);
        // A server is the user's choice: a name in its config refers to the user's own value.
        built.extend(
            listed.iter().filter_map(|name| Some((name.clone(), person.get(name)?.clone()))),
        );
        built.extend(set.clone());
        let mark = OwnedMark::new(name).to_string();
        let failed = |error: &dyn std::fmt::Display| {
            unavailable_error(format!("{name} does not start ({program}): {error}"))
        };
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(built)
            .env(CALL_VARIABLE, &mark)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(&error))?;
        let group = child.id().map(GroupGuard);
        let pipes = child.stdout.take().zip(child.stdin.take());
        let this = Self { child, group, mark, ended: false, _private: private };
        let (output, input) = pipes.ok_or_else(|| failed(&"it has no pipes"))?;
        Ok((this, output, input))
    }

    /// Stops the server after its input was closed: waits for it to exit, then signals it, and then kills whatever it
    /// started in other groups or sessions, found by the mark.
    pub(super) async fn shut_down(mut self) {
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err()
            && let Some(group) = &self.group
        {
            // Reaped in the meantime: an unreaped process still belongs to its group.
            let _ =
                tokio::join!(self.child.wait(), end_group(group.0, StopSignal::default(), GRACE));
        }
        drop(self.group.take());
        let mark = self.mark.clone();
        self.ended = tokio::task::spawn_blocking(move || end_leftovers(&mark)).await.is_ok();
    }
}

impl Drop for McpServerProcess {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        // Nobody waited for it to exit: a canceled connection, a time limit, a runtime that shuts down.
        drop(self.group.take());
        end_leftovers(&self.mark);
    }
}

/// Kills leftovers of servers whose Planwright process has ended. Nothing depends on them anymore.
pub(super) async fn end_orphans() {
    if let Err(error) = tokio::task::spawn_blocking(end_orphaned_servers).await {
        tracing::warn!(%error, "servers left behind could not be looked for");
    }
}
