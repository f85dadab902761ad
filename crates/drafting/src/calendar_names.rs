//! The names of months and weekdays as people type them, in lower case, from January and from Monday.

pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

pub(crate) const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Finds a month by the first three letters of its name.
pub(crate) fn find_month(short: &str) -> Option<usize> {
    MONTHS.iter().position(|month| month[..3] == *short)
}
