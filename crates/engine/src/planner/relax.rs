//! Applying a relaxation to a plan that does not fit.

use planwright_model::{
    AssumptionOrigin, LeverChange, LinkKind, LinkOrigin, PlanContext, PlanOutline, Roadmap,
    ScheduleRelaxation, TaskId,
};
use planwright_state::PlanningSlice;

use super::roadmap::update_derived_fields;

/// A plan with a limit moved.
#[derive(Clone, Debug)]
pub struct RelaxedPlan {
    pub context: PlanContext,
    /// Set where tasks or links changed.
    pub roadmap: Option<Roadmap>,
    /// Set where tasks were left out, so that later drafts leave them out too.
    pub outline: Option<PlanOutline>,
    pub node_ids: Vec<TaskId>,
    pub summary: String,
}

/// Whether a relaxation moves something that the person stated.
pub fn touches_stated_limits(talk: &PlanningSlice, relaxation: &ScheduleRelaxation) -> bool {
    let Some(context) = talk.outline.as_deref().map(|outline| &outline.plan_context) else {
        return true;
    };
    let stated = |key: &str| {
        context.find_assumption(key).is_none_or(|known| known.origin != AssumptionOrigin::Template)
    };
    relaxation.changes.iter().any(|change| match change {
        LeverChange::LaterDeadline { .. } => {
            context.constraints.deadline.is_some() || stated("horizon_weeks")
        }
        LeverChange::MoreWeeklyMinutes { .. } => stated("weekly_minutes"),
        LeverChange::DropOptional { .. } | LeverChange::OverlapPhases { .. } => false,
        LeverChange::MoveOtherBlocks { .. } => true,
    })
}

/// The plan with a relaxation applied.
pub fn apply_relaxation(
    talk: &PlanningSlice,
    relaxation: &ScheduleRelaxation,
) -> Option<RelaxedPlan> {
    let mut outline = talk.outline.as_deref()?.clone();
    let mut context = outline.plan_context.clone();
    let before = talk.roadmap.as_deref()?;
    let mut roadmap = before.clone();
    let mut node_ids = Vec::new();
    for change in &relaxation.changes {
        match change {
            LeverChange::LaterDeadline { deadline, .. } => {
                context.constraints.deadline = Some(*deadline);
            }
            LeverChange::MoreWeeklyMinutes { to, .. } => {
                context.constraints.weekly_minutes = Some(*to);
                let days = context.calendar.working.values().filter(|day| !day.is_empty()).count();
                let daily = to.div_ceil(days.max(1) as u32);
                context.constraints.max_daily_minutes =
                    context.constraints.max_daily_minutes.max(daily);
            }
            LeverChange::DropOptional { node_ids: dropped, .. } => {
                roadmap.nodes.retain(|node| !dropped.contains(&node.id));
                let gone = |id: &TaskId| dropped.contains(id);
                roadmap.dependencies.retain(|link| !gone(&link.from) && !gone(&link.to));
                outline.nodes.retain(|node| !dropped.contains(&node.id));
                node_ids.extend(dropped.iter().cloned());
            }
            LeverChange::OverlapPhases { from, to, lag_minutes } => {
                for link in &mut roadmap.dependencies {
                    if link.from == *from && link.to == *to {
                        link.kind = LinkKind::SS;
                        link.lag_minutes = *lag_minutes;
                        // A decision that later drafts keep.
                        link.origin = LinkOrigin::UserFeedback;
                    }
                }
                node_ids.extend([from.clone(), to.clone()]);
            }
            LeverChange::MoveOtherBlocks { .. } => {}
        }
    }
    let changed = roadmap != *before;
    if changed {
        update_derived_fields(&mut roadmap);
    }
    Some(RelaxedPlan {
        context,
        roadmap: changed.then_some(roadmap),
        outline: Some(outline).filter(|after| talk.outline.as_deref() != Some(after)),
        node_ids,
        summary: relaxation.summary.clone(),
    })
}
