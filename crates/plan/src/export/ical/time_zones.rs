//! `VTIMEZONE`: the offsets of a zone over the time that the events cover.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::content_lines::IcalLineWriter;

/// The maximum number of transitions written for one zone: two a year for a century.
const MAX_TRANSITIONS: usize = 200;

/// Writes a zone with every change of its offset between two instants, and the previous one.
pub(super) fn write_time_zone(
    lines: &mut IcalLineWriter,
    tz: &str,
    zone: &TimeZone,
    from: Timestamp,
    to: Timestamp,
) {
    lines.push("BEGIN:VTIMEZONE");
    lines.push(&format!("TZID:{tz}"));
    let before = zone.preceding(from).next().map(|transition| transition.timestamp());
    let begin = before.unwrap_or(Timestamp::UNIX_EPOCH.min(from));
    // The offset in effect when the events start, then each change.
    let earlier = before.map_or_else(|| zone.to_offset(begin), |at| offset_before(zone, at));
    write_observance(lines, zone, begin, earlier);
    let later = zone.following(from).take(MAX_TRANSITIONS).map(|transition| transition.timestamp());
    for at in later.take_while(|at| *at <= to) {
        write_observance(lines, zone, at, offset_before(zone, at));
    }
    lines.push("END:VTIMEZONE");
}

fn offset_before(zone: &TimeZone, at: Timestamp) -> Offset {
    let just = at.checked_sub(jiff::SignedDuration::from_secs(1)).unwrap_or(at);
    zone.to_offset(just)
}

fn write_observance(lines: &mut IcalLineWriter, zone: &TimeZone, at: Timestamp, before: Offset) {
    let info = zone.to_offset_info(at);
    let kind = if info.dst().is_dst() { "DAYLIGHT" } else { "STANDARD" };
    lines.push(&format!("BEGIN:{kind}"));
    lines.push(&format!("DTSTART:{}", format_local(before.to_datetime(at))));
    lines.push(&format!("TZOFFSETFROM:{}", format_offset(before)));
    lines.push(&format!("TZOFFSETTO:{}", format_offset(info.offset())));
    lines.push(&format!("TZNAME:{}", info.abbreviation()));
    lines.push(&format!("END:{kind}"));
}

/// Formats a local time as `20260601T090000`.
pub(super) fn format_local(at: DateTime) -> String {
    at.strftime("%Y%m%dT%H%M%S").to_string()
}

/// Formats an instant as `20260601T070000Z`.
pub(super) fn format_utc(at: Timestamp) -> String {
    format_local(Offset::UTC.to_datetime(at)) + "Z"
}

fn format_offset(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let rest = if seconds % 60 == 0 { String::new() } else { format!("{:02}", seconds % 60) };
    format!("{sign}{:02}{:02}{rest}", seconds / 3600, seconds / 60 % 60)
}
