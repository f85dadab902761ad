//! iCalendar (RFC 5545): blocks as events with their recurrence and time zone, tasks as to-dos, and fixed events read back.

mod content_lines;
mod read;
mod recurrence_rules;
mod time_zones;
mod todo;
mod write;

pub use read::{IcalImport, read_ical};
pub use write::{CalendarEdition, render_graph_ical, render_ical};
