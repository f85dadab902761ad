//! Drafts an outline from a goal and a context.

use jiff::civil::Date;

use planwright_model::{NodeType, PatternSpec, PlanContext, PlanNode, PlanOutline};

use super::blueprint::{Blueprint, BlueprintSizing, TemplateLibrary};
use super::facts;
use super::goal::Goal;
use super::instance::{self, AnchorCalendar, BlueprintInstance, InstanceInputs};
use super::kind::{self, KindPick, SubtypeProposals};
use super::questions::{self, ContextQuestion};
use super::{pacing, span, stated_days, two_halves};

/// Why nothing could be drafted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    #[error("the goal is empty")]
    NoGoal,
    #[error("no kind of plan fits the goal")]
    NoKind,
}

impl DraftError {
    /// Returns how to fix it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoGoal => "say in one sentence what you want to reach",
            Self::NoKind => "say what kind of plan it is; planwright template list shows the kinds",
        }
    }
}

/// An outline with everything that a caller reports or asks about it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlineDraft {
    pub outline: PlanOutline,
    /// How the kind was chosen; the context's own pattern takes precedence.
    pub pick: KindPick,
    /// Missing facts, most important first.
    pub questions: Vec<ContextQuestion>,
    /// What could not be used, and what the person should know before starting.
    pub notes: Vec<String>,
}

/// Drafts the outline of a goal. A pattern that the context already has is kept; without one, the best kind is used,
/// however sure it is.
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
    let pick = kind::select_kind(&goal, library, proposals);
    let best = || pick.best().map(|best| best.pattern.clone());
    let spec = context.pattern.clone().or_else(best).ok_or(DraftError::NoKind)?;
    if spec.is_own_steps() {
        return Ok(draft_own_steps(context, &goal, spec, pick));
    }
    let file = two_halves::find_blueprint(&spec, &goal, library).ok_or(DraftError::NoKind)?;
    let file = &*file;
    let mut notes = goal.notes.clone();
    let mut context = facts::fill_context(context, &goal, file, &mut notes);
    context.pattern = Some(spec);
    let planned = build_sized_instance(&mut context, &goal, file, library);
    notes.extend(planned.notes.iter().cloned());
    notes.extend(file.notes.iter().cloned());
    notes.extend(two_halves::name_other_half(&goal, file));
    if file.small {
        notes.push("This is a small task: a few steps for today or tomorrow.".to_owned());
    }
    let size = span::measure_span(&context, file);
    notes.extend(early_end_note(&context, &size));
    let effort = span::total_effort(&planned.nodes, &planned.nodes[0].id, size.weeks());
    let inputs =
        InstanceInputs { goal: &goal, context: &context, blueprint: file, library, span: size };
    let questions = questions::open_questions(inputs, &planned, effort);
    let mut outline = PlanOutline::new(instance::ROOT, context);
    outline.nodes = planned.nodes;
    Ok(OutlineDraft { outline, pick, questions, notes })
}

/// Says when a course is over, if that is long before the last day.
fn early_end_note(context: &PlanContext, size: &span::PlanSpan) -> Option<String> {
    let start = context.constraints.start;
    let last = context.constraints.deadline?.local_date();
    let day = |date| planwright_text::dates::format_date(date, start);
    (instance::days_between(size.last_day, last) > 7).then(|| {
        format!(
            "You have more time than this takes: it is done by {}, well before {}.",
            day(size.last_day),
            day(last)
        )
    })
}

/// Instantiates the blueprint, assumes hours that suffice for it, and fits its dates to them.
fn build_sized_instance(
    context: &mut PlanContext,
    goal: &Goal,
    file: &Blueprint,
    library: &TemplateLibrary,
) -> BlueprintInstance {
    let mut size = span::measure_span(context, file);
    let inputs = InstanceInputs { goal, context, blueprint: file, library, span: size };
    let mut first = instance::build_instance(inputs);
    let total = span::total_effort(&first.nodes, &first.nodes[0].id, size.weeks());
    if stated_days::keep_to_stated_days(context, goal, file, &first, total) {
        size = span::measure_span(context, file);
        let inputs = InstanceInputs { goal, context, blueprint: file, library, span: size };
        first = instance::build_instance(inputs);
    }
    let daily = pacing::needed_daily(&first, &size, context);
    facts::raise_daily_limit(context, daily);
    // What is tomorrow is all done by then.
    let near = size.day.is_some_and(|day| instance::days_between(size.start, day) <= NEAR_DAYS);
    if size.day.is_some_and(|day| instance::days_between(size.start, day) < CROWDED_DAYS) {
        let phases = u16::try_from(file.phases.len()).unwrap_or(u16::MAX);
        let limits = &mut context.constraints;
        limits.max_parallel_phases = limits.max_parallel_phases.max(phases);
    }
    let needed = pacing::needed_weekly(&first, &size);
    facts::fill_hours(context, file, if near { needed.max(total) } else { needed }, total);
    raise_assumed_hours(context, file, &first);
    stretch_assumed_span(context, goal, file, library);
    let size = span::measure_span(context, file);
    let inputs = InstanceInputs { goal, context, blueprint: file, library, span: size };
    let planned = instance::build_instance(inputs);
    let scale = lead_scale(inputs, &planned);
    let days = pacing::last_finish(&planned, &size, scale);
    if !facts::extend_past_day(context, goal, file, days) {
        return finish_instance(planned, file, &size, &context.calendar, scale);
    }
    let size = span::measure_span(context, file);
    let inputs = InstanceInputs { goal, context, blueprint: file, library, span: size };
    finish_instance(instance::build_instance(inputs), file, &size, &context.calendar, scale)
}

