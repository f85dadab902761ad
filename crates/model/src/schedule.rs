//! The schedule of a plan: blocks of time for its leaves, what does not fit, and what would make it fit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::task::is_default;
use super::{IsoWeek, OffsetDateTime, TaskId};

/// One block of time for a leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledBlock {
    pub id: String,
    pub plan_node_id: TaskId,
    pub title: String,
    pub start: OffsetDateTime,
    pub end: OffsetDateTime,
    /// An IANA id.
    pub tz: String,
    /// The end minus the start.
    pub estimated_minutes: u32,
    /// Counts the blocks of a node (of one occurrence, if it repeats) from 1.
    pub sequence: u32,
    /// Counts the occurrences of a repeating node from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u32>,
    /// Whether nothing but the person may move it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub locked: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

impl ScheduledBlock {
    /// Up to this many minutes a habit is done beside whatever else is planned: a pill during a meeting.
    pub const BRIEF_MINUTES: u32 = 15;

    /// Returns whether it is a habit of minutes, which neither takes time from other plans nor gives way to them.
    pub fn is_brief_habit(&self) -> bool {
        self.occurrence.is_some() && self.estimated_minutes <= Self::BRIEF_MINUTES
    }

    /// A first, movable block. Its id is made of the node's and the sequence, so that equal input gives equal ids.
    pub fn new(
        plan_node_id: impl Into<TaskId>,
        title: impl Into<String>,
        start: OffsetDateTime,
        end: OffsetDateTime,
        tz: impl Into<String>,
    ) -> Self {
        let plan_node_id = plan_node_id.into();
        Self {
            id: format!("{plan_node_id}#1"),
            plan_node_id,
            title: title.into(),
            start,
            end,
            tz: tz.into(),
            estimated_minutes: u32::try_from(start.minutes_until(end)).unwrap_or(0),
            sequence: 1,
            occurrence: None,
            locked: false,
            tags: Vec::new(),
            notes: String::new(),
        }
    }

    /// Whether the half-open spans of both share an instant.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start.at < other.end.at && other.start.at < self.end.at
    }
}

/// How full one week is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeekCapacity {
    pub week: IsoWeek,
    pub available_minutes: u32,
    pub planned_minutes: u32,
    /// Minutes that other plans take.
    pub other_minutes: u32,
    /// In percent of the available minutes.
    pub utilization: f64,
}

impl WeekCapacity {
    pub fn new(week: IsoWeek, available: u32, planned: u32, other: u32) -> Self {
        let used = f64::from(planned) + f64::from(other);
        let utilization = match (available, used) {
            (0, 0.0) => 0.0,
            (0, _) => 100.0,
            _ => used / f64::from(available) * 100.0,
        };
        Self {
            week,
            available_minutes: available,
            planned_minutes: planned,
            other_minutes: other,
            utilization,
        }
    }
}

/// Minutes of a leaf that fit nowhere in the horizon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnplacedWork {
    pub plan_node_id: TaskId,
    pub minutes: u32,
}

/// One limit that would have to give way, and by how much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "lever")]
pub enum LeverChange {
    #[serde(rename = "R1")]
    LaterDeadline { days: u32, deadline: OffsetDateTime },
    #[serde(rename = "R2")]
    MoreWeeklyMinutes { from: u32, to: u32 },
    #[serde(rename = "R3")]
    DropOptional { node_ids: Vec<TaskId>, minutes: u32 },
    #[serde(rename = "R4")]
    OverlapPhases { from: TaskId, to: TaskId, lag_minutes: i32 },
    #[serde(rename = "R5")]
    MoveOtherBlocks { block_ids: Vec<String> },
}

impl LeverChange {
    /// The lever's short name, `R1` to `R5`.
    pub fn lever_code(&self) -> &'static str {
        match self {
            Self::LaterDeadline { .. } => "R1",
            Self::MoreWeeklyMinutes { .. } => "R2",
            Self::DropOptional { .. } => "R3",
            Self::OverlapPhases { .. } => "R4",
            Self::MoveOtherBlocks { .. } => "R5",
        }
    }
}

/// A smallest change that makes an infeasible plan feasible: one lever, or a pair where none works alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleRelaxation {
    pub changes: Vec<LeverChange>,
    /// One line for the person.
    pub summary: String,
    /// When the plan then ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<OffsetDateTime>,
    /// When each task would then be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<RelaxedDates>,
}

