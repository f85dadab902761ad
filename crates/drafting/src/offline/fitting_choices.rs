//! Answers that fit what the goal says where the usual answer contradicts it.
//!
//! They stay assumed: the question is still asked, with the fitting answer first.

use planwright_model::PlanContext;

use super::goal::Goal;

/// Words of a goal, and words of the choice that they speak for.
const HINTS: [(&[&str], &[&str]); 24] = [
    (
        &[
            "digitize",
            "digitise",
            "digitizing",
            "scan",
            "scanning",
            "prints",
            "albums",
            "slides",
            "negatives",
            "paper",
        ],
        &["paper"],
    ),
    (&["balcony", "windowsill", "terrace", "patio"], &["pots"]),
    (&["backyard", "lawn"], &["ground"]),
    (&["kids", "children", "son", "daughter", "toddler"], &["children"]),
    (&["freelance", "freelancer", "freelancing", "self-employed"], &["self-employed"]),
    (&["shares", "stocks", "dividends", "etfs"], &["investments"]),
    (&["landlord", "tenant", "rental"], &["landlord", "rented"]),
    (&["iphone", "android", "ios", "ipad"], &["app store"]),
    (&["npm", "pypi", "crate", "library", "package"], &["package"]),
    (&["zoom", "remote", "remotely", "virtual", "webcam"], &["online", "by video", "at home"]),
    (&["restaurant", "hall", "venue", "bar", "club", "park"], &["somewhere else"]),
    (
        &["zero-downtime", "uninterrupted", "without downtime", "no downtime", "zero downtime"],
        &["no downtime", "without downtime", "none"],
    ),
    (&["minutes of downtime", "minute of downtime", "seconds of downtime"], &["short", "minutes"]),
    (&["raised bed", "raised beds"], &["raised"]),
    (&["illustrate", "illustrating", "illustrations"], &["i draw"]),
    (&["assisted living", "nursing home", "care home", "retirement home"], &["care home"]),
    (&["into the new office", "to the new office", "new building"], &["found"]),
    (&["by train", "train"], &["train"]),
    (&["urgent", "urgently", "asap"], &["within days", "soon"]),
    (&["overnight", "at night"], &["night"]),
    (&["hut", "huts", "cabin"], &["hut"]),
    (&["flight", "fly", "airport"], &["plane"]),
    (&["drive", "roadtrip", "car"], &["car"]),
    (&["solo", "myself"], &["alone", "only me", "nobody"]),
];

/// More guests than this do not fit into most homes.
const HOME_GUESTS: u32 = 25;

/// Returns the choice that the goal's words speak for, if it is not the usual one.
pub(super) fn find_fitting_choice<'a>(
    context: &PlanContext,
    goal: &Goal,
    choices: &'a [String],
    usual: &str,
) -> Option<&'a str> {
    let named = |choice: &String, words: &[&str]| {
        let lower = choice.to_lowercase();
        words.iter().any(|word| lower.contains(word))
    };
    let hinted = HINTS
        .iter()
        .filter(|(cues, _)| cues.iter().any(|cue| goal.contains_phrase(cue)))
        .find_map(|(_, words)| choices.iter().find(|choice| named(choice, words)));
    let crowded = || {
        let guests = context.find_assumption("guests")?.value.parse::<u32>().ok()?;
        let at_home = usual.to_lowercase().contains("at home") && guests > HOME_GUESTS;
        choices.iter().find(|choice| at_home && !choice.to_lowercase().contains("home"))
    };
    hinted.or_else(crowded).map(String::as_str).filter(|choice| *choice != usual)
}
