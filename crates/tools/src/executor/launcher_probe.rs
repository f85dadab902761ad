//! Tries an executor with a harmless command.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::CommandLauncher;
use crate::process::{CommandOutput, LaunchMode, ProcessSpec, run_and_collect};
use planwright_model::event::CallOutcome;
use planwright_model::{CallId, StopSignal};
use planwright_text::Redactor;

/// Names the machine and the person there, each behind a word of its own: what a launcher itself prints is not taken for one.
const COMMAND: &str = "echo \"planwright-host $(uname -n)\"; echo \"planwright-user $(id -un)\"";
const OUTPUT_LIMIT: usize = 64 * 1024;

/// What trying an executor showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorProbe {
    pub elapsed: Duration,
    /// Where the command ran and as whom, or why it did not.
    pub reached: Result<(String, String), String>,
}

/// Runs a harmless command on an executor.
pub async fn probe_launcher(
    launcher: &CommandLauncher,
    directory: PathBuf,
    without: Vec<String>,
    limit: Duration,
    redactor: Redactor,
) -> ExecutorProbe {
    let spec = ProcessSpec {
        command: COMMAND.to_owned(),
        shell: vec!["sh".to_owned(), "-c".to_owned()],
        directory,
        without,
        with: Vec::new(),
        time_limit: limit,
        output_limit: OUTPUT_LIMIT,
        spool: None,
        redactor,
        launch: LaunchMode::Person,
        launcher: Some(launcher.clone()),
        stop: StopSignal::default(),
    };
    let call = CallId { task: "probe".into(), attempt: 1, step: 1 };
    let ran = run_and_collect(spec, CancellationToken::new(), call, |_| {}).await;
    ExecutorProbe { elapsed: ran.elapsed, reached: read_probe(&ran) }
}

fn read_probe(ran: &CommandOutput) -> Result<(String, String), String> {
    let last = ran.output.lines().map(str::trim).rfind(|line| !line.is_empty());
    let because = last.map(|line| format!(": {line}")).unwrap_or_default();
    match &ran.outcome {
        CallOutcome::Exited { code: 0 } => {}
        CallOutcome::Exited { code } => {
            return Err(format!("ended with exit code {code}{because}"));
        }
        CallOutcome::CouldNotStart { message } => return Err(format!("can't start: {message}")),
        CallOutcome::TimedOut { limit_seconds } => {
            return Err(format!("no answer within {limit_seconds} s{because}"));
        }
        _ => return Err(format!("ended early{because}")),
    }
    let find = |word: &str| {
        let mut lines = ran.output.lines();
        lines.find_map(|line| Some(line.trim().strip_prefix(word)?.trim().to_owned()))
    };
    match (find("planwright-host "), find("planwright-user ")) {
        (Some(host), Some(user)) => Ok((host, user)),
        _ => Err(format!("ended with exit code 0, but did not run the command{because}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn probe(launch: &[&str]) -> Result<(String, String), String> {
        let words: Vec<String> = launch.iter().map(|word| (*word).to_owned()).collect();
        let launcher = CommandLauncher::parse(&words).unwrap();
        let limit = Duration::from_secs(30);
        let directory = std::env::temp_dir();
        probe_launcher(&launcher, directory, Vec::new(), limit, Redactor::default()).await.reached
    }

    #[tokio::test]
    async fn a_probe_names_host_and_user_or_why_there_are_none() {
        let (host, user) =
            probe(&["sh", "-c", "echo welcome; exec \"$@\"", "x", "{argv}"]).await.unwrap();
        assert!(!host.is_empty() && !user.is_empty());
        assert_eq!(probe(&["sh", "-c", "exec {command}"]).await, Ok((host, user)));
        let failed =
            probe(&["sh", "-c", "echo no route >&2; exit 255; {command}"]).await.unwrap_err();
        assert_eq!(failed, "ended with exit code 255: no route");
        assert!(probe(&["echo", "{argv}"]).await.unwrap_err().contains("did not run the command"));
        assert!(probe(&["no-such-launcher", "{argv}"]).await.unwrap_err().contains("can't start"));
    }
}
