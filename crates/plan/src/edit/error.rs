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
    #[error("split a task into 2 to {most} parts, and merge at least 2 tasks")]
    PartCount { most: usize },
    #[error("\"{title}\" repeats")]
    Repeats { title: String },
    #[error("\"{first}\" and \"{other}\" are done by different people or commands")]
    DifferentDoers { first: String, other: String },
    #[error("the date for \"{second}\" is before the one for \"{first}\"")]
    DatesContradict { first: &'static str, second: &'static str },
    #[error("a name has at most {most} characters")]
    LongOwner { most: usize },
    #[error("a comment needs words")]
    EmptyComment,
    #[error("a command is missing")]
    NoCommand,
    #[error("links are drawn with the roadmap, which is not there yet")]
    NoRoadmap,
    #[error("\"{to}\" does not wait for \"{from}\"")]
    NoLink { from: String, to: String },
    #[error("\"{id}\" is the id of another node")]
    TakenId { id: TaskId },
    #[error("a {child} cannot be put below \"{title}\"")]
    WrongKind { child: &'static str, title: String },
    #[error("the id, the kind and the lane of a node stay as they are")]
    OnlyForNewNodes,
    #[error("\"{title}\" can't wait for \"{end}\", which ends the plan")]
    AfterEnd { title: String, end: String },
    #[error("\"{second}\" waits for \"{first}\", so it can't stand before it")]
    LinkForbids { first: String, second: String },
    #[error("that is how it is already")]
    NothingChanges,
    #[error("{message}")]
    BreaksRule { rule: String, message: String },
}

impl EditError {
    /// Returns what would help.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownNode { nearest: Some(name), .. } => format!("did you mean {name}?"),
            Self::UnknownNode { nearest: None, .. } => "name it by its id or its title".to_owned(),
            Self::Locked { .. } => "unlock it first".to_owned(),
            Self::Root => "change its title, or discard the plan".to_owned(),
            Self::Milestone { .. } => "give the time to the task before it".to_owned(),
            Self::Container { .. } => "choose one of its tasks".to_owned(),
            Self::HoldsNothing { .. } | Self::BelowItself { .. } => {
                "choose a phase or a task".to_owned()
            }
            Self::EmptyTitle => "say in a few words what is to be done".to_owned(),
            Self::LongTitle { .. } => "shorten it; details belong in \"done when\"".to_owned(),
            Self::TooFewMinutes { .. } => "give every task at least a minute".to_owned(),
            Self::PartCount { .. } => "name the parts, or mark the tasks".to_owned(),
            Self::Repeats { .. } => "choose a task that happens once".to_owned(),
            Self::DifferentDoers { .. } => "give both to the same person first".to_owned(),
            Self::DatesContradict { .. } => "choose another date, or clear one of them".to_owned(),
            Self::LongOwner { .. } => "write a short name or a role".to_owned(),
            Self::EmptyComment => "write what you think about it".to_owned(),
            Self::NoCommand => "write the command that is to be run".to_owned(),
            Self::NoRoadmap => "approve the outline first".to_owned(),
            Self::NoLink { .. } => "look at its links in the details of the node".to_owned(),
            Self::TakenId { .. } => "choose another id".to_owned(),
            Self::WrongKind { .. } => "choose another kind or another place".to_owned(),
            Self::OnlyForNewNodes => "remove it and add another".to_owned(),
            Self::AfterEnd { .. } => "let it wait for an earlier task".to_owned(),
            Self::LinkForbids { .. } => "take the link away first".to_owned(),
            Self::NothingChanges => "nothing was changed".to_owned(),
            Self::BreaksRule { .. } => "the plan was left as it was".to_owned(),
        }
    }
}
