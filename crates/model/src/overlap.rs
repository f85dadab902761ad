//! Where a plan takes time that another plan of the person takes too, and where blocks could go instead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OffsetDateTime, SessionId, WeekCapacity};

/// A block of this plan at the time of a block of another plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanOverlap {
    /// The block of this plan.
    pub block: String,
    pub title: String,
    /// The session of the other plan.
    pub other_session: SessionId,
    pub other_plan: String,
    /// The block of the other plan, by its id there.
    pub other_block: String,
    pub other_title: String,
    /// The time that both take.
    pub start: OffsetDateTime,
    pub end: OffsetDateTime,
    pub minutes: u32,
}

impl PlanOverlap {
    /// The other block among those of all plans.
    pub fn other_key(&self) -> String {
        format!("{}/{}", self.other_session, self.other_block)
    }
}

/// A block that could move, so that nothing overlaps it any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverlapShift {
    /// The session of the plan whose block moves; none is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The title of that plan; empty for this one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// The block, by its id in its own plan.
    pub block: String,
    pub title: String,
    pub from: OffsetDateTime,
    pub to: OffsetDateTime,
}

/// What a plan and the person's other plans do to each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverlapReport {
    pub overlaps: Vec<PlanOverlap>,
    /// What would resolve them, in the order in which the blocks move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<OverlapShift>,
    /// Titles of blocks that no free time is left for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<String>,
    /// The weeks in which other plans take time too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weeks: Vec<WeekCapacity>,
}

impl OverlapReport {
    /// The titles of the plans that overlap this one, each once.
    pub fn other_plans(&self) -> Vec<&str> {
        let mut titles: Vec<&str> = Vec::new();
        for overlap in &self.overlaps {
            if !titles.contains(&overlap.other_plan.as_str()) {
                titles.push(&overlap.other_plan);
            }
        }
        titles
    }

    /// The sessions whose plans overlap this one or have blocks that move, each once.
    pub fn other_sessions(&self) -> Vec<&SessionId> {
        let overlapping = self.overlaps.iter().map(|overlap| &overlap.other_session);
        let moving = self.shifts.iter().filter_map(|shift| shift.session.as_ref());
        let mut sessions: Vec<&SessionId> = Vec::new();
        for session in overlapping.chain(moving) {
            if !sessions.contains(&session) {
                sessions.push(session);
            }
        }
        sessions
    }

    /// The shifts within one plan; none is this one.
    pub fn shifts_in(&self, session: Option<&SessionId>) -> Vec<OverlapShift> {
        let of = |shift: &&OverlapShift| shift.session.as_ref() == session;
        self.shifts.iter().filter(of).cloned().collect()
    }
}

/// Minutes by which shifts move blocks, added up.
pub fn shifted_minutes(shifts: &[OverlapShift]) -> i64 {
    shifts.iter().map(|shift| shift.from.minutes_until(shift.to).abs()).sum()
}
