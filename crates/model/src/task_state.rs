//! What is known about a task of several steps while it is being done.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The steps of a task: done, to do, and what came of them. No step is ever both done and to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "TaskStateInput")]
pub struct TaskState {
    pub task_type: String,
    /// Counts from 1.
    pub current_step: u32,
    /// How many calls may advance or repeat a step.
    pub max_steps: u32,
    pub completed_steps: Vec<String>,
    pub pending_steps: Vec<String>,
    pub step_results: BTreeMap<String, Value>,
}

/// What a file or a model may say, with the shorter names models use.
#[derive(Deserialize, schemars::JsonSchema)]
struct TaskStateInput {
    #[serde(default = "default_task_type")]
    task_type: String,
    #[serde(default = "first_step", alias = "step")]
    current_step: u32,
    #[serde(default = "default_max_steps")]
    max_steps: u32,
    #[serde(default, alias = "completed")]
    completed_steps: Vec<String>,
    #[serde(default, alias = "pending")]
    pending_steps: Vec<String>,
    #[serde(default)]
    step_results: BTreeMap<String, Value>,
}

fn default_task_type() -> String {
    crate::task::DEFAULT_TYPE.to_owned()
}

fn first_step() -> u32 {
    1
}

fn default_max_steps() -> u32 {
    5
}

impl From<TaskStateInput> for TaskState {
    fn from(wire: TaskStateInput) -> Self {
        let mut seen = BTreeSet::new();
        let mut once = |steps: Vec<String>| -> Vec<String> {
            steps.into_iter().filter(|step| seen.insert(step.clone())).collect()
        };
        let completed_steps = once(wire.completed_steps);
        let pending_steps = once(wire.pending_steps);
        Self {
            task_type: wire.task_type,
            current_step: wire.current_step,
            max_steps: wire.max_steps,
            completed_steps,
            pending_steps,
            step_results: wire.step_results,
        }
    }
}

impl TaskState {
    /// A task with everything still to do.
    pub fn new(task_type: &str, max_steps: u32, steps: impl IntoIterator<Item = String>) -> Self {
        Self::from(TaskStateInput {
            task_type: task_type.to_owned(),
            current_step: 1,
            max_steps,
            completed_steps: Vec::new(),
            pending_steps: steps.into_iter().collect(),
            step_results: BTreeMap::new(),
        })
    }

    /// Marks a step as done, by the name of the step. Doing so twice changes nothing; true if it was news.
    pub fn complete_step(&mut self, step: &str, result: Value) -> bool {
        if self.is_step_completed(step) {
            return false;
        }
        self.pending_steps.retain(|pending| pending != step);
        self.completed_steps.push(step.to_owned());
        self.step_results.insert(step.to_owned(), result);
        self.current_step = self.current_step.saturating_add(1);
        true
    }

    /// Puts steps back on the list, where the order of `pattern` has them.
    pub fn requeue_steps(&mut self, steps: &[String], pattern: &[String]) {
        for step in steps {
            self.completed_steps.retain(|completed| completed != step);
            if !self.is_step_pending(step) {
                self.pending_steps.push(step.clone());
            }
        }
        let place = |step: &String| pattern.iter().position(|known| known == step);
        self.pending_steps.sort_by_key(|step| place(step).unwrap_or(usize::MAX));
    }

    pub fn is_step_pending(&self, step: &str) -> bool {
        self.pending_steps.iter().any(|pending| pending == step)
    }

    pub fn is_step_completed(&self, step: &str) -> bool {
        self.completed_steps.iter().any(|completed| completed == step)
    }

    pub fn is_complete(&self) -> bool {
        self.pending_steps.is_empty()
    }

    /// What comes next.
    pub fn next_step(&self) -> Option<&str> {
        self.pending_steps.first().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PATTERN: [&str; 4] = ["read", "understand", "edit", "verify"];

    fn pattern() -> Vec<String> {
        PATTERN.map(str::to_owned).to_vec()
    }

    fn disjoint(state: &TaskState) -> bool {
        state.completed_steps.iter().all(|step| !state.is_step_pending(step))
    }

    /// Row 55.
    #[derive(Clone, Debug)]
    enum Change {
        Advance(usize),
        Requeue(Vec<usize>),
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            (0..5usize).prop_map(Change::Advance),
            prop::collection::vec(0..4usize, 0..3).prop_map(Change::Requeue),
        ]
    }

    fn name(at: usize) -> String {
        PATTERN.get(at).map_or_else(|| "elsewhere".to_owned(), |step| (*step).to_owned())
    }

    fn changed(state: &mut TaskState, change: &Change) {
        match change {
            Change::Advance(at) => {
                state.complete_step(&name(*at), json!({ "at": at }));
            }
            Change::Requeue(steps) => {
                let steps: Vec<String> = steps.iter().map(|at| name(*at)).collect();
                state.requeue_steps(&steps, &pattern());
            }
        }
    }

    proptest! {
        #[test]
        fn done_and_to_do_never_overlap_whatever_happens(changes in prop::collection::vec(change(), 0..24)) {
            let mut state = TaskState::new("code_modify", 5, pattern());
            for change in &changes {
                changed(&mut state, change);
                prop_assert!(disjoint(&state));
            }
        }

        #[test]
        fn advancing_a_step_again_changes_nothing(changes in prop::collection::vec(change(), 0..12), at in 0..5usize) {
            let mut state = TaskState::new("code_modify", 5, pattern());
            for change in &changes {
                changed(&mut state, change);
            }
            state.complete_step(&name(at), json!(1));
            let once = state.clone();
            prop_assert!(!state.complete_step(&name(at), json!(2)));
            prop_assert_eq!(state, once);
        }

        #[test]
        fn a_state_survives_being_written_at_any_step(changes in prop::collection::vec(change(), 0..12), cut in any::<prop::sample::Index>()) {
            let mut through = TaskState::new("code_modify", 5, pattern());
            let cut = cut.index(changes.len() + 1);
            for change in &changes[..cut] {
                changed(&mut through, change);
            }
            let text = serde_json::to_string(&through).unwrap();
            let mut resumed: TaskState = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&resumed, &through);
            for change in &changes[cut..] {
                changed(&mut through, change);
                changed(&mut resumed, change);
            }
            prop_assert_eq!(resumed, through);
        }
    }

    #[test]
    fn the_names_that_models_use_are_understood_and_a_contradiction_is_resolved() {
        let state: TaskState = serde_json::from_value(json!({
            "task_type": "skill_build", "step": 2, "completed": ["research"],
            "pending": ["research", "generate", "generate"],
        }))
        .unwrap();
        assert_eq!((state.current_step, state.max_steps), (2, 5));
        assert_eq!(state.pending_steps, ["generate"]);
    }
}
