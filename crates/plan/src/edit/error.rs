//! Why an edit is rejected.

use planwright_model::{PlanNode, TaskId};

/// Why an edit is rejected, with variants named after what the person can do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("the plan has no node \"{id}\"")]
    UnknownNode { id: TaskId, nearest: Option<String> },
    #[error("\"{title}\" is locked")]
    Locked { node: TaskId, title: String },
    #[error("the goal itself can be neither removed nor moved")]
    Root,
    #[error("\"{title}\" marks a point and takes no time")]
    Milestone { title: String },
    #[error("\"{title}\" holds other tasks")]
    Container { title: String },
    #[error("nothing can be put below \"{title}\"")]
    HoldsNothing { title: String },
    #[error("\"{title}\" cannot be put below itself")]
    BelowItself { title: String },
    #[error("a title needs at least one character")]
    EmptyTitle,
    #[error("the title has {count} characters, {} are allowed", PlanNode::MAX_TITLE_CHARS)]
    LongTitle { count: usize },
    #[error("{} is too little for {tasks} tasks", planwright_text::units::format_planned((*minutes).into()))]
    TooFewMinutes { minutes: u32, tasks: usize },
    #[error("a command is missing")]
    NoCommand,
    #[error("links are drawn with the roadmap, which is not there yet")]
    NoRoadmap,
    #[error("\"{to}\" does not wait for \"{from}\"")]
    NoLink { from: String, to: String },
    #[error("that is how it is already")]
    NothingChanges,
    #[error("{message} ({rule})")]
    BreaksRule { rule: String, message: String },
}

impl EditError {
    /// Returns what would help.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownNode { nearest: Some(name), .. } => format!("did you mean {name}?"),
            Self::UnknownNode { nearest: None, .. } => "name it by its id or its title".to_owned(),
            Self::Locked { .. } => "unlock it first".to_owned(),
            Self::Root => "change its title, or abandon the plan".to_owned(),
            Self::Milestone { .. } => "give the time to the task before it".to_owned(),
            Self::Container { .. } => "choose one of its tasks".to_owned(),
            Self::HoldsNothing { .. } | Self::BelowItself { .. } => {
                "choose a phase or a task".to_owned()
            }
            Self::EmptyTitle => "say in a few words what is to be done".to_owned(),
            Self::LongTitle { .. } => "shorten it; details belong in \"done when\"".to_owned(),
            Self::TooFewMinutes { .. } => "give every task at least a minute".to_owned(),
            Self::NoCommand => "write the command that is to be run".to_owned(),
            Self::NoRoadmap => "approve the outline first".to_owned(),
            Self::NoLink { .. } => "look at its links in the details of the node".to_owned(),
            Self::NothingChanges => "nothing was changed".to_owned(),
            Self::BreaksRule { .. } => "the plan was left as it was".to_owned(),
        }
    }
}
