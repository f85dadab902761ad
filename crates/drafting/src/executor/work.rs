//! Starts the work of a task of a given type.

use serde_json::Value;

use planwright_model::agent_work::AgentWork;

use super::TaskType;

/// Starts a task of a type. Steps already covered by the context are done from the start.
pub fn start_work(kind: &TaskType, goals: Vec<String>, has_context: bool) -> AgentWork {
    let mut state = kind.initial_state();
    if has_context {
        for step in kind.steps.iter().filter(|step| step.given_by_context) {
            state.complete_step(&step.name, Value::String("given by the context".to_owned()));
        }
    }
    AgentWork::new(state, goals)
}

/// Starts another task within the same attempt: the counters that limit the attempt are kept.
pub fn start_next_work(work: &AgentWork, kind: &TaskType, goals: Vec<String>) -> AgentWork {
    work.carry_over_to(start_work(kind, goals, !work.sources.is_empty()))
}
