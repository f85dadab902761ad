//! The confidence of a plan as one sentence: how sure, and why. It never says more than its weakest part.

use std::collections::BTreeMap;

use crate::grammar::{BROKEN_FACT_RULE, is_infeasible};
use planwright_model::{PatternChoice, Severity, Stage, StageAssessment, Violation};

/// How sure a plan is, in the words of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfidenceLevel {
    Unsure,
    FairlySure,
    Sure,
}

impl ConfidenceLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unsure => "Unsure",
            Self::FairlySure => "Fairly sure",
            Self::Sure => "Sure",
        }
    }
}

/// A sentence about the confidence of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfidenceSentence {
    pub level: ConfidenceLevel,
    /// The reason without the level: "no kind fits well; please check the phases".
    pub reason: String,
}

impl std::fmt::Display for ConfidenceSentence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}.", self.level.as_str(), self.reason)
    }
}

/// Who drafted a plan, as far as it tells how much to trust the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftAuthor {
    BuiltInPlanner,
    /// A model that fills in fixed steps. What it thinks of its own drafts means little.
    SmallModel,
    LargeModel,
}

/// What the sentence is made from.
#[derive(Clone, Copy, Debug)]
pub struct ConfidenceEvidence<'a> {
    pub pattern: Option<&'a PatternChoice>,
    /// Whether the person chose or approved the kind of plan.
    pub kind_confirmed: bool,
    pub drafted_by: DraftAuthor,
    /// Whether every date counts from a day that nobody stated.
    pub is_day_assumed: bool,
    pub assessments: &'a BTreeMap<Stage, StageAssessment>,
}

/// The confidence from which on a pattern is clear, and the one below which it is a guess.
const CLEAR_PATTERN: f64 = 0.80;
const GUESSED_PATTERN: f64 = 0.60;
/// A lead below this leaves the second best in question.
const CLOSE_MARGIN: f64 = 0.20;
/// Below this value a stage is only fairly sure of itself.
const CLEAR_STAGE: f64 = 0.85;
const VALID_STAGE: f64 = 0.70;

/// Describes how sure a plan is. `None` while there is nothing to judge.
pub fn describe_confidence(evidence: &ConfidenceEvidence<'_>) -> Option<ConfidenceSentence> {
    let mut parts: Vec<(ConfidenceLevel, String)> = Vec::new();
    parts.extend(evidence.pattern.map(|choice| judge_kind(choice, evidence)));
    if evidence.drafted_by == DraftAuthor::SmallModel {
        let reason = "a small model drafted it; please check the steps".to_owned();
        parts.push((ConfidenceLevel::FairlySure, reason));
    }
    if evidence.is_day_assumed {
        let reason = "the day that every date counts from is assumed".to_owned();
        parts.push((ConfidenceLevel::FairlySure, reason));
    }
    for assessment in evidence.assessments.values() {
        let mut assessment = assessment.clone();
        assessment.violations.retain(|found| !is_refuted(found, evidence.assessments));
        if fits_schedule(evidence.assessments) {
            assessment.confidence.terms.retain(|term| term.name != "effort fit");
        }
        parts.push(judge_assessment(&assessment));
    }
    let weakest = parts.iter().map(|(level, _)| *level).min()?;
    let reasons: Vec<&str> = parts
        .iter()
        .filter(|(level, reason)| *level == weakest && !reason.is_empty())
        .map(|(_, reason)| reason.as_str())
        .collect();
    let fits = evidence.assessments.contains_key(&Stage::Schedule);
    let reason = match (weakest, reasons.first()) {
        (ConfidenceLevel::Sure, Some(first)) if fits => {
            format!("{first}, and every date fits your hours")
        }
        (_, Some(first)) => (*first).to_owned(),
        (_, None) if fits => "every date fits your hours".to_owned(),
        (_, None) => "it breaks no rule".to_owned(),
    };
    Some(ConfidenceSentence { level: weakest, reason })
}

