//! Drafts an outline from a goal and a context.

use jiff::civil::Date;

use planwright_model::{PlanContext, PlanOutline};

use super::blueprint::{self, BlueprintInputs};
use super::facts::{self, ContextQuestion};
use super::goal::Goal;
use super::pattern::{self, PatternPick, SubtypeProposals};
use super::template::{Template, TemplateLibrary};

/// Why nothing could be drafted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    #[error("the goal is empty")]
    NoGoal,
    #[error("no template is there for {0}")]
    NoTemplate(String),
}

impl DraftError {
    /// Returns how to fix it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoGoal => "say in one sentence what you want to reach",
            Self::NoTemplate(_) => "choose another pattern, or add a template for it",
        }
    }
}

/// An outline with everything that a caller reports or asks about it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineDraft {
    pub outline: PlanOutline,
    /// How the pattern was chosen; the context's own pattern takes precedence.
    pub pick: PatternPick,
    /// Missing facts, most important first.
    pub questions: Vec<ContextQuestion>,
    /// What could not be used, and what the person should know before starting.
    pub notes: Vec<String>,
}

/// Drafts the outline of a goal. A pattern that the context already has is kept.
pub fn draft_outline(
    context: PlanContext,
    library: &TemplateLibrary,
    today: Date,
    proposals: SubtypeProposals,
) -> Result<OutlineDraft, DraftError> {
    if context.goal_text.trim().is_empty() {
        return Err(DraftError::NoGoal);
    }
    let goal = facts::read_goal(&context, today);
    let pick = pattern::select_pattern(&goal, library, proposals);
    let mut context = context;
    let spec = context.pattern.clone().unwrap_or_else(|| pick.pattern.clone());
    let template = find_template(library, &spec)?;
    let mut notes = goal.notes.clone();
    context = facts::fill_context(context, &goal, template, &mut notes);
    context.pattern = Some(spec);
    let size = facts::measure_plan(&context, &goal, template);
    let plan = blueprint::build_blueprint(
        BlueprintInputs { goal: &goal, context: &context, template, library, size },
        100,
    );
    notes.extend(plan.notes);
    notes.extend(template.notes.iter().cloned());
    let questions = facts::open_questions(&context);
    let mut outline = PlanOutline::new(blueprint::ROOT, context);
    outline.nodes = plan.nodes;
    Ok(OutlineDraft { outline, pick, questions, notes })
}

pub(super) fn find_template<'a>(
    library: &'a TemplateLibrary,
    spec: &planwright_model::PatternSpec,
) -> Result<&'a Template, DraftError> {
    library.find_template(spec).ok_or_else(|| DraftError::NoTemplate(spec.pattern_type.to_string()))
}

/// Parses the goal of an outline as of its first day: dates in it have been resolved before.
pub(super) fn parse_outline_goal(outline: &PlanOutline) -> Goal {
    facts::read_goal(&outline.plan_context, outline.plan_context.constraints.start)
}
