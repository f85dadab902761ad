//! Secrets that a plan names: values of variables are found when it starts, given to its commands, and covered everywhere
//! else. Commands that print a secret run when a task needs it, after the plan was approved.

use std::path::Path;
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
                let SecretSource::Variable(variable) = source else { continue };
                if values.iter().any(|(known, _)| known == source) {
                    continue;
                }
                let value = find_value(variable).map_err(|why| {
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

fn find_value(variable: &str) -> Result<String, String> {
    match std::env::var(variable) {
        Ok(value) if value.is_empty() => Err("it is empty".to_owned()),
        Ok(value) => Ok(value),
        Err(_) => Err(format!("the variable {variable} is not set")),
    }
}