fn judge_kind(
    choice: &PatternChoice,
    evidence: &ConfidenceEvidence<'_>,
) -> (ConfidenceLevel, String) {
    let kind = choice.pattern.kind_noun();
    if evidence.kind_confirmed {
        return (ConfidenceLevel::Sure, format!("you chose the kind, {kind}"));
    }
    if choice.pattern.is_own_steps() {
        return (ConfidenceLevel::Sure, "the steps are your own".to_owned());
    }
    let no_template = choice.pattern.kind.is_none() && choice.pattern.is_subtype("generic");
    if (no_template && evidence.drafted_by == DraftAuthor::BuiltInPlanner)
        || choice.confidence < GUESSED_PATTERN
    {
        let what = if evidence.drafted_by == DraftAuthor::BuiltInPlanner {
            "no kind fits well"
        } else {
            "the kind of plan is a guess"
        };
        return (ConfidenceLevel::Unsure, format!("{what}; please check the phases"));
    }
    if choice.confidence < CLEAR_PATTERN || choice.margin < CLOSE_MARGIN {
        let other = choice.second.as_ref().map(planwright_model::PatternSpec::kind_label);
        let reason = match other.filter(|_| choice.margin < CLOSE_MARGIN) {
            Some(other) => {
                format!("it is closest to {}, but could be {other}", choice.pattern.kind_label())
            }
            None => format!("it is closest to {}", choice.pattern.kind_label()),
        };
        return (ConfidenceLevel::FairlySure, reason);
    }
    if choice.pattern.is_subtype("quick") {
        // Without a kind of its own its label would be that very word.
        let label = choice.pattern.kind.as_ref().map(|kind| format!(", {}", kind.label));
        let reason = format!("it is a small task{}", label.unwrap_or_default());
        return (ConfidenceLevel::Sure, reason);
    }
    let reason = if evidence.drafted_by == DraftAuthor::BuiltInPlanner {
        format!("matches the {kind} template")
    } else {
        let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("the goal is clearly {article} {kind}")
    };
    (ConfidenceLevel::Sure, reason)
}

/// Returns whether all work has its time in the schedule.
fn fits_schedule(assessments: &BTreeMap<Stage, StageAssessment>) -> bool {
    assessments
        .get(&Stage::Schedule)
        .is_some_and(|found| !found.violations.iter().any(is_infeasible))
}

/// Returns whether the schedule shows that a complaint of an earlier stage is wrong: the estimate that there is more work
/// than time, where all of it has its time.
pub fn is_refuted(found: &Violation, assessments: &BTreeMap<Stage, StageAssessment>) -> bool {
    found.rule == "G305" && fits_schedule(assessments)
}

fn judge_assessment(assessment: &StageAssessment) -> (ConfidenceLevel, String) {
    let confidence = &assessment.confidence;
    let strip = |text: &str| text.trim_end_matches('.').to_owned();
    let broken = assessment
        .violations
        .iter()
        .filter(|found| found.severity != Severity::Warning || is_infeasible(found))
        .min_by_key(|found| found.severity);
    // The card names what is broken before everything else.
    if broken.is_some_and(|found| found.rule == BROKEN_FACT_RULE) {
        return (ConfidenceLevel::Unsure, "it breaks what you said".to_owned());
    }
    if let Some(found) = broken {
        return (ConfidenceLevel::Unsure, format!("{}; please check it", strip(&found.message)));
    }
    if confidence.value < VALID_STAGE {
        let reason = weakest_term(assessment).unwrap_or("some checks are weak");
        return (ConfidenceLevel::Unsure, format!("{reason}; please check it"));
    }
    if let Some(found) = assessment.violations.first() {
        return (ConfidenceLevel::FairlySure, strip(&found.message));
    }
    match weakest_term(assessment) {
        Some(reason) => (ConfidenceLevel::FairlySure, reason.to_owned()),
        None if confidence.value < CLEAR_STAGE => {
            (ConfidenceLevel::FairlySure, "some checks are weak".to_owned())
        }
        None => (ConfidenceLevel::Sure, String::new()),
    }
}

/// The term that says most against a stage, in words. Terms that only compare options say nothing against a plan.
fn weakest_term(assessment: &StageAssessment) -> Option<&'static str> {
    let terms = assessment.confidence.terms.iter();
    let weak = terms
        .filter(|term| term.value <= 0.5)
        .filter_map(|term| Some((term.weight * (1.0 - term.value), term_words(&term.name)?)));
    weak.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, words)| words)
}

