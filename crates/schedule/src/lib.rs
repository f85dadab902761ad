//! The schedule of a plan: when every leaf is worked on, and what would help if it does not fit.
//!
//! One person works in blocks under daily and weekly caps; a plan with shared resources goes to the
//! resource-constrained scheduler instead. The same request gives the same schedule on every machine: effort is a
//! number of generated schedules, and nothing reads a clock.

mod assemble;
mod axis;
mod block_move;
pub mod calendar;
mod catch_up;
mod draft_schedule;
mod generate;
mod hand_set;
mod horizon;
pub mod layout_search;
mod leaf_timing;
mod moved_times;
mod network;
mod open_work;
mod pacing;
mod passes;
mod person_hours;
mod placement;
pub mod portfolio;
mod priority_rules;
mod relaxation;
mod schedule_run;
pub mod shared_resources;
#[cfg(test)]
mod tests;
mod uniform_shift;

pub(crate) use assemble::week_capacities;
pub use block_move::{BlockMoveOutcome, BlockMoveRequest, move_block};
pub use catch_up::{
    CatchUpFate, CatchUpPreview, CatchUpRequest, CatchUpRow, offered_ways, preview_catch_up,
};
pub use draft_schedule::{DraftScheduleRequest, schedule_draft};
pub use leaf_timing::{LeafTiming, critical_path, leaf_timings};
pub use moved_times::describe_moved_times;

pub use open_work::{OpenWorkRequest, next_start, replan_open_work};

use jiff::Timestamp;

use crate::calendar::CalendarError;
use planwright_model::{FixedEvent, PlanContext, Roadmap, Schedule, ScheduledBlock};

/// The number of generated schedules in one search: about 20 ms for 120 leaves.
pub const SCHEDULE_ITERATIONS: u64 = 280;

/// A block of another plan of the same person.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherBlock {
    /// The other plan's title or id, as displayed.
    pub plan: String,
    /// The priority weight of the other plan.
    pub priority_weight: f64,
    pub block: ScheduledBlock,
}

/// What to schedule, and around what.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleRequest<'a> {
    pub roadmap: &'a Roadmap,
    pub context: &'a PlanContext,
    pub events: &'a [FixedEvent],
    /// Other plans' blocks; their time is not used.
    pub others: &'a [OtherBlock],
    /// Blocks of this plan that must not be moved.
    pub locked: &'a [ScheduledBlock],
    /// The blocks of the version before: its order is kept where that costs nothing.
    pub before: &'a [ScheduledBlock],
    /// Nothing is placed before this instant, if it is later than the first day.
    pub not_before: Option<Timestamp>,
    pub iterations: u64,
    pub seed: u64,
}

impl<'a> ScheduleRequest<'a> {
    /// Creates a request without events, other plans or locks, at the default effort.
    pub fn new(roadmap: &'a Roadmap, context: &'a PlanContext) -> Self {
        Self {
            roadmap,
            context,
            events: &[],
            others: &[],
            locked: &[],
            before: &[],
            not_before: None,
            iterations: SCHEDULE_ITERATIONS,
            seed: 0,
        }
    }

    /// Derives the seed from the plan's id and version.
    pub fn with_plan_seed(self, plan: &str, version: u32) -> Self {
        let bytes = plan.bytes().chain(version.to_be_bytes());
        let seed = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { seed, ..self }
    }
}

/// Why no schedule can be produced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error(transparent)]
    Calendar(#[from] CalendarError),
    #[error("\"{leaf}\" needs {demand} of {resource}, which has {capacity}")]
    DemandOverCapacity { leaf: String, resource: String, demand: u64, capacity: u32 },
    #[error("\"{leaf}\" needs {resource}, which the plan does not declare")]
    UnknownResource { leaf: String, resource: String },
    #[error("{} wait for each other", leaves.join(" → "))]
    Cycle { leaves: Vec<String> },
    #[error("the plan adds up to {minutes} minutes, more than a schedule can hold")]
    TooLong { minutes: u64 },
}

/// Schedules a roadmap; if it does not fit, includes the smallest changes that would help.
pub fn schedule_roadmap(request: &ScheduleRequest<'_>) -> Result<Schedule, ScheduleError> {
    let outcome = schedule_run::run_request(
        request,
        &schedule_run::RunVariation::default(),
        request.iterations,
    )?;
    let mut schedule = assemble::assemble_schedule(request, &outcome);
    if !outcome.is_on_time() {
        schedule.relaxations = relaxation::find_relaxations(request, &outcome);
    }
    Ok(schedule)
}
