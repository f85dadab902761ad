//! When the places and people that a task needs are there: offices and trades in office hours, shops not on Sundays.

use planwright_model::{PlanCalendar, PreferredTime, Weekday};

use super::super::blueprint::{Blueprint, BlueprintPreference, BlueprintTask};
use super::super::usual_hours;

/// Verbs with which one deals with somebody in person or by phone.
const ERRAND_VERBS: [&str; 25] = [
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
    "show",
    "contact",
    "negotiate",
    "tour",
    "bring",
];
/// Who is only there in office hours.
const OFFICE_NOUNS: [&str; 52] = [
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
    "authorities",
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
    "adviser",
    "advisor",
    "agents",
    "surveyor",
    "teacher",
    "firm",
    "firms",
    "garage",
    "physiotherapist",
    "therapist",
    "shelter",
    "shelters",
    "lender",
    "lenders",
    "assessment",
    "contract",
    "lease",
];
/// Verbs of shopping on site.
const SHOP_VERBS: [&str; 2] = ["buy", "shop"];
/// Where one shops on site.
const SHOP_NOUNS: [&str; 4] = ["shop", "shops", "store", "stores"];
/// Verbs of which a shop is the place.
const SHOP_ERRANDS: [&str; 5] = ["get", "pick", "have", "go", "try"];
/// Who helps without office hours.
const PRIVATE_HELPERS: [&str; 9] =
    ["friend", "family", "partner", "neighbor", "parent", "sibling", "helper", "child", "reader"];

/// Returns when a task of private life is possible because of others, if its blueprint does not say when it is best done.
pub(in super::super) fn opening_hours(task: &BlueprintTask) -> Option<PreferredTime> {
    let wanted = task.prefer == Some(BlueprintPreference::OfficeHours);
    let errand = task.every.is_none() && task.at.is_none();
    if wanted { Some(PreferredTime::OfficeHours) } else { errand_hours(task).filter(|_| errand) }
}

/// Returns when those are there whom a task needs, whatever day the task has.
pub(super) fn errand_hours(task: &BlueprintTask) -> Option<PreferredTime> {
    match task.prefer {
        Some(BlueprintPreference::OfficeHours) => return Some(PreferredTime::OfficeHours),
        Some(BlueprintPreference::Any) | None => {}
        Some(_) => return None,
    }
    let title = task.title.get_ref().to_lowercase();
    let words: Vec<&str> = title.split(|letter: char| !letter.is_alphabetic()).collect();
    let verb = words.first().copied().unwrap_or_default();
    if words.contains(&"daylight") {
        return Some(PreferredTime::Weekends);
    }
    let names = |nouns: &[&str]| words.iter().any(|word| nouns.contains(word));
    if SHOP_VERBS.contains(&verb) || SHOP_ERRANDS.contains(&verb) && names(&SHOP_NOUNS) {
        return Some(PreferredTime::ShopHours);
    }
    let met = verb == "register" || names(&OFFICE_NOUNS);
    let errand = met && ERRAND_VERBS.contains(&verb);
    (errand || is_done_by_trade(task)).then_some(PreferredTime::OfficeHours)
}

/// Returns whether somebody does the task for money: trades do not come on Sundays.
fn is_done_by_trade(task: &BlueprintTask) -> bool {
    let who = task.who.as_deref().unwrap_or_default().to_lowercase();
    !who.is_empty() && !PRIVATE_HELPERS.iter().any(|helper| who.contains(helper))
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
