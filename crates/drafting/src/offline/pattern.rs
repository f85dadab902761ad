//! Chooses the pattern and subtype of a goal by points for its cues.
//!
//! The points of each cue are fixed; the templates define which words select a subtype.

use planwright_model::pattern::PROPOSED_PREFIX;
use planwright_model::{NodeOrigin, PatternSpec, PatternType};

use super::goal::{Goal, matches_cue};
use super::template::{Template, TemplateLibrary};

use PatternType::{
    HybridProjectCycle as Hybrid, MilestoneProject as Milestone, ProgressiveAccumulationArc as Arc,
    RecurringCycle as Recurring, StrategicTransformation as Strategic,
};

/// Words that indicate patterns; several matches of one cue score only once.
struct PatternCue {
    words: &'static [&'static str],
    points: &'static [(PatternType, u32)],
}

const CUES: [PatternCue; 6] = [
    PatternCue {
        words: &[
            "launch", "build", "ship", "shipping", "publish", "write", "organise", "organize",
            "buy", "buying", "move", "prepare", "finish",
        ],
        points: &[(Milestone, 4)],
    },
    PatternCue {
        words: &["migrate", "port", "replace", "rewrite"],
        points: &[(Milestone, 4), (Strategic, 2)],
    },
    PatternCue {
        words: &[
            "learn",
            "study",
            "master",
            "practise",
            "practice",
            "train",
            "training",
            "marathon",
            "course",
            "improve my",
        ],
        points: &[(Arc, 5)],
    },
    PatternCue {
        words: &["routine", "habit", "protocol", "ritual", "maintenance", "check-in"],
        points: &[(Recurring, 4)],
    },
    PatternCue {
        words: &[
            "become",
            "transform",
            "transition into",
            "change career",
            "change careers",
            "culture",
            "organisation-wide",
            "organization-wide",
            "company",
            "all teams",
            "all services",
            "all systems",
        ],
        points: &[(Strategic, 5)],
    },
    PatternCue { words: &["newsletter", "podcast", "blog", "series"], points: &[(Hybrid, 1)] },
];

/// The longest goal, in words, that can be done in one sitting.
const QUICK_WORDS: usize = 12;
/// The subtype of a goal that can be done in one sitting.
pub const QUICK: &str = "quick";
/// The subtype of a project that no other template fits.
pub const GENERIC: &str = "generic";
/// The maximum confidence of a choice.
const MAX_CONFIDENCE: f64 = 0.95;

/// Whether the goal may name a subtype that does not exist yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubtypeProposals {
    #[default]
    Allowed,
    Off,
}

/// The pattern that fits a goal, and how clearly.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternPick {
    pub pattern: PatternSpec,
    /// From 0 to 1, rounded to three places.
    pub confidence: f64,
    /// The lead of the best over the second, as a share of the best.
    pub margin: f64,
    /// The second best, offered if the choice is doubtful.
    pub runner_up: Option<PatternSpec>,
    /// Points in the order that breaks ties.
    pub scores: [(PatternType, u32); 5],
    /// The reasons for the choice, in words.
    pub explanations: Vec<String>,
}

/// Chooses pattern and subtype.
pub fn select_pattern(
    goal: &Goal,
    library: &TemplateLibrary,
    proposals: SubtypeProposals,
) -> PatternPick {
    let (scores, mut explanations) = score_patterns(goal, library);
    let mut ranked = scores;
    // A stable sort, so that a tie keeps the order of the patterns.
    ranked.sort_by_key(|(_, points)| std::cmp::Reverse(*points));
    let [(best, first), (next, second), ..] = ranked;
    let quick = is_quick(goal, first);
    let confidence = pick_confidence(first, second);
    let mut pattern = PatternSpec::with_subtype(best, choose_subtype(goal, library, best, quick));
    pattern.confidence = Some(confidence);
    propose_subtype(&mut pattern, goal, proposals, &mut explanations);
    let runner_up = (!quick)
        .then(|| PatternSpec::with_subtype(next, choose_subtype(goal, library, next, false)));
    PatternPick {
        pattern,
        confidence,
        margin: score_margin(first, second),
        runner_up,
        scores,
        explanations,
    }
}

/// min(.95, .45 + .05·s1 + .25·(s1 − s2)/s1), and .45 without any points.
fn pick_confidence(first: u32, second: u32) -> f64 {
    let sum = 0.45 + 0.05 * f64::from(first) + 0.25 * score_margin(first, second);
    (sum.min(MAX_CONFIDENCE) * 1000.0).round() / 1000.0
}

