//! The next task of a plan for a person, looked up once for each event and day.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::clock;
use planwright_model::Seq;
use planwright_state::{DueTask, SessionState};
use planwright_text::{clean_line, dates};

/// The next task in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextTask {
    pub(super) long: String,
    pub(super) short: String,
}

/// What the header of a plan for a person says.
#[derive(Debug, Default)]
pub(crate) struct NextTaskCache {
    known: Option<(Seq, Date)>,
    next: Option<NextTask>,
    until: Option<String>,
}

impl NextTaskCache {
    /// Takes in a state. Costs nothing while neither event nor day changes.
    pub(crate) fn update(&mut self, state: &SessionState, now: Timestamp, zone: &TimeZone) {
        let today = clock::local_date(now, zone);
        if self.known == Some((state.seq, today)) {
            return;
        }
        self.known = Some((state.seq, today));
        let due = state.due_tasks(now, zone);
        let open = due.into_iter().find(|due| !due.status.is_settled());
        let next = open.or_else(|| state.next_due_task(now, zone));
        self.next = next.map(|due| describe_next(&due, today, zone));
        let blocks = state.planning.schedule.iter().flat_map(|schedule| &schedule.blocks);
        let last = blocks.map(|block| block.end.at).max();
        self.until = last.map(|at| dates::format_date(clock::local_date(at, zone), today));
    }

    pub(super) fn next(&self) -> Option<&NextTask> {
        self.next.as_ref()
    }

    /// The day on which the last task ends.
    pub(crate) fn until(&self) -> Option<&str> {
        self.until.as_deref()
    }
}

fn describe_next(due: &DueTask, today: Date, zone: &TimeZone) -> NextTask {
    let title = clean_line(&due.title).into_owned();
    // A task without a block of its own waits for the person now.
    if due.block.is_none() {
        return NextTask { long: format!("next: {title}"), short: format!("next: {title}") };
    }
    let start = due.start.to_zoned(zone.clone()).datetime();
    if due.late {
        let date = dates::format_date(start.date(), today);
        return NextTask { long: format!("late since {date}: {title}"), short: "late".to_owned() };
    }
    let when = dates::format_date_time(start, today);
    NextTask { long: format!("next {when}: {title}"), short: format!("next {when}") }
}
