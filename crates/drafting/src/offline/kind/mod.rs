//! Which kind of plan a goal asks for, and how sure that is.
//!
//! Every blueprint gets a score from 0 to 1 for the words of the goal and for what was read from it. The best one is
//! taken if it is good enough and no other is near; otherwise the person is asked. A goal without substance is not
//! planned at all.

mod example_model;
mod goal_terms;
mod main_verb;
mod score;
mod small_task;
mod substance;
#[cfg(test)]
mod tests;

use planwright_model::pattern::PROPOSED_PREFIX;
use planwright_model::requests::is_long_goal;
use planwright_model::{NodeOrigin, PatternSpec, PatternType};

use super::blueprint::{Blueprint, TemplateLibrary};
use super::goal::Goal;
use super::two_halves;

pub(super) use score::is_form_of;
pub use score::is_match_word;

/// The score from which on a kind is taken without asking.
pub const SURE_SCORE: f64 = 0.60;
/// The score below which nothing is drafted without an answer.
pub const LEAST_SCORE: f64 = 0.30;
/// The share of the best score from which on the second best is too near.
const NEAR_SHARE: f64 = 0.80;
/// How many kinds are offered in a question.
pub const OFFERED: usize = 6;

/// Kinds that are offered when the words of a goal lead nowhere: the broad ones.
const BROAD_KINDS: [&str; 8] = [
    "learn_skill",
    "daily_habit",
    "birthday_party",
    "move_house",
    "new_app",
    "buy_equipment",
    "report_document",
    "repair_job",
];

/// Whether the goal may name a subtype that does not exist yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubtypeProposals {
    #[default]
    Allowed,
    Off,
}

/// How sure the choice of a kind is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindVerdict {
    Sure,
    /// No kind fits well, or two fit alike: the person is asked.
    Unsure,
    /// The goal says too little to plan anything.
    Unclear,
}

/// A kind that may be meant.
#[derive(Clone, Debug, PartialEq)]
pub struct KindCandidate {
    pub pattern: PatternSpec,
    /// From 0 to 1, rounded to three places.
    pub score: f64,
    /// What such a plan consists of: its first phases or tasks.
    pub content: String,
    /// Scores end at 1; two certain kinds are told apart by their points.
    points: f64,
}

impl KindCandidate {
    fn from_blueprint(file: &Blueprint, score: f64, points: f64) -> Self {
        let mut pattern = file.to_pattern();
        pattern.confidence = Some(score);
        Self { pattern, score, content: describe_content(file), points }
    }

    pub fn name(&self) -> &str {
        self.pattern.kind_name().unwrap_or_default()
    }

    pub fn label(&self) -> String {
        self.pattern.kind_label()
    }
}

/// The kind that fits a goal best, with those that may be meant instead.
#[derive(Clone, Debug, PartialEq)]
pub struct KindPick {
    pub verdict: KindVerdict,
    /// Best first, at most six; those with a score of 0 are broad kinds that fill the list.
    pub candidates: Vec<KindCandidate>,
    /// The reasons for the choice, in words.
    pub explanations: Vec<String>,
}

impl KindPick {
    /// Puts a kind that has both halves of the goal before the others.
    fn take_joint(&mut self, mut pattern: PatternSpec) {
        let points = self.best().map_or(1.0, |best| best.points.max(1.0)) * 2.0;
        pattern.confidence = Some(1.0);
        let content = self.best().map(|best| best.content.clone()).unwrap_or_default();
        self.explanations = vec![format!("it matches {}", pattern.kind_label())];
        self.candidates.insert(0, KindCandidate { pattern, score: 1.0, content, points });
        self.candidates.truncate(OFFERED);
        self.verdict = KindVerdict::Sure;
    }

    pub fn best(&self) -> Option<&KindCandidate> {
        self.candidates.first()
    }

    /// The score of the best kind.
    pub fn score(&self) -> f64 {
        self.best().map_or(0.0, |best| best.score)
    }

    /// The lead of the best over the second, as a share of the best.
    pub fn margin(&self) -> f64 {
        match self.candidates.as_slice() {
            [best, second, ..] if best.points > 0.0 => (best.points - second.points) / best.points,
            [best] if best.points > 0.0 => 1.0,
            _ => 0.0,
        }
    }
}

