//! Time zones by name, local times as instants, ISO weeks.
//!
//! Zones come from the bundled database only, so that a schedule does not depend on the machine's zone files.

use std::sync::LazyLock;

use jiff::civil::{Date, DateTime};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};

use super::CalendarError;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Looks up a zone by its IANA id.
pub fn find_zone(id: &str) -> Result<TimeZone, CalendarError> {
    ZONES.get(id).map_err(|_| CalendarError::UnknownZone {
        tz: id.to_owned(),
        nearest: {
            let names: Vec<String> = ZONES.available().map(|name| name.to_string()).collect();
            planwright_text::nearest_name(id, names.iter().map(String::as_str)).map(str::to_owned)
        },
    })
}

/// Returns the instant of a local time: a skipped time keeps the offset from before the jump, a repeated one means the
/// first.
///
/// Times outside the supported range are clamped.
pub fn resolve_local(local: DateTime, zone: &TimeZone) -> Timestamp {
    let ends = if local.year() < 0 { Timestamp::MIN } else { Timestamp::MAX };
    zone.to_ambiguous_timestamp(local).compatible().unwrap_or(ends)
}

/// Returns the Monday of the ISO week that contains a date.
pub fn monday_of(date: Date) -> Date {
    let back = i64::from(date.weekday().to_monday_zero_offset());
    date.checked_sub(back.days()).unwrap_or(Date::MIN)
}

/// Returns the date some days later or earlier, clamped to the supported range.
pub fn plus_days(date: Date, days: i64) -> Date {
    let limit = if days < 0 { Date::MIN } else { Date::MAX };
    let days = jiff::Span::new().try_days(days);
    days.and_then(|span| date.checked_add(span)).unwrap_or(limit)
}

/// Returns the full minutes since the epoch, rounded down.
pub(crate) fn minute_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(60)
}

/// Returns the instant of a minute since the epoch, clamped to the supported range.
pub(crate) fn instant_of(minute: i64) -> Timestamp {
    let limit = if minute < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(minute.saturating_mul(60)).unwrap_or(limit)
}
