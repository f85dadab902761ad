//! What a plan from elsewhere may not bring along: commands beside its tasks, values of this machine, a terminal.

use planwright_model::{NodeOrigin, NormalizationChange, Plan, TaskNode, TaskRunOptions};

/// The code under which a part that was left out is reported.
const LEFT_OUT: &str = "left_out";

/// Removes what a foreign plan may not have, and marks every task as written by a model.
pub(super) fn leave_out_foreign(plan: &mut Plan, changes: &mut Vec<NormalizationChange>) {
    let mut report = |task: Option<&TaskNode>, what: &str| {
        changes.push(NormalizationChange {
            code: LEFT_OUT.to_owned(),
            task_id: task.map(|task| task.id.clone()),
            detail: format!("{what} is left out: a submitted plan can't have it"),
        });
    };
    if plan.notify.take().is_some() {
        report(None, "the command of `notify`");
    }
    if !plan.machine_pools.is_empty() {
        plan.machine_pools.clear();
        report(None, "sharing resources with other runs");
    }
    for task in &mut plan.tasks {
        for what in leave_out_options(&mut task.options) {
            report(Some(task), what);
        }
        task.origin = NodeOrigin::AiAdaptation;
    }
}

/// Empties the options that reach beyond the task, and names them.
fn leave_out_options(options: &mut TaskRunOptions) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    if !options.secrets.is_empty() {
        options.secrets.clear();
        left_out.push("`secrets`");
    }
    if !options.pass_env.is_empty() {
        options.pass_env.clear();
        left_out.push("`pass_env`");
    }
    if !options.env_files.is_empty() {
        options.env_files.clear();
        left_out.push("`env_file`");
    }
    if std::mem::take(&mut options.interactive) {
        left_out.push("`interactive`");
    }
    if !std::mem::take(&mut options.executor).is_empty() {
        left_out.push("`on`");
    }
    if std::mem::take(&mut options.cache) {
        left_out.push("`cache`");
    }
    left_out
}
