//! The secrets of a run: where they come from is in the plan, their values are only here.

use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use super::TaskAttempt;
use crate::process::{self, TerminalLender};
use planwright_model::SecretSource;
use planwright_text::Redactor;

/// Values of secrets, by where they come from. Commands that print one run when the first task needs it, never before
/// the plan was approved.
#[derive(Default)]
pub(super) struct SecretVault {
    known: Mutex<Vec<(SecretSource, String)>>,
    /// Held while a command runs that prints a secret, so that it runs once.
    asking: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for SecretVault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretVault").finish_non_exhaustive()
    }
}

impl SecretVault {
    pub(super) fn new(known: Vec<(SecretSource, String)>) -> Self {
        Self { known: Mutex::new(known), ..Self::default() }
    }

    /// Names and values of the secrets of an attempt. What was not known before is covered from now on.
    pub(super) async fn find_values(
        &self,
        attempt: &TaskAttempt,
        lender: Option<&dyn TerminalLender>,
        redactor: &Redactor,
    ) -> Result<Vec<(String, String)>, String> {
        let mut found = Vec::new();
        for (name, source) in &attempt.task.options.secrets {
            let _alone = self.asking.lock().await;
            let value = match (self.known_value(source), source) {
                (Some(value), _) => value,
                (None, SecretSource::Variable(variable)) => {
                    return Err(format!("the secret {name}: the variable {variable} is not set"));
                }
                (None, SecretSource::Command(words)) => {
                    let value = ask_command(name, words, attempt, lender)
                        .await
                        .map_err(|why| format!("the secret {name}: {why}"))?;
                    redactor.add_secret(&value);
                    let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                    known.push((source.clone(), value.clone()));
                    value
                }
            };
            found.push((name.clone(), value));
        }
        Ok(found)
    }

    fn known_value(&self, source: &SecretSource) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(one, _)| one == source).map(|(_, value)| value.clone())
    }
}

