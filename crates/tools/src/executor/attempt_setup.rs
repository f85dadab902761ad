//! What an attempt needs beside its command: its variables, and a place for what it leaves behind.

use std::collections::BTreeMap;

use super::environment_file::read_environment_file;
use super::results::ResultPlace;
use super::task_cache::CacheQuestion;
use super::{CommandLauncher, TaskAttempt};
use planwright_text::{Redactor, is_secret_variable};

/// An attempt that is ready to start.
#[derive(Debug)]
pub(super) struct AttemptSetup {
    /// All that the task states, apart from the environment of the person.
    pub(super) variables: BTreeMap<String, String>,
    pub(super) place: Option<ResultPlace>,
    /// Set where a finished attempt may be used again.
    pub(super) cache_key: Option<String>,
}

impl AttemptSetup {
    /// The key by which a finished attempt with the same command, variables and inputs is found.
    pub(super) fn find_cache_key(
        &self,
        attempt: &TaskAttempt,
        launcher: Option<&CommandLauncher>,
    ) -> Result<String, String> {
        let Some(place) = &self.place else { return Err("it has no place".to_owned()) };
        let (task, params) = (&*attempt.task, &attempt.task.plan().params);
        CacheQuestion { task, variables: &self.variables, params, place, launcher }.key()
    }
}

/// The variables of a command: files first, then what the task states, what other tasks gave, and secrets. What stands in a
/// file under a secret's name is covered from now on: another task may have written the file just now.
pub(super) fn attempt_variables(
    attempt: &TaskAttempt,
    secrets: Vec<(String, String)>,
    redactor: &Redactor,
) -> Result<BTreeMap<String, String>, String> {
    let (task, options) = (&attempt.task, &attempt.task.options);
    let mut variables = BTreeMap::new();
    for file in &options.env_files {
        let directory = attempt.workspace.join(&task.cwd);
        let found = read_environment_file(&attempt.workspace, &directory, file)?;
        for (_, value) in found.iter().filter(|(name, value)| is_secret_variable(name, value, &[]))
        {
            redactor.add_secret(value);
        }
        variables.extend(found);
    }
    for name in &options.pass_env {
        // A variable that is not set is not passed.
        variables.extend(std::env::var(name).ok().map(|value| (name.clone(), value)));
    }
    variables.extend(task.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    variables.extend(attempt.variables.iter().cloned());
    variables.extend(secrets);
    Ok(variables)
}
