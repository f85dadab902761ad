//! When the places and people that a task needs are there: offices and trades in office hours, shops not on Sundays.

use planwright_model::{PlanCalendar, PreferredTime, Weekday};

use super::super::blueprint::{Blueprint, BlueprintPreference, BlueprintTask};
use super::super::usual_hours;

/// Verbs with which one deals with somebody in person or by phone.
const ERRAND_VERBS: [&str; 20] = [
    "call",
    "phone",
    "visit",
    "register",
    "meet",
    "sign",
    "go",
    "have",
    "get",
    "ask",
    "hand",
    "pick",
    "apply",
    "open",
    "close",
    "report",
    "deregister",
    "see",
    "take",
    "talk",
];
/// Who is only there in office hours.
const OFFICE_NOUNS: [&str; 34] = [
    "bank",
    "insurer",
    "insurers",
    "vet",
    "doctor",
    "doctors",
    "dentist",
    "notary",
    "lawyer",
    "office",
    "offices",
    "authority",
    "registry",
    "court",
    "embassy",
    "consulate",
    "tax",
    "electrician",
    "plumber",
    "installer",
    "installers",
    "craftsman",
    "contractor",
    "contractors",
    "trades",
    "tradespeople",
    "movers",
    "agency",
    "agencies",
    "broker",
    "clinic",
    "specialist",
    "school",
    "daycare",
];
/// Verbs of shopping on site.
const SHOP_VERBS: [&str; 2] = ["buy", "shop"];

/// Returns when a task of private life is possible because of others, if its blueprint does not say when it is best done.
pub(in super::super) fn opening_hours(task: &BlueprintTask) -> Option<PreferredTime> {
    match task.prefer {
        Some(BlueprintPreference::OfficeHours) => return Some(PreferredTime::OfficeHours),
        Some(_) => return None,
        None => {}
    }
    if task.every.is_some() || task.at.is_some() {
        return None;
    }
    let title = task.title.get_ref().to_lowercase();
    let words: Vec<&str> = title.split(|letter: char| !letter.is_alphabetic()).collect();
    let verb = words.first().copied().unwrap_or_default();
    if SHOP_VERBS.contains(&verb) {
        return Some(PreferredTime::ShopHours);
    }
    let met = verb == "register" || words.iter().any(|word| OFFICE_NOUNS.contains(word));
    (met && ERRAND_VERBS.contains(&verb)).then_some(PreferredTime::OfficeHours)
}

/// Returns whether a kind of private life has something to do in office hours.
pub(in super::super) fn has_office_errands(file: &Blueprint) -> bool {
    usual_hours::is_private(file)
        && file
            .all_tasks()
            .iter()
            .any(|task| opening_hours(task) == Some(PreferredTime::OfficeHours))
}

/// Offices are not open in the hours of somebody who only has evenings and weekends; a Saturday is still better than a
/// Sunday.
pub(super) fn reachable_hours(wanted: PreferredTime, calendar: &PlanCalendar) -> PreferredTime {
    let office = PreferredTime::OfficeHours.weekly_hours();
    let open = |day: &Weekday| {
        let own = calendar.working.get(day).into_iter().flatten();
        let theirs = office.get(day).map(Vec::as_slice).unwrap_or_default();
        own.into_iter()
            .any(|own| theirs.iter().any(|their| own.start < their.end && their.start < own.end))
    };
    if wanted == PreferredTime::OfficeHours && !Weekday::ALL.iter().any(open) {
        return PreferredTime::ShopHours;
    }
    wanted
}