/// Runs a command that prints a secret. It may ask the person for a passphrase, so it has the terminal if there is one, and
/// stays in the group that has it. The mark of the attempt finds it and all it started when the attempt is stopped.
async fn ask_command(
    name: &str,
    words: &[String],
    attempt: &TaskAttempt,
    lender: Option<&dyn TerminalLender>,
) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("it has no command")?;
    // Without a screen the terminal, if any, is free anyway.
    let loan = match lender {
        Some(lender) => lender.borrow_terminal(&format!("The secret {name}")).await.ok(),
        None => None,
    };
    let output = tokio::process::Command::new(program)
        .args(arguments)
        .current_dir(&attempt.workspace)
        .env(process::CALL_VARIABLE, attempt.process_mark())
        .env(process::OWNER_VARIABLE, process::PERSON)
        .stdin(Stdio::inherit())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| format!("{program}: {error}"))?;
    drop(loan);
    if !output.status.success() {
        return Err(format!("{program} failed: {}", output.status));
    }
    let text =
        String::from_utf8(output.stdout).map_err(|_| format!("{program} printed no text"))?;
    match text.trim_end_matches(['\n', '\r']) {
        "" => Err(format!("{program} printed nothing")),
        value => Ok(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::executor::{AttemptEventSink, AttemptWork, TaskExecutor as _, TaskRef};
    use crate::{AttemptEvent, LocalProcessExecutor};
    use planwright_model::event::CallOutcome;
    use planwright_model::{CallId, Plan, RunKind, SessionId, TaskNode};
    use planwright_text::LearnedSecrets;

    /// Hangs, and so does what it starts and tells the pid of.
    const HANGING: &str = "sleep 300 & echo $! > started; wait";

    struct SecretTest {
        dir: tempfile::TempDir,
        executor: LocalProcessExecutor,
        learned: LearnedSecrets,
    }

    impl SecretTest {
        fn new() -> Self {
            let (dir, learned) = (tempfile::tempdir().unwrap(), LearnedSecrets::default());
            let redactor = Redactor::default().sharing(&learned);
            let executor = LocalProcessExecutor::new(redactor, Vec::new());
            let pipe = dir.path().join("started");
            let made = std::process::Command::new("mkfifo").arg(pipe).status().unwrap();
            assert!(made.success());
            Self { dir, executor, learned }
        }

        /// An attempt at a command whose secret another command prints.
        fn attempt(&self, secret: &str, command: &str) -> TaskAttempt {
            let mut task = TaskNode::new("a", "Needs a secret");
            task.run = RunKind::Shell(command.to_owned());
            task.timeout_seconds = Some(100);
            let words = ["/bin/sh", "-c", secret].map(str::to_owned).to_vec();
            task.options.secrets.insert("KEY".to_owned(), SecretSource::Command(words));
            let plan = Arc::new(Plan { tasks: vec![task], ..Plan::default() });
            let name = self.dir.path().file_name().unwrap().to_string_lossy();
            TaskAttempt {
                session: SessionId::new(name.trim_start_matches('.')),
                call: CallId { task: "a".into(), attempt: 1, step: 1 },
                task: TaskRef::new(&plan, 0).unwrap(),
                work: AttemptWork::Task,
                workspace: self.dir.path().to_owned(),
                confined: false,
                variables: Vec::new(),
            }
        }

        /// Runs an attempt to its end; returns that and what was printed.
        async fn run(
            &self,
            attempt: &TaskAttempt,
            cancel: CancellationToken,
        ) -> (CallOutcome, String) {
            let (sender, mut receiver) = mpsc::channel(64);
            let events = AttemptEventSink::new(attempt.call.clone(), sender);
            let ended = self.executor.start(attempt.clone(), events, cancel).await;
            let mut printed = String::new();
            while let Some((_, report)) = receiver.recv().await {
                if let crate::executor::AttemptReport::Event(AttemptEvent::Output {
                    text, ..
                }) = report
                {
                    printed.push_str(&text);
                }
            }
            (ended.outcome, printed)
        }

        /// What the secret's command started. Waits for it without looking again and again: the other end is a pipe.
        async fn started(&self) -> u32 {
            let pipe: PathBuf = self.dir.path().join("started");
            let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe));
            read.await.unwrap().unwrap().trim().parse().unwrap()
        }
    }

    /// Whether a process is there and not dead.
    fn is_alive(pid: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    }

    #[tokio::test]
    async fn a_hanging_command_of_a_secret_ends_when_the_attempt_is_cancelled() {
        let test = SecretTest::new();
        let (attempt, cancel) = (test.attempt(HANGING, "touch ran"), CancellationToken::new());
        let stop = async {
            let pid = test.started().await;
            cancel.cancel();
            pid
        };
        let ((outcome, _), pid) = tokio::join!(test.run(&attempt, cancel.clone()), stop);
        assert_eq!(outcome, CallOutcome::Cancelled);
        assert!(!is_alive(pid), "what it started is still there");
        assert_eq!(process::end_leftovers(&attempt.process_mark()), Vec::<u32>::new());
        assert!(!test.dir.path().join("ran").exists());
        // Nobody waits for it any more: another attempt asks for its own.
        let next = test.attempt("echo sesame-4711", "test \"$KEY\" = sesame-4711");
        let (outcome, _) = test.run(&next, CancellationToken::new()).await;
        assert_eq!(outcome, CallOutcome::Exited { code: 0 });
    }

    /// Time stands still until the command has told that it runs, and then passes at once.
    #[tokio::test(start_paused = true)]
    async fn a_hanging_command_of_a_secret_ends_at_the_time_limit_of_the_task() {
        let test = SecretTest::new();
        let attempt = test.attempt(HANGING, "touch ran");
        let ((outcome, _), pid) =
            tokio::join!(test.run(&attempt, CancellationToken::new()), test.started());
        assert_eq!(outcome, CallOutcome::TimedOut { limit_seconds: 100 });
        assert!(!is_alive(pid), "what it started is still there");
        assert_eq!(process::end_leftovers(&attempt.process_mark()), Vec::<u32>::new());
        assert!(!test.dir.path().join("ran").exists());
    }

    #[tokio::test]
    async fn what_a_command_printed_as_a_secret_is_covered_for_all_who_share_it() {
        let test = SecretTest::new();
        let before = Redactor::new(["another-key-1"]).sharing(&test.learned);
        let mut begun = before.start_stream();
        let attempt = test.attempt("echo sesame-4711", "echo it is $KEY");
        let (outcome, printed) = test.run(&attempt, CancellationToken::new()).await;
        assert_eq!(outcome, CallOutcome::Exited { code: 0 });
        assert_eq!(printed, "it is [redacted:loaded_key]\n");
        let after = Redactor::default().sharing(&test.learned);
        for redactor in [&before, &after] {
            assert_eq!(redactor.redact("sesame-4711"), "[redacted:loaded_key]");
        }
        let streamed = begun.push("sesame-4711") + &begun.finish();
        assert_eq!(streamed, "[redacted:loaded_key]");
    }

    #[tokio::test]
    async fn a_secret_in_a_file_that_a_task_wrote_just_now_is_covered() {
        let test = SecretTest::new();
        let redactor = Redactor::default().sharing(&test.learned);
        let text = "API_TOKEN=Zk81-qLw0-77Ab\nREGION=eu-central-1\n";
        std::fs::write(test.dir.path().join("made.env"), text).unwrap();
        let mut attempt = test.attempt("echo sesame-4711", "echo $API_TOKEN in $REGION");
        let mut plan = attempt.task.plan().clone();
        plan.tasks[0].options.env_files.push("made.env".to_owned());
        attempt.task = TaskRef::new(&Arc::new(plan), 0).unwrap();
        let (outcome, printed) = test.run(&attempt, CancellationToken::new()).await;
        assert_eq!(outcome, CallOutcome::Exited { code: 0 });
        assert_eq!(printed, "[redacted:loaded_key] in eu-central-1\n");
        assert_eq!(redactor.redact("Zk81-qLw0-77Ab"), "[redacted:loaded_key]");
    }
}
