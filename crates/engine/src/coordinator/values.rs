//! Values that tasks give each other: what a condition looks at, and the variables of a command.

use planwright_model::{Category, ExecutionFailure, TaskId, TaskNode, ValuePart};
use planwright_plan::condition::{ConditionReference, PlanValue, RunExpression, TaskFact};
use planwright_state::{SessionState, TaskStatus};

/// Whether the condition of a task is true. Without one it always is; one that cannot be read never is.
pub(crate) fn is_condition_met(state: &SessionState, node: &TaskNode) -> bool {
    let text = &node.options.run_if;
    text.is_empty()
        || RunExpression::parse(text)
            .is_ok_and(|condition| condition.is_met(&|reference| look_up(state, reference)))
}

fn look_up(state: &SessionState, reference: &ConditionReference) -> Option<PlanValue> {
    let ConditionReference::Task { task, fact } = reference else { return None };
    let row = state.tasks.get(task)?;
    match fact {
        TaskFact::ExitCode => row.exit_code.map(|code| PlanValue::Integer(code.into())),
        TaskFact::Status => Some(PlanValue::Text(
            match row.status {
                TaskStatus::Done => "done",
                TaskStatus::Failed => "failed",
                TaskStatus::Skipped(_) => "skipped",
                TaskStatus::Pending | TaskStatus::Running | TaskStatus::Yours => return None,
            }
            .to_owned(),
        )),
        TaskFact::Output(name) => output_of(state, task, name).map(PlanValue::Text),
    }
}

fn output_of(state: &SessionState, task: &TaskId, name: &str) -> Option<String> {
    state.tasks.get(task)?.results.as_ref()?.outputs.get(name).cloned()
}

/// The variables of a command that come from other tasks.
pub(crate) fn computed_variables(
    state: &SessionState,
    node: &TaskNode,
) -> Result<Vec<(String, String)>, ExecutionFailure> {
    let value = |part: &ValuePart| match part {
        ValuePart::Text(text) => Ok(text.clone()),
        ValuePart::Output { task, name } => output_of(state, task, name).ok_or_else(|| {
            let message = format!("{task} gave no output {name}");
            ExecutionFailure::new("output_missing", Category::Critical, message)
        }),
    };
    let variables = node.options.computed_env.iter().map(|(name, parts)| {
        let parts: Result<String, _> = parts.iter().map(value).collect();
        parts.map(|text| (name.clone(), text))
    });
    variables.collect()
}
