//! The draft beside the person's other plans and their calendar.

use std::fmt::Write as _;

use super::StageConversation;
use super::calls::ToolCallEnd;
use super::plan_words::describe_time;
use planwright_model::{Schedule, TaskId, WeekCapacity};
use planwright_schedule::portfolio::{
    ConflictKind, PortfolioConflict, PortfolioProbe, PortfolioReport, ShiftSuggestion,
};

/// How many lines of each kind are listed.
const MOST_LINES: usize = 20;

impl StageConversation<'_> {
    /// Conflicts, full weeks and possible shifts of the draft; what is taken where there is no draft.
    pub(super) fn probe_portfolio(&self) -> ToolCallEnd {
        let context = self.planner.plan_context(&self.talk, self.now);
        let events = self.planner.calendar.current_events();
        let Ok((mut schedule, _)) = self.preview_schedule() else {
            let taken = describe_time(&context, &events, &self.planner.others);
            return ToolCallEnd::done(format!(
                "There is no draft with dates yet. What is known:\n{taken}"
            ));
        };
        // What others do takes nothing of the person's days.
        schedule.blocks.retain(|block| !self.is_others_work(&block.plan_node_id));
        let probe = PortfolioProbe {
            schedule: &schedule,
            context: &context,
            roadmap: self.talk.roadmap.as_deref(),
            // The block of this plan is the one that moves.
            priority_weight: 0.0,
            others: &self.planner.others,
            events: &events,
        };
        match probe.build_report() {
            Ok(report) => ToolCallEnd::done(self.describe_report(&schedule, &report)),
            Err(error) => ToolCallEnd::refused(format!("The calendar cannot be read: {error}.")),
        }
    }

    fn is_others_work(&self, id: &TaskId) -> bool {
        let nodes = self.talk.roadmap.as_deref().map(|roadmap| roadmap.nodes.as_slice());
        let mut nodes = nodes.unwrap_or_default().iter();
        nodes.any(|node| node.id == *id && node.other_owner().is_some())
    }

    fn describe_report(&self, schedule: &Schedule, report: &PortfolioReport) -> String {
        let mut text = match report.conflicts.len() {
            0 => "No conflicts.\n".to_owned(),
            1 => "1 conflict:\n".to_owned(),
            count => format!("{count} conflicts:\n"),
        };
        for conflict in report.conflicts.iter().take(MOST_LINES) {
            let _ = writeln!(text, "- {}", self.describe_conflict(schedule, conflict));
        }
        for shift in report.shifts.iter().take(MOST_LINES) {
            let _ = match shift {
                ShiftSuggestion::Suggested(shift) => writeln!(
                    text,
                    "- {} could move from {} to {}",
                    block_title(schedule, &shift.block_id),
                    moment(shift.from),
                    moment(shift.to)
                ),
                ShiftSuggestion::NoShift { block_id, .. } => writeln!(
                    text,
                    "- {} cannot move anywhere without breaking a link, a limit or the deadline",
                    block_title(schedule, block_id)
                ),
            };
        }
        let busy =
            report.utilization.iter().filter(|week| week.planned_minutes + week.other_minutes > 0);
        for week in busy.take(MOST_LINES) {
            let _ = writeln!(text, "{}", describe_week(week));
        }
        text
    }

    fn describe_conflict(&self, schedule: &Schedule, conflict: &PortfolioConflict) -> String {
        let other = self.planner.others.iter().find(|other| other.block.id == conflict.with);
        let with = other.map_or(conflict.with.clone(), |other| {
            format!("\"{}\" of the plan \"{}\"", other.block.title, other.plan)
        });
        let minutes = conflict.severity_minutes;
        match (conflict.kind, &conflict.block_id) {
            (ConflictKind::Overload, _) => format!("{with}: {minutes} min too much"),
            (kind, block) => {
                let own = block.as_deref().map(|id| block_title(schedule, id)).unwrap_or_default();
                let fixed = if kind == ConflictKind::Hard { ", which is fixed" } else { "" };
                format!(
                    "{own} on {} overlaps {with}{fixed}, by {minutes} min",
                    moment(conflict.start)
                )
            }
        }
    }
}

fn block_title(schedule: &Schedule, id: &str) -> String {
    let block = schedule.blocks.iter().find(|block| block.id == id);
    block.map_or_else(
        || id.to_owned(),
        |block| format!("\"{}\" ({})", block.title, block.plan_node_id),
    )
}

fn moment(at: planwright_model::OffsetDateTime) -> String {
    at.to_string().chars().take(16).collect::<String>().replace('T', " ")
}

fn describe_week(week: &WeekCapacity) -> String {
    format!(
        "Week {}: {} min of this plan and {} of others in {} min",
        week.week, week.planned_minutes, week.other_minutes, week.available_minutes
    )
}
