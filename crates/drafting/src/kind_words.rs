//! Which kind of plan a person means, in their words: "it is a writing project, not a course".

use std::sync::LazyLock;

use jiff::civil::date;

use crate::offline::{
    Goal, GoalParseContext, KindVerdict, SubtypeProposals, TemplateLibrary, kind, select_kind,
};
use planwright_model::PatternSpec;

/// The built-in kinds, parsed once in a process.
pub(crate) static BUILT_IN: LazyLock<TemplateLibrary> = LazyLock::new(TemplateLibrary::built_in);

/// Broad words for families of kinds, with the kind that is meant if the goal fits none of the family better.
const FAMILIES: [(&str, &str, &str); 40] = [
    ("writing", "text", "report_document"),
    ("text", "text", "report_document"),
    ("document", "text", "report_document"),
    ("event", "event", "birthday_party"),
    ("celebration", "event", "birthday_party"),
    ("trip", "trip", "trip_abroad"),
    ("travel", "trip", "trip_abroad"),
    ("training", "training", "get_fit"),
    ("workout", "training", "get_fit"),
    ("race", "training", "run_5k_10k"),
    ("course", "learning", "learn_skill"),
    ("learning", "learning", "learn_skill"),
    ("lesson", "learning", "learn_skill"),
    ("exam", "exam", "certification_exam"),
    ("habit", "habit", "daily_habit"),
    ("routine", "habit", "daily_habit"),
    ("ritual", "habit", "daily_habit"),
    ("health", "health", "mental_wellbeing"),
    ("software", "software", "software_feature"),
    ("code", "software", "software_feature"),
    ("feature", "software", "software_feature"),
    ("migration", "migration", "system_migration"),
    ("infrastructure", "infrastructure", "infrastructure_setup"),
    ("security", "security", "security_audit"),
    ("data", "data", "dashboard_or_analysis"),
    ("documentation", "docs", "documentation"),
    ("purchase", "purchase", "buy_equipment"),
    ("buying", "purchase", "buy_equipment"),
    ("renovation", "renovation", "renovate_home"),
    ("repair", "renovation", "repair_job"),
    ("move", "move", "move_house"),
    ("household", "household", "declutter_home"),
    ("garden", "household", "garden_cleanup"),
    ("paperwork", "paperwork", "tax_return"),
    ("finance", "finance", "household_budget"),
    ("savings", "finance", "save_money"),
    ("business", "business", "new_business"),
    ("launch", "business", "product_launch"),
    ("career", "career", "career_change"),
    ("series", "series", "blog_series"),
];

/// Words after which a kind is the wrong one.
const NEGATIONS: [&str; 5] = ["not", "no", "isn't", "never", "without"];

/// Words of a sentence that only names a kind.
const FRAME: [&str; 28] = [
    "it", "it's", "is", "its", "a", "an", "the", "this", "that", "not", "no", "rather", "more",
    "like", "make", "plan", "as", "kind", "of", "project", "isn't", "but", "should", "be",
    "instead", "please", "for", "thing",
];

/// Finds the kind that the words ask for, given the goal. A kind after "not" is not meant, and neither is what follows
/// "instead of".
pub fn find_kind(text: &str, goal: &str) -> Option<PatternSpec> {
    let meant = meant_words(text);
    let words: Vec<&str> =
        meant.iter().map(String::as_str).filter(|word| !FRAME.contains(word)).collect();
    if words.is_empty() {
        return None;
    }
    if words.iter().any(|word| ["something", "else", "own", "steps"].contains(word))
        && words.len() <= 3
    {
        return meant
            .iter()
            .any(|word| word == "steps" || word == "else")
            .then(kind::own_steps_pattern);
    }
    named_kind(&words).or_else(|| family_kind(&words, goal))
}

/// The words that are not negated.
fn meant_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let positive = lower.split("instead of").next().unwrap_or_default();
    let words = positive.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_' | '-')));
    let mut meant = Vec::new();
    let mut negated = false;
    for word in words.filter(|word| !word.is_empty()) {
        if NEGATIONS.contains(&word) {
            negated = true;
        } else if ["but", "it", "this", "is", "as"].contains(&word) {
            negated = false;
        } else if !negated {
            meant.push(word.to_owned());
        }
    }
    meant
}