/// Chooses the kind of plan for a goal. Where each half of the goal has a kind of its own, it is both of them.
pub fn select_kind(
    goal: &Goal,
    library: &TemplateLibrary,
    proposals: SubtypeProposals,
) -> KindPick {
    let mut pick = select_one_kind(goal, library);
    if pick.verdict != KindVerdict::Unclear
        && goal.proposed.is_none()
        && let Some(joint) = two_halves::joint_pattern(goal, library)
    {
        pick.take_joint(joint);
    }
    propose_subtype(&mut pick, goal, proposals);
    pick
}

/// Chooses one kind for a goal.
pub(super) fn select_one_kind(goal: &Goal, library: &TemplateLibrary) -> KindPick {
    let scored = score_all_kinds(goal, library);
    let verdict = judge(goal, &scored);
    let explanations = explain(&scored, verdict);
    let mut candidates: Vec<KindCandidate> = scored
        .iter()
        .take(OFFERED)
        .map(|found| KindCandidate::from_blueprint(found.file, found.score(), found.total()))
        .collect();
    if verdict == KindVerdict::Unsure {
        limit_scores(&mut candidates);
    }
    add_broad_kinds(library, &mut candidates);
    KindPick { verdict, candidates, explanations }
}

/// Returns the kinds that a goal may mean, the likeliest first.
fn score_all_kinds<'a>(goal: &Goal, library: &'a TemplateLibrary) -> Vec<score::ScoredKind<'a>> {
    let examples = example_model::rank_by_examples(&goal_without_facts(goal));
    let mut scored = score::score_kinds(goal, library, &examples);
    small_task::weigh_small_kinds(goal, &mut scored);
    // A stable sort, so that the person's own kinds come first among equals.
    scored.sort_by(|a, b| b.total().total_cmp(&a.total()));
    reward_lead(&mut scored);
    scored
}