/// Raises hours that are only assumed until the work fits before its end, or the calendar holds no more.
fn raise_assumed_hours(context: &mut PlanContext, file: &Blueprint, first: &BlueprintInstance) {
    // Where a day decides the end, more hours do not move it.
    if file.is_routine() || file.day.is_some() || file.sizing == BlueprintSizing::Training {
        return;
    }
    loop {
        let size = span::measure_span(context, file);
        let late = pacing::last_finish(first, &size, 0.0) > f64::from(size.days) * 0.85;
        if !late || !facts::raise_hours(context) {
            return;
        }
    }
}

/// Lengthens a span that is only assumed until the hours that the person has suffice for the work.
fn stretch_assumed_span(
    context: &mut PlanContext,
    goal: &Goal,
    file: &Blueprint,
    library: &TemplateLibrary,
) {
    if !facts::can_lengthen_span(context, file) {
        return;
    }
    for _ in 0..MAX_STRETCHES {
        let size = span::measure_span(context, file);
        let inputs = InstanceInputs { goal, context, blueprint: file, library, span: size };
        let planned = instance::build_instance(inputs);
        let days = f64::from(size.days);
        let finish = pacing::last_finish(&planned, &size, 1.0) * 1.05;
        let effort = span::total_effort(&planned.nodes, &planned.nodes[0].id, size.weeks());
        let needed = days * f64::from(effort) * 1.1 / f64::from(size.capacity.max(1));
        let needed = needed.max(finish);
        let weeks = (needed / 7.0).ceil().clamp(1.0, 520.0) as u16;
        if weeks <= size.weeks() || !facts::lengthen_span(context, weeks) {
            return;
        }
    }
}

/// A day nearer than this many days has all phases in the weeks before it.
const CROWDED_DAYS: u32 = 14;
/// A day within this many days takes all the hours there are.
const NEAR_DAYS: u32 = 3;

/// Repeated work grows with the span, so the span is measured again; the bound ends plans that grow as fast.
const MAX_STRETCHES: usize = 4;

fn finish_instance(
    mut planned: BlueprintInstance,
    file: &Blueprint,
    size: &span::PlanSpan,
    calendar: &planwright_model::PlanCalendar,
    scale: f64,
) -> BlueprintInstance {
    pacing::relax_due_dates(&mut planned, size, scale);
    // A routine begins at once; its set-up takes minutes.
    if !file.is_routine() {
        pacing::hold_back_repeated(&mut planned, size, calendar, scale);
    }
    planned
}

/// Returns whether the day that the dates count from is only an example: the goal names neither it nor a time for it.
fn has_example_day(inputs: InstanceInputs<'_>) -> bool {
    let assumed = |found: &planwright_model::Assumption| {
        found.origin == planwright_model::AssumptionOrigin::Template
    };
    inputs.goal.last_day().is_none()
        && inputs.goal.horizon_weeks.is_none()
        && inputs.context.find_assumption(facts::DAY).is_some_and(assumed)
}

/// Returns how much waiting times shrink. The weeks of a training stay weeks.
pub(super) fn lead_scale(inputs: InstanceInputs<'_>, planned: &BlueprintInstance) -> f64 {
    match inputs.blueprint.sizing {
        BlueprintSizing::Training => 1.0,
        // A span that nobody stated gives way before a waiting time does.
        BlueprintSizing::Tasks if facts::can_lengthen_span(inputs.context, inputs.blueprint) => 1.0,
        // So does a day that is only an example.
        BlueprintSizing::Tasks if has_example_day(inputs) => 1.0,
        BlueprintSizing::Tasks => {
            let most = AnchorCalendar::new(inputs).lead_ratio();
            pacing::fit_waiting_times(planned, &inputs.span, most)
        }
    }
}

/// Drafts a plan that no blueprint fits: the goal, and one empty step for the person to write.
fn draft_own_steps(
    context: PlanContext,
    goal: &Goal,
    spec: PatternSpec,
    pick: KindPick,
) -> OutlineDraft {
    let mut notes = goal.notes.clone();
    let mut context = facts::fill_plain_context(context, goal, &mut notes);
    context.pattern = Some(spec);
    let mut outline = PlanOutline::new(instance::ROOT, context);
    let mut step = PlanNode::new_child(&outline.nodes[0], "t1", NodeType::Task, "");
    step.estimate_minutes = Some(OWN_STEP_MINUTES);
    outline.nodes.push(step);
    OutlineDraft { outline, pick, questions: Vec::new(), notes }
}

/// The minutes of a step that the person has not estimated.
pub(super) const OWN_STEP_MINUTES: u32 = 60;

/// Parses the goal of an outline as of its first day: dates in it have been resolved before.
pub(super) fn parse_outline_goal(outline: &PlanOutline) -> Goal {
    facts::read_goal(&outline.plan_context, outline.plan_context.constraints.start)
}
