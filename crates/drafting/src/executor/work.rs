//! Beginning the work of a task of a given type.

use serde_json::Value;

use planwright_model::agent_work::Work;

use super::TaskType;

/// Begins a task of a type. What context already answers is done from the start.
pub fn begin_work(kind: &TaskType, goals: Vec<String>, has_context: bool) -> Work {
    let mut state = kind.fresh_state();
    if has_context {
        for step in kind.steps.iter().filter(|step| step.given_by_context) {
            state.advance(&step.name, Value::String("given by the context".to_owned()));
        }
    }
    Work::new(state, goals)
}

/// Begins another task within the same attempt: what bounds the attempt keeps its count.
pub fn begin_next_work(work: &Work, kind: &TaskType, goals: Vec<String>) -> Work {
    work.continued_by(begin_work(kind, goals, !work.sources.is_empty()))
}