fn score_margin(first: u32, second: u32) -> f64 {
    if first == 0 { 0.0 } else { f64::from(first - second) / f64::from(first) }
}

fn score_patterns(
    goal: &Goal,
    library: &TemplateLibrary,
) -> ([(PatternType, u32); 5], Vec<String>) {
    let mut tally = PatternTally {
        scores: PatternType::ALL.map(|pattern| (pattern, 0)),
        explanations: Vec::new(),
    };
    for cue in &CUES {
        if let Some(word) = cue.words.iter().find(|word| goal.contains_any(&[**word])) {
            tally.add(&format!("\"{word}\""), cue.points);
        }
    }
    if goal.last_day().is_some() || goal.horizon_weeks.is_some() {
        tally.add("a deadline or horizon", &[(Milestone, 2), (Arc, 1)]);
    }
    if goal.weekly_minutes.is_some() {
        tally.add("hours a week", &[(Arc, 2)]);
    }
    if goal.cadence.is_some() {
        tally.add("a cadence", &[(Recurring, 4), (Hybrid, 1)]);
    }
    if goal.per_period.as_ref().is_some_and(|per_period| per_period.made) {
        tally.add("something made in every period", &[(Hybrid, 6)]);
    }
    // A person who wrote a template for a word wants it used.
    if let Some(own) = library.own_templates().iter().find(|own| template_fits(own, goal)) {
        tally.add("a template of your own", &[(own.pattern, 4)]);
    }
    (tally.scores, tally.explanations)
}

struct PatternTally {
    scores: [(PatternType, u32); 5],
    explanations: Vec<String>,
}

impl PatternTally {
    fn add(&mut self, cause: &str, points: &[(PatternType, u32)]) {
        for (pattern, more) in points {
            if let Some((_, sum)) = self.scores.iter_mut().find(|(name, _)| name == pattern) {
                *sum += more;
            }
            self.explanations.push(format!("{cause}: {pattern} +{more}"));
        }
    }
}

/// Returns whether a word is one that selects a pattern or a template.
pub fn is_cue_word(word: &str, library: &TemplateLibrary) -> bool {
    let cued = CUES.iter().flat_map(|cue| cue.words).any(|cue| matches_cue(word, cue));
    cued || library
        .all_templates()
        .iter()
        .any(|template| template.cues.iter().any(|cue| matches_cue(word, cue)))
}

fn is_quick(goal: &Goal, points: u32) -> bool {
    points == 0
        && goal.word_count() <= QUICK_WORDS
        && goal.word_count() > 0
        && goal.proposed.is_none()
}

fn choose_subtype(
    goal: &Goal,
    library: &TemplateLibrary,
    pattern: PatternType,
    quick: bool,
) -> String {
    if quick {
        return QUICK.to_owned();
    }
    let cued = library.pattern_templates(pattern).find(|template| template_fits(template, goal));
    cued.or_else(|| library.default_template(pattern))
        .map(|template| template.subtype.clone())
        .unwrap_or_default()
}

fn template_fits(template: &Template, goal: &Goal) -> bool {
    let words = template.cues.iter().any(|cue| goal.contains_any(&[cue.as_str()]));
    words || (template.from_to && is_migration(goal))
}

/// "from A to B" is a migration if a thing is named; "move from Berlin to Rome" moves the person.
fn is_migration(goal: &Goal) -> bool {
    let Some(from) = &goal.from else { return false };
    goal.contains_any(CUES[1].words) || goal.subject.name != *from
}

fn propose_subtype(
    pattern: &mut PatternSpec,
    goal: &Goal,
    proposals: SubtypeProposals,
    explanations: &mut Vec<String>,
) {
    let Some(name) = &goal.proposed else { return };
    if proposals == SubtypeProposals::Off {
        explanations.push(format!(
            "new subtypes are switched off; \"{name}\" follows the nearest known one"
        ));
        return;
    }
    let source = pattern.subtype.take().unwrap_or_default();
    let nearest = PatternSpec::with_subtype(pattern.pattern_type, source.clone()).kind_noun();
    pattern.rfc = Some(format!(
        "The goal itself names the kind \"{name}\". Nearest to it is {nearest}; its template is used until the new \
         kind has one of its own."
    ));
    pattern.subtype = Some(format!("{PROPOSED_PREFIX}{name}"));
    pattern.source_pattern = Some(source);
    pattern.introduced_by = NodeOrigin::UserFeedback;
}

