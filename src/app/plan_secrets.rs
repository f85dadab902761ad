//! Secrets that a plan names: their values are found when it starts, given to its commands, and covered everywhere else.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::App;
use crate::console::CliProblem;
use planwright_model::{Plan, SecretSource};
use planwright_text::is_secret_variable;
use planwright_tools::executor::read_environment_file;

/// Values that only this run knows, none of which is written anywhere.
#[derive(Clone, Default)]
pub(crate) struct PlanSecrets {
    /// The values of secrets, by where they come from.
    pub(super) values: Arc<Vec<(SecretSource, String)>>,
    /// Names and values that must not show.
    pub(super) covered: Arc<Vec<(String, String)>>,
}

impl std::fmt::Debug for PlanSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanSecrets").field("count", &self.values.len()).finish_non_exhaustive()
    }
}

impl App {
    /// The same with the secrets of a plan. Nothing has started where one of them has no value.
    pub(crate) fn with_plan_secrets(&self, plan: &Plan, workspace: &Path) -> anyhow::Result<Self> {
        let mut values = Vec::clone(&self.plan_secrets.values);
        let mut covered = Vec::clone(&self.plan_secrets.covered);
        for task in &plan.tasks {
            for (name, source) in &task.options.secrets {
                if values.iter().any(|(known, _)| known == source) {
                    continue;
                }
                let value = find_value(source, workspace).map_err(|why| {
                    CliProblem::usage(format!("the secret {name} of task `{}`: {why}", task.id))
                        .with_remedy("set it, or correct where it comes from in `secrets`")
                })?;
                covered.push((name.clone(), value.clone()));
                values.push((source.clone(), value));
            }
            for file in &task.options.env_files {
                let directory = workspace.join(&task.cwd);
                // A file that a task writes first is not there yet; whoever needs it says so then.
                let found = read_environment_file(workspace, &directory, file).unwrap_or_default();
                let secret =
                    |(name, value): &(String, String)| is_secret_variable(name, value, &[]);
                covered.extend(found.into_iter().filter(secret));
            }
        }
        let (values, covered) = (Arc::new(values), Arc::new(covered));
        let app = Self { plan_secrets: PlanSecrets { values, covered }, ..self.clone() };
        app.cover_log();
        Ok(app)
    }
}

fn find_value(source: &SecretSource, workspace: &Path) -> Result<String, String> {
    let value = match source {
        SecretSource::Variable(name) => {
            std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?
        }
        SecretSource::Command(words) => run_secret_command(words, workspace)?,
    };
    if value.is_empty() { Err("it is empty".to_owned()) } else { Ok(value) }
}

fn run_secret_command(words: &[String], workspace: &Path) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("it has no command")?;
    let output = Command::new(program)
        .args(arguments)
        .current_dir(workspace)
        .stdin(Stdio::inherit())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program} failed: {}", output.status));
    }
    let text =
        String::from_utf8(output.stdout).map_err(|_| format!("{program} printed no text"))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
