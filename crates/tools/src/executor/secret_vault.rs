//! The secrets of a run: where they come from is in the plan, their values are only here.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use super::TaskAttempt;
use crate::process::TerminalLender;
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
                    let value = ask_command(name, words, &attempt.workspace, lender)
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

/// Runs a command that prints a secret. It may ask the person for a passphrase, so it has the terminal if there is one.
async fn ask_command(
    name: &str,
    words: &[String],
    workspace: &Path,
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
        .current_dir(workspace)
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