/// Finds a kind whose name or label the words are, or whose own words they are.
fn named_kind(words: &[&str]) -> Option<PatternSpec> {
    let phrase = words.join(" ");
    let exact = BUILT_IN.all_blueprints().find(|file| {
        let noun = file.to_kind().noun().to_lowercase();
        file.name == phrase.replace(' ', "_") || noun == phrase
    });
    if let Some(file) = exact {
        return Some(file.to_pattern());
    }
    if FAMILIES.iter().any(|(word, _, _)| words.contains(word)) {
        return None;
    }
    let today = GoalParseContext::new(date(2000, 1, 1), 5);
    let pick = select_kind(&Goal::parse(&phrase, today), &BUILT_IN, SubtypeProposals::Off);
    let best = pick.best().filter(|best| best.score >= kind::SURE_SCORE)?;
    (pick.verdict == KindVerdict::Sure)
        .then(|| PatternSpec { confidence: None, ..best.pattern.clone() })
}

/// Finds the kind of a family that fits the goal best.
fn family_kind(words: &[&str], goal: &str) -> Option<PatternSpec> {
    let (_, family, usual) = FAMILIES.iter().find(|(word, _, _)| {
        words.iter().any(|own| own == word || own.strip_suffix('s') == Some(word))
    })?;
    let today = GoalParseContext::new(date(2000, 1, 1), 5);
    let fitting = kind::rank_kinds(&Goal::parse(goal, today), &BUILT_IN)
        .into_iter()
        .find(|file| file.family == *family);
    let file = fitting.or_else(|| BUILT_IN.named_blueprint(usual))?;
    Some(file.to_pattern())
}

/// Returns whether a sentence does nothing but name a kind.
pub fn names_only_kind(text: &str) -> bool {
    let words = meant_words(text);
    let frame: Vec<&String> = words.iter().filter(|word| !FRAME.contains(&word.as_str())).collect();
    let about = text.to_lowercase();
    let opens =
        ["it is", "it's", "this is", "not a", "more like", "plan it as", "make it a", "rather"]
            .iter()
            .any(|opening| about.contains(opening));
    let broad = frame.iter().all(|word| {
        FAMILIES.iter().any(|(name, _, _)| name == word || word.strip_suffix('s') == Some(*name))
    });
    !frame.is_empty() && frame.len() <= 3 && (broad || opens) && find_kind(text, "").is_some()
}

/// Returns the first broad kind that is none of these.
pub fn next_kind(turned_down: impl Fn(&PatternSpec) -> bool) -> Option<PatternSpec> {
    let usual = FAMILIES.iter().filter_map(|(_, _, usual)| BUILT_IN.named_blueprint(usual));
    usual.map(super::offline::blueprint::Blueprint::to_pattern).find(|spec| !turned_down(spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(text: &str, goal: &str, name: &str) {
        let found = find_kind(text, goal);
        assert_eq!(found.as_ref().and_then(|spec| spec.kind_name()), Some(name), "{text}");
    }

    #[test]
    fn kinds_are_found_in_ordinary_sentences() {
        let thesis = "master thesis on graph databases";
        expect("it is a writing project, not a course", thesis, "thesis");
        expect("not a course, it is a text", thesis, "thesis");
        expect("it is a text", "something about our year", "report_document");
        expect("this is a wedding", "the big day", "wedding");
        expect("more like a habit", "read in the evening", "daily_habit");
        expect("it's a move to another home", "", "move_house");
        expect("something else", "", "own_steps");
        assert_eq!(find_kind("make it shorter", ""), None);
        assert_eq!(find_kind("it is not a course", ""), None);
    }

    #[test]
    fn other_requests_are_not_about_the_kind_alone() {
        assert!(names_only_kind("it is a writing project, not a course"));
        assert!(names_only_kind("it is a thesis"));
        assert!(!names_only_kind("drop the review of the book"));
        assert!(!names_only_kind("add a launch party on Friday"));
        assert!(!names_only_kind("make it shorter"));
    }

    #[test]
    fn the_next_kind_is_never_one_that_was_turned_down() {
        let next = next_kind(|spec| spec.kind_name() == Some("report_document")).unwrap();
        assert_eq!(next.kind_name(), Some("birthday_party"));
        assert_eq!(next_kind(|_| true), None);
    }
}