#[cfg(test)]
mod tests {
    use super::super::goal::GoalParseContext;
    use super::*;

    fn pick(text: &str) -> PatternPick {
        let today = GoalParseContext::new(jiff::civil::date(2026, 6, 5), 5);
        select_pattern(
            &Goal::parse(text, today),
            &TemplateLibrary::built_in(),
            SubtypeProposals::Allowed,
        )
    }

    #[track_caller]
    fn expect(text: &str, pattern: PatternType, subtype: &str, confidence: f64) {
        let found = pick(text);
        assert_eq!(found.pattern.pattern_type, pattern, "{text}: {:?}", found.explanations);
        assert_eq!(found.pattern.subtype.as_deref(), Some(subtype), "{text}");
        assert!((found.confidence - confidence).abs() < 1e-9, "{text}: {}", found.confidence);
    }

    #[test]
    fn the_documented_examples_select_the_expected_patterns() {
        expect("launch a newsletter in 6 weeks", Milestone, "launch", 0.95);
        expect("learn Rust, 5 hours a week", Arc, "learning_arc", 0.95);
        expect("migrate service X from Python to Rust", Milestone, "migration", 0.775);
        // .45 + .05·6 + .25·4/6 = .9167, shown as .92.
        expect("marathon training 16 weeks", Arc, "training_arc", 0.917);
        expect("weekly review routine", Recurring, "review_routine", 0.95);
        expect("take medication every day at 8", Recurring, "protocol_routine", 0.838);
    }

    #[test]
    fn all_services_or_the_company_make_a_migration_strategic() {
        expect("migrate all services from Python to Rust", Strategic, "platform_change", 0.907);
        let company = pick("migrate the company from Python to Rust");
        assert_eq!(company.pattern.pattern_type, Strategic);
    }

    #[test]
    fn a_thing_made_in_every_period_is_a_hybrid() {
        expect("write one blog post every week", Hybrid, "content_series", 0.907);
        expect("one project per month", Hybrid, "project_per_period", 0.95);
        expect("a release every 2 weeks", Hybrid, "sprint_cadence", 0.95);
    }

    #[test]
    fn a_small_goal_without_any_cue_is_quick_and_has_no_runner_up() {
        expect("call the dentist", Milestone, "quick", 0.45);
        assert_eq!(pick("call the dentist").runner_up, None);
        expect("call the dentist by Friday", Milestone, "generic", 0.675);
        let long =
            "call the dentist and ask whether they still have the old x-ray pictures of my teeth";
        expect(long, Milestone, "generic", 0.45);
    }

    #[test]
    fn subtypes_follow_their_cues() {
        let subtype = |text: &str| pick(text).pattern.subtype.unwrap_or_default();
        assert_eq!(subtype("write my thesis by 10 July"), "writing");
        assert_eq!(subtype("organise a wedding in 6 months"), "event");
        assert_eq!(subtype("buy a used car"), "purchase");
        assert_eq!(subtype("move from Berlin to Rome"), "generic");
        assert_eq!(subtype("become a data scientist"), "role_change");
        assert_eq!(subtype("transform the company culture"), "organisation_change");
        assert_eq!(subtype("practise piano, 3 hours a week"), "creative_arc");
        assert_eq!(subtype("meditate every day"), "habit");
    }

    #[test]
    fn a_proposed_subtype_needs_the_goal_to_name_it() {
        let found = pick("my mornings as proposed:daily_health_protocol_v2").pattern;
        assert_eq!(found.subtype.as_deref(), Some("proposed:daily_health_protocol_v2"));
        assert_eq!(found.source_pattern.as_deref(), Some("protocol_routine"));
        assert!(found.rfc.is_some_and(|rfc| (20..=600).contains(&rfc.chars().count())));
        let today = GoalParseContext::new(jiff::civil::date(2026, 6, 5), 5);
        let goal = Goal::parse("mornings as proposed:daily_health_protocol_v2", today);
        let off =
            select_pattern(&goal, &TemplateLibrary::built_in(), SubtypeProposals::Off).pattern;
        assert_eq!(off.subtype.as_deref(), Some("protocol_routine"));
    }
}
