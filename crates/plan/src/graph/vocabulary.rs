//! The names that tasks may use and that are data rather than code.

/// Known task types and roles. Callers that read more of them from files extend the built-in ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskVocabulary {
    pub task_types: Vec<String>,
    /// `None` leaves roles as they are.
    pub agent_roles: Option<Vec<String>>,
}

impl Default for TaskVocabulary {
    fn default() -> Self {
        let types =
            ["generic", "skill_build", "code_modify", "code_create", "research", "memory_op"];
        Self { task_types: types.map(str::to_owned).into(), agent_roles: None }
    }
}
