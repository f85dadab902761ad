//! Working time: calendars, time zones, clock changes, recurrence, and the meaning of a link in working minutes.
//!
//! Instants and working minutes convert both ways for ten years from the horizon start, local times resolve the same
//! way on every machine, and nothing here reads a clock. Capacity and placement are handled by the schedule.

mod holidays;
mod link_bound;
mod recurrence;
#[cfg(test)]
mod tests;
mod time_phrase;
mod work_calendar;
mod zone;

pub use holidays::{HolidayCountry, easter_sunday, public_holidays};
pub use link_bound::{LinkBound, WorkSpan};
pub use recurrence::{RecurrenceInterval, RecurrenceRule, RecurrenceRuleDay};
pub use time_phrase::parse_when;
pub(crate) use work_calendar::hours_by_weekday;
pub use work_calendar::{HourRange, WorkCalendar, WorkHours};
pub use zone::{find_zone, monday_of, plus_days, resolve_local};
pub(crate) use zone::{instant_of, minute_of};

/// Why working time cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalendarError {
    /// The zone is not in the database.
    #[error("there is no time zone \"{tz}\"{}", zone_hint(nearest.as_deref()))]
    UnknownZone { tz: String, nearest: Option<String> },
}

fn zone_hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; use a name such as Europe/Berlin".to_owned(),
        |name| format!("; did you mean {name}?"),
    )
}