/// A kind that leaves all others far behind is surer than its points say.
fn reward_lead(scored: &mut [score::ScoredKind<'_>]) {
    let second = scored.get(1).map_or(0.0, score::ScoredKind::total);
    if let Some(best) = scored.first_mut().filter(|best| second < CLEAR_LEAD * best.total()) {
        best.support += LEAD_POINTS;
    }
}

/// The share of the best that the second has at most behind a clear lead, and what such a lead is worth.
const CLEAR_LEAD: f64 = 0.6;
const LEAD_POINTS: f64 = 1.5;

fn judge(goal: &Goal, scored: &[score::ScoredKind<'_>]) -> KindVerdict {
    // In a page of text some words fit any kind.
    if is_long_goal(&goal.text) {
        return KindVerdict::Unclear;
    }
    let (best, second) = match scored {
        [] => return substance::verdict_without_kind(goal),
        [best] => (best, 0.0),
        [best, second, ..] => (best, second.total()),
    };
    let weak = best.points < WEAK_POINTS && substance::is_vague(goal);
    if goal.proposed.is_some() {
        KindVerdict::Sure
    } else if weak || (best.score() < LEAST_SCORE && !substance::says_enough(goal)) {
        substance::verdict_without_kind(goal)
    } else if best.score() < SURE_SCORE
        || second > NEAR_SHARE * best.total()
        || !best.is_central
        || is_bare_noun(goal, best)
    {
        KindVerdict::Unsure
    } else {
        KindVerdict::Sure
    }
}

/// The points of match words below which a goal of empty words is not planned.
const WEAK_POINTS: f64 = 3.0;

/// What remains of the weight of words that a goal says beside, for the examples.
const ASIDE_WEIGHT: f32 = 0.35;

/// The words of a goal without those that say when, where and for how much, which stand in goals of every kind; what the
/// goal says beside weighs less.
fn goal_without_facts(goal: &Goal) -> Vec<(String, f32)> {
    use super::goal::GoalPhraseKind as Kind;
    let is_fact = |kind: Kind| {
        !matches!(
            kind,
            Kind::Count(_) | Kind::Companions | Kind::Given | Kind::Direction | Kind::Target
        )
    };
    let covered = |place: usize| {
        let Some(span) = goal.word_span(place) else { return false };
        let covers = |phrase: &super::goal::GoalPhrase| {
            is_fact(phrase.kind) && phrase.span.start <= span.start && span.end <= phrase.span.end
        };
        goal.phrases().iter().any(covers)
    };
    let verb = main_verb::MainVerb::find(goal);
    let terms = goal_terms::goal_terms(goal, verb.place);
    let words = goal.folded_words().iter().enumerate().filter(|(place, _)| !covered(*place));
    words
        .map(|(place, word)| {
            let aside =
                terms.get(place).is_some_and(|term| term.factor <= goal_terms::ASIDE_FACTOR);
            (word.clone(), if aside { ASIDE_WEIGHT } else { 1.0 })
        })
        .collect()
}

/// A kind that is asked about is not sure, whatever its words score.
fn limit_scores(candidates: &mut [KindCandidate]) {
    for candidate in candidates {
        candidate.score = candidate.score.min(SURE_SCORE - 0.01);
        candidate.pattern.confidence = Some(candidate.score);
    }
}

/// Returns whether the goal is one telling word that does not decide alone: "the kitchen" may be anything.
fn is_bare_noun(goal: &Goal, best: &score::ScoredKind<'_>) -> bool {
    let telling =
        goal.folded_words().iter().filter(|word| substance::is_telling(goal, word)).count();
    telling <= 1 && goal.word_count() <= 3 && best.points < BARE_NOUN_POINTS
}

/// The points from which on a single word names a kind.
const BARE_NOUN_POINTS: f64 = 8.0;

fn explain(scored: &[score::ScoredKind<'_>], verdict: KindVerdict) -> Vec<String> {
    let Some(best) = scored.first() else {
        return vec!["no word of the goal leads to a kind of plan".to_owned()];
    };
    let mut told = vec![match verdict {
        KindVerdict::Sure => format!("it matches {}", best.file.label.get_ref()),
        _ => format!("it may be {}", best.file.label.get_ref()),
    }];
    told.extend(best.reasons.iter().cloned());
    told
}

/// Fills the list with broad kinds, so that there is always something to choose from.
fn add_broad_kinds(library: &TemplateLibrary, candidates: &mut Vec<KindCandidate>) {
    for name in BROAD_KINDS {
        if candidates.len() >= OFFERED {
            return;
        }
        let known = candidates.iter().any(|candidate| candidate.name() == name);
        if let Some(file) = library.named_blueprint(name).filter(|_| !known) {
            candidates.push(KindCandidate::from_blueprint(file, 0.0, 0.0));
        }
    }
}

/// Describes a blueprint by its first phases or tasks.
fn describe_content(file: &Blueprint) -> String {
    let phases = file.phases.iter().map(|phase| phase.title.get_ref());
    let rounds = file.cycles.iter().flat_map(|cycle| &cycle.tasks).map(|task| task.title.get_ref());
    let tasks = file.tasks.iter().map(|task| task.title.get_ref());
    let plain = |title: &&String| !title.contains('{');
    let titles: Vec<String> = phases
        .chain(rounds)
        .chain(tasks)
        .filter(plain)
        .take(3)
        .map(|title| lower_first(title))
        .collect();
    titles.join(", ")
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        // An abbreviation keeps its capitals.
        Some(first) if !chars.as_str().starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Takes the subtype that the goal itself names.
fn propose_subtype(pick: &mut KindPick, goal: &Goal, proposals: SubtypeProposals) {
    let Some(name) = &goal.proposed else { return };
    if proposals == SubtypeProposals::Off {
        pick.explanations.push(format!(
            "new subtypes are switched off; \"{name}\" follows the nearest known one"
        ));
        return;
    }
    let Some(best) = pick.candidates.first_mut() else { return };
    let pattern = &mut best.pattern;
    let source = pattern.subtype.take().unwrap_or_default();
    let nearest = pattern.kind_noun();
    pattern.rfc = Some(format!(
        "The goal itself names the kind \"{name}\". Nearest to it is {nearest}; its template is used until the new \
         kind has one of its own."
    ));
    pattern.subtype = Some(format!("{PROPOSED_PREFIX}{name}"));
    pattern.source_pattern = Some(source);
    pattern.introduced_by = NodeOrigin::UserFeedback;
}

/// Returns the pattern of a plan that consists of the person's own steps.
pub fn own_steps_pattern() -> PatternSpec {
    let mut spec = PatternSpec::with_subtype(PatternType::MilestoneProject, "generic");
    spec.kind = Some(planwright_model::PlanKind::own_steps());
    spec
}

/// Returns the blueprints that a goal may mean, best first.
pub fn rank_kinds<'a>(goal: &Goal, library: &'a TemplateLibrary) -> Vec<&'a Blueprint> {
    score_all_kinds(goal, library).into_iter().map(|found| found.file).collect()
}