/// When a task would be if a relaxation were taken, from its first block to its last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelaxedDates {
    pub node: TaskId,
    pub start: OffsetDateTime,
    pub end: OffsetDateTime,
}

/// When everything happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// An IANA id.
    pub tz: String,
    pub horizon_start: OffsetDateTime,
    /// The first instant that is not covered.
    pub horizon_end: OffsetDateTime,
    /// Sorted by start, then by node.
    #[serde(default)]
    pub blocks: Vec<ScheduledBlock>,
    #[serde(default)]
    pub capacity: Vec<WeekCapacity>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unplaced: Vec<UnplacedWork>,
    /// Working minutes from the deadline to the last finish.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lateness_minutes: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relaxations: Vec<ScheduleRelaxation>,
}

impl Schedule {
    pub fn new(
        tz: impl Into<String>,
        horizon_start: OffsetDateTime,
        horizon_end: OffsetDateTime,
    ) -> Self {
        Self {
            tz: tz.into(),
            horizon_start,
            horizon_end,
            blocks: Vec::new(),
            capacity: Vec::new(),
            unplaced: Vec::new(),
            lateness_minutes: 0,
            relaxations: Vec::new(),
        }
    }

    /// Puts the blocks into the order of the contract.
    pub fn sort_blocks(&mut self) {
        self.blocks.sort_by(|a, b| {
            (a.start.at, &a.plan_node_id, a.sequence).cmp(&(
                b.start.at,
                &b.plan_node_id,
                b.sequence,
            ))
        });
    }

    pub fn blocks_for_node<'a>(
        &'a self,
        id: &'a TaskId,
    ) -> impl Iterator<Item = &'a ScheduledBlock> {
        self.blocks.iter().filter(move |block| block.plan_node_id == *id)
    }

    /// When the last block ends.
    pub fn finish_time(&self) -> Option<OffsetDateTime> {
        self.blocks.iter().map(|block| block.end).max()
    }

    /// Whether everything fits in time.
    pub fn is_feasible(&self) -> bool {
        self.unplaced.is_empty() && self.lateness_minutes == 0
    }
}

/// A span of the person's calendar that the plan must leave alone: an imported event, or a locked block elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixedEvent {
    pub title: String,
    pub start: OffsetDateTime,
    pub end: OffsetDateTime,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> OffsetDateTime {
        text.parse().unwrap()
    }

    #[test]
    fn a_schedule_round_trips_and_sorts_its_blocks() {
        let (nine, ten) =
            (moment("2026-06-08T09:00:00+02:00"), moment("2026-06-08T10:00:00+02:00"));
        let mut schedule = Schedule::new("Europe/Berlin", nine, ten);
        for (id, start) in [("b", nine), ("a", ten), ("a", nine)] {
            let end = start.plus_minutes(30);
            schedule.blocks.push(ScheduledBlock::new(id, "x", start, end, "Europe/Berlin"));
        }
        schedule.sort_blocks();
        let order: Vec<_> = schedule
            .blocks
            .iter()
            .map(|block| (block.plan_node_id.as_str(), block.start))
            .collect();
        assert_eq!(order, [("a", nine), ("b", nine), ("a", ten)]);
        schedule.relaxations.push(ScheduleRelaxation {
            changes: vec![LeverChange::MoreWeeklyMinutes { from: 300, to: 405 }],
            summary: "405 min a week".into(),
            finish: None,
            dates: Vec::new(),
        });
        let json = serde_json::to_string(&schedule).unwrap();
        assert!(json.contains(r#"{"lever":"R2","from":300,"to":405}"#));
        assert_eq!(serde_json::from_str::<Schedule>(&json).unwrap(), schedule);
    }

    #[test]
    fn utilization_is_a_percentage_and_never_divides_by_nothing() {
        let week: IsoWeek = "2026-W24".parse().unwrap();
        assert!((WeekCapacity::new(week, 2400, 1900, 80).utilization - 82.5).abs() < 1e-9);
        assert!(WeekCapacity::new(week, 0, 0, 0).utilization.abs() < 1e-9);
        assert!((WeekCapacity::new(week, 0, 5, 0).utilization - 100.0).abs() < 1e-9);
    }
}
