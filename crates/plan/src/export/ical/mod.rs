//! iCalendar (RFC 5545): blocks as events with their recurrence and time zone, and fixed events read back.

mod lines;
mod read;
mod rules;
mod write;
mod zones;

pub use read::{IcalImport, read_ical};
pub use write::ical;
