//! Plan templates as data: phases, shares, texts and links of each subtype, read from TOML.
//!
//! This module owns the file format and its checks. `pattern` decides which template fits a goal, and `blueprint`
//! instantiates it.

mod check;
mod library;
mod repeat;
mod topics;

use serde::Deserialize;
use toml::Spanned;

use planwright_model::{LinkKind, PatternType, Role};

pub use library::{TemplateError, TemplateLibrary, TemplateSource};
pub use repeat::{TemplateRepeat, TemplateRepeatUnit};
pub use topics::{Topic, TopicPack};

/// One template file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub pattern: PatternType,
    pub subtype: String,
    /// Words of a goal that select this subtype within its pattern.
    #[serde(default)]
    pub cues: Vec<String>,
    /// Selected by "from A to B" instead of a word.
    #[serde(default)]
    pub from_to: bool,
    /// The assumed horizon if the goal names none.
    pub weeks: u16,
    /// The assumed hours if the goal names none; a routine takes them from its tasks.
    #[serde(default)]
    pub weekly_minutes: Option<u32>,
    /// The total effort, for something too small for a weekly budget.
    #[serde(default)]
    pub total_minutes: Option<u32>,
    #[serde(default)]
    pub sizing: TemplateSizing,
    /// One sentence that explains why this structure suits the goal.
    #[serde(default)]
    pub why: String,
    /// What the person should read before starting.
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub finish: Option<FinishMilestone>,
    #[serde(default, rename = "phase")]
    pub phases: Vec<TemplateGroup>,
    #[serde(default, rename = "cycle")]
    pub cycles: Vec<TemplateGroup>,
    #[serde(default, rename = "task")]
    pub tasks: Vec<TaskSpec>,
}

/// How the effort of a template is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateSizing {
    /// Horizon times weekly minutes, distributed by percentages.
    #[default]
    Shares,
    /// The minutes stated by the tasks.
    ByTasks,
    /// A load for each week that grows, recovers and tapers; phases are weeks of sessions.
    Training,
    /// Horizon times weekly minutes, distributed by percentages within each round.
    Rounds,
}

/// The milestone at the end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishMilestone {
    pub title: Spanned<String>,
    pub done_when: String,
}

/// A phase, a cycle or a sub-goal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateGroup {
    /// The name by which links refer to it.
    #[serde(default)]
    pub key: Option<String>,
    pub title: Spanned<String>,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub done_when: String,
    /// Percent of the parent; equal shares if none is given.
    #[serde(default)]
    pub share: Option<u32>,
    #[serde(default = "default_intensity")]
    pub intensity: u8,
    #[serde(default)]
    pub stream: Option<String>,
    /// Its predecessors; by default the previous one in the same stream.
    #[serde(default)]
    pub after: Option<Vec<LinkSpec>>,
    #[serde(default)]
    pub every: Option<TemplateRepeat>,
    #[serde(default)]
    pub when: PeriodSlot,
    #[serde(default, rename = "phase")]
    pub phases: Vec<TemplateGroup>,
    #[serde(default, rename = "sub_goal")]
    pub sub_goals: Vec<TemplateGroup>,
    #[serde(default, rename = "task")]
    pub tasks: Vec<TaskSpec>,
}

/// A task, a milestone or a gate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    #[serde(default)]
    pub key: Option<String>,
    pub title: Spanned<String>,
    pub done_when: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub role: Role,
    /// Percent of the group; equal shares if none is given.
    #[serde(default)]
    pub share: Option<u32>,
    /// Minutes of one occurrence.
    #[serde(default)]
    pub minutes: Option<u32>,
    /// Percent of the weekly minutes, for a habit alongside the work.
    #[serde(default)]
    pub weekly_percent: Option<u32>,
    /// The minutes that the goal states for one occurrence replace `minutes`.
    #[serde(default)]
    pub stated: bool,
    /// Half as long: the short version for bad days.
    #[serde(default)]
    pub half: bool,
    #[serde(default)]
    pub milestone: bool,
    #[serde(default)]
    pub optional: bool,
    /// Repeated for every topic of the phase.
    #[serde(default)]
    pub per_topic: bool,
    #[serde(default)]
    pub stream: Option<String>,
    #[serde(default)]
    pub after: Option<Vec<LinkSpec>>,
    #[serde(default)]
    pub every: Option<TemplateRepeat>,
    #[serde(default)]
    pub when: PeriodSlot,
}

impl TaskSpec {
    /// Returns whether it takes no time: milestones complete by themselves, gates are answered.
    pub fn is_instant(&self) -> bool {
        self.milestone || self.role == Role::Gate
    }
}

/// A link to an earlier part, by its key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    pub on: String,
    #[serde(default)]
    pub kind: LinkKind,
    /// Share of the predecessor's minutes to wait, in percent.
    #[serde(default)]
    pub percent: u32,
    #[serde(default)]
    pub why: String,
}

/// The position of a recurring part in its period if the goal does not state one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodSlot {
    #[default]
    Any,
    LastWorkingDay,
    /// The last hour of the last working day.
    LastWorkingHour,
    /// The last quarter of an hour of the last working day.
    LastWorkingQuarter,
}

fn default_intensity() -> u8 {
    1
}