fn term_words(name: &str) -> Option<&'static str> {
    Some(match name {
        "template roles" => "parts that such plans usually have are missing",
        "tasks with done_when" => "many tasks don't say when they are done",
        "balance" => "one phase has most of the work",
        "context" => "some hours or dates are assumed",
        "leaves with estimate" => "many tasks have no estimate",
        "leaves linked or first" => "many tasks have no place in the order",
        "effort fit" => "there is more work than time",
        "placed" => "some work fits nowhere",
        "slack" => "little time is left before the deadline",
        "utilization fit" => "some weeks are full",
        "preferred windows" => "much of the work is outside your preferred times",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::{ConfidenceSettings, combine_scores};
    use planwright_model::{PatternSpec, PatternType};

    fn choice(subtype: &str, confidence: f64) -> PatternChoice {
        PatternChoice {
            pattern: PatternSpec::with_subtype(PatternType::MilestoneProject, subtype),
            confidence,
            margin: 0.2,
            second: Some(PatternSpec::with_subtype(PatternType::RecurringCycle, "habit")),
            explanations: Vec::new(),
            others: Vec::new(),
            proposed_pattern: None,
        }
    }

    fn assessments(violations: Vec<Violation>) -> BTreeMap<Stage, StageAssessment> {
        let settings = ConfidenceSettings::default();
        let confidence = combine_scores(Stage::Schedule, None, &violations, 1.0, &settings);
        BTreeMap::from([(Stage::Schedule, StageAssessment { confidence, violations })])
    }

    fn sentence(choice: &PatternChoice, violations: Vec<Violation>) -> String {
        let assessments = assessments(violations);
        let evidence = ConfidenceEvidence {
            pattern: Some(choice),
            kind_confirmed: false,
            drafted_by: DraftAuthor::BuiltInPlanner,
            is_day_assumed: false,
            assessments: &assessments,
        };
        describe_confidence(&evidence).unwrap().to_string()
    }

    #[test]
    fn the_sentence_says_no_more_than_the_weakest_part() {
        assert_eq!(
            sentence(&choice("launch", 0.95), Vec::new()),
            "Sure: matches the launch template, and every date fits your hours."
        );
        assert_eq!(
            sentence(&choice("launch", 0.70), Vec::new()),
            "Fairly sure: it is closest to a launch."
        );
        assert_eq!(
            sentence(&PatternChoice { margin: 0.1, ..choice("launch", 0.70) }, Vec::new()),
            "Fairly sure: it is closest to a launch, but could be a habit."
        );
        assert_eq!(
            sentence(&choice("generic", 0.45), Vec::new()),
            "Unsure: no kind fits well; please check the phases."
        );
        assert_eq!(
            sentence(&choice("quick", 0.45), Vec::new()),
            "Unsure: no kind fits well; please check the phases."
        );
    }

    #[test]
    fn a_broken_rule_outweighs_a_clear_pattern() {
        let broken = Violation::new(
            "G403",
            Severity::Repairable,
            "\"b\" can't start before \"a\" is done.",
            "Move it.",
        );
        assert_eq!(
            sentence(&choice("launch", 0.95), vec![broken]),
            "Unsure: \"b\" can't start before \"a\" is done; please check it."
        );
    }

    #[test]
    fn a_draft_of_a_small_model_is_fairly_sure_at_most() {
        let (assessments, launch) = (assessments(Vec::new()), choice("launch", 0.95));
        let evidence = |drafted_by| ConfidenceEvidence {
            pattern: Some(&launch),
            kind_confirmed: false,
            drafted_by,
            is_day_assumed: false,
            assessments: &assessments,
        };
        let said = |author| describe_confidence(&evidence(author)).unwrap().to_string();
        assert_eq!(
            said(DraftAuthor::SmallModel),
            "Fairly sure: a small model drafted it; please check the steps."
        );
        assert_eq!(
            said(DraftAuthor::LargeModel),
            "Sure: the goal is clearly a launch, and every date fits your hours."
        );
    }

    #[test]
    fn a_kind_that_the_person_chose_is_sure() {
        let assessments = assessments(Vec::new());
        let generic = choice("generic", 0.45);
        let evidence = ConfidenceEvidence {
            pattern: Some(&generic),
            kind_confirmed: true,
            drafted_by: DraftAuthor::BuiltInPlanner,
            is_day_assumed: false,
            assessments: &assessments,
        };
        let found = describe_confidence(&evidence).unwrap();
        assert_eq!(
            found.to_string(),
            "Sure: you chose the kind, project, and every date fits your hours."
        );
        let dated = ConfidenceEvidence { is_day_assumed: true, ..evidence };
        assert_eq!(
            describe_confidence(&dated).unwrap().to_string(),
            "Fairly sure: the day that every date counts from is assumed."
        );
        let nothing = BTreeMap::new();
        let none = ConfidenceEvidence { pattern: None, assessments: &nothing, ..evidence };
        assert_eq!(describe_confidence(&none), None);
    }
}
