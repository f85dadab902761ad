//! What one row of the chart shows: planned time, slack, what really happened, phases and milestones. Pure.

use jiff::Timestamp;

use super::axis::GanttAxis;
use crate::panes::plan::times::{PlannedRow, PlannedSpan};
use planwright_state::TaskStatus;

/// What a stretch of columns stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GanttBarKind {
    Slack,
    Planned,
    Critical,
    /// Planned after the deadline.
    Late,
    Done,
    Running,
    Failed,
    /// The span of a container.
    Phase,
    Milestone,
}

/// Columns of one kind, the last not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GanttBar {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) part: GanttBarKind,
}

/// What is known about a row beside its plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GanttRowFacts {
    pub(crate) status: TaskStatus,
    pub(crate) started: Option<Timestamp>,
    pub(crate) finished: Option<Timestamp>,
    pub(crate) is_group: bool,
    pub(crate) milestone: bool,
    pub(crate) now: Timestamp,
    pub(crate) deadline: Option<Timestamp>,
}

/// The bars of a row; later ones lie over earlier ones, so that what happened covers what was planned.
pub(crate) fn row_bars(
    planned: &PlannedRow,
    facts: &GanttRowFacts,
    axis: &GanttAxis,
) -> Vec<GanttBar> {
    let mut bars = Vec::new();
    if facts.is_group {
        bars.extend(planned.blocks.iter().map(|block| span_bar(*block, GanttBarKind::Phase, axis)));
        return bars;
    }
    if facts.milestone {
        let at = facts.finished.or(planned.end());
        bars.extend(at.map(|at| {
            let column = axis.column_at(at);
            GanttBar { from: column, to: column + 1, part: GanttBarKind::Milestone }
        }));
        return bars;
    }
    if let (Some(end), Some(latest)) = (planned.end(), planned.slack_end()) {
        bars.push(span_bar(PlannedSpan { start: end, end: latest }, GanttBarKind::Slack, axis));
    }
    for block in &planned.blocks {
        let part = if planned.critical { GanttBarKind::Critical } else { GanttBarKind::Planned };
        bars.push(span_bar(*block, part, axis));
        if let Some(deadline) = facts.deadline.filter(|deadline| *deadline < block.end) {
            let start = block.start.max(deadline);
            bars.push(span_bar(PlannedSpan { start, end: block.end }, GanttBarKind::Late, axis));
        }
    }
    if let Some(start) = facts.started {
        let part = match facts.status {
            TaskStatus::Done => GanttBarKind::Done,
            TaskStatus::Failed => GanttBarKind::Failed,
            TaskStatus::Running | TaskStatus::Yours => GanttBarKind::Running,
            TaskStatus::Pending | TaskStatus::Skipped(_) => return bars,
        };
        let end = facts.finished.unwrap_or(facts.now).max(start);
        bars.push(span_bar(PlannedSpan { start, end }, part, axis));
    }
    bars
}

fn span_bar(stretch: PlannedSpan, part: GanttBarKind, axis: &GanttAxis) -> GanttBar {
    let (from, to) = axis.column_range(stretch);
    GanttBar { from, to, part }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::panes::plan::gantt::axis::GanttScale;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_780_000_200 + minute * 60).unwrap()
    }

    fn facts(status: TaskStatus) -> GanttRowFacts {
        GanttRowFacts {
            status,
            started: None,
            finished: None,
            is_group: false,
            milestone: false,
            now: at(30),
            deadline: None,
        }
    }

    fn planned(from: i64, to: i64, slack: u64) -> PlannedRow {
        let blocks = vec![PlannedSpan { start: at(from), end: at(to) }];
        let until = Some(at(to + slack.cast_signed()));
        PlannedRow { blocks, slack: Some(slack), until, ..PlannedRow::default() }
    }

    /// One letter a column, later bars over earlier ones.
    fn drawn(planned: &PlannedRow, facts: &GanttRowFacts) -> String {
        let axis = GanttAxis::new(GanttScale::Seconds(60), at(0), TimeZone::UTC);
        let zero = axis.column_at(at(0));
        let mut cells = vec!['_'; 20];
        for bar in row_bars(planned, facts, &axis) {
            let letter = match bar.part {
                GanttBarKind::Slack => '.',
                GanttBarKind::Planned => 'p',
                GanttBarKind::Critical => 'c',
                GanttBarKind::Late => 'l',
                GanttBarKind::Done => 'D',
                GanttBarKind::Running => 'R',
                GanttBarKind::Failed => 'F',
                GanttBarKind::Phase => '-',
                GanttBarKind::Milestone => 'M',
            };
            for column in bar.from..bar.to {
                if let Ok(cell) = usize::try_from(column - zero) {
                    cells[cell.min(19)] = letter;
                }
            }
        }
        cells.into_iter().collect()
    }

    #[test]
    fn slack_follows_what_is_planned() {
        let row = planned(2, 5, 3);
        assert_eq!(drawn(&row, &facts(TaskStatus::Pending)), "__ppp...____________");
        let critical = PlannedRow { critical: true, slack: Some(0), until: None, ..row };
        assert_eq!(drawn(&critical, &facts(TaskStatus::Pending)), "__ccc_______________");
    }

    #[test]
    fn what_happened_lies_over_what_was_planned() {
        let late = GanttRowFacts {
            started: Some(at(4)),
            finished: Some(at(9)),
            ..facts(TaskStatus::Done)
        };
        assert_eq!(drawn(&planned(2, 5, 0), &late), "__ppDDDDD___________");
        let running =
            GanttRowFacts { started: Some(at(2)), now: at(4), ..facts(TaskStatus::Running) };
        assert_eq!(drawn(&planned(2, 8, 0), &running), "__RRpppp____________");
        let failed = GanttRowFacts {
            started: Some(at(2)),
            finished: Some(at(3)),
            ..facts(TaskStatus::Failed)
        };
        assert_eq!(drawn(&planned(2, 5, 0), &failed), "__Fpp_______________");
    }

    #[test]
    fn what_is_after_the_deadline_is_late() {
        let facts = GanttRowFacts { deadline: Some(at(4)), ..facts(TaskStatus::Pending) };
        assert_eq!(drawn(&planned(2, 7, 0), &facts), "__pplll_____________");
    }

    #[test]
    fn phases_and_milestones_have_shapes_of_their_own() {
        let group = GanttRowFacts { is_group: true, ..facts(TaskStatus::Pending) };
        assert_eq!(drawn(&planned(2, 7, 0), &group), "__-----_____________");
        let milestone = GanttRowFacts { milestone: true, ..facts(TaskStatus::Pending) };
        assert_eq!(drawn(&planned(7, 7, 0), &milestone), "_______M____________");
    }
}
