//! Working time: calendars, time zones, clock changes, recurrence, and what a link means in working minutes.
//!
//! Promises that instants and working minutes convert both ways for ten years from the horizon start, that local times
//! resolve alike on every machine, and that nothing here reads a clock. Capacity and placing are left to the schedule.

mod link;
mod recurrence;
#[cfg(test)]
mod tests;
mod when;
mod work;
mod zone;

pub use link::{Bound, Span};
pub use recurrence::{DayOf, Every, MAX_OCCURRENCES, Rule};
pub use when::parse_when;
pub use work::{Hours, WorkCalendar, WorkHours, by_weekday};
pub use zone::{instant_of, minute_of, plus_days};
pub use zone::{monday_of, resolve, week_label, zone};

/// Why working time cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalendarError {
    /// The zone is not in the database.
    #[error("there is no time zone \"{tz}\"{}", hint(nearest.as_deref()))]
    UnknownZone { tz: String, nearest: Option<String> },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; use a name such as Europe/Berlin".to_owned(),
        |name| format!("; did you mean {name}?"),
    )
}
