//! Ideas and options in one line each, with their difference from the first.

use crate::offline::{Goal, GoalParseContext};
use planwright_model::requests::describe_option_difference;
use planwright_model::{PatternType, PlanContext, RoadmapOption};

/// An idea, and how it differs from the first in effort, span and risk.
type PatternIdea = (&'static str, &'static str);

/// Suggests other approaches to a goal, without a model: those that suit its pattern, in the words of the goal.
pub fn suggest_ideas(context: &PlanContext, pattern: PatternType, count: usize) -> Vec<String> {
    let today = GoalParseContext::new(context.constraints.start, 5);
    let goal = Goal::parse(&context.goal_text, today);
    let subject = match goal.subject.definite.trim() {
        "" => "it",
        name => name,
    };
    let list = pattern_ideas(pattern);
    list.iter()
        .take(count)
        .map(|(idea, differs)| format!("{}: {differs}.", idea.replace("{it}", subject)))
        .collect()
}

fn pattern_ideas(pattern: PatternType) -> [PatternIdea; 3] {
    match pattern {
        PatternType::MilestoneProject => [
            (
                "Show a rough first version of {it} to three people",
                "the smallest step, to compare the others with",
            ),
            ("Do the riskiest part of {it} first", "the same effort and span, less risk late on"),
            (
                "Hand one part of {it} to somebody else",
                "less effort for you, a longer span, more risk",
            ),
        ],
        PatternType::ProgressiveAccumulationArc => [
            ("Practise {it} a little every day", "the steady way, to compare the others with"),
            (
                "Learn {it} along one small project of your own",
                "the same effort, a shorter span, more risk",
            ),
            (
                "Find a partner or a group for {it}",
                "a little more effort, the same span, less risk",
            ),
        ],
        PatternType::RecurringCycle => [
            ("Tie {it} to something you already do", "the easiest way, to compare the others with"),
            ("Do a short form of {it} on busy days", "less effort, the same span, less risk"),
            ("Do {it} together with somebody", "more effort to arrange, the same span, less risk"),
        ],
        PatternType::HybridProjectCycle => [
            (
                "Keep every round of {it} as small as can be shown",
                "the leanest way, to compare the others with",
            ),
            ("Work one round of {it} ahead", "more effort at first, the same span, less risk"),
            (
                "Make two kinds of rounds of {it} in turn",
                "the same effort, the same span, more risk",
            ),
        ],
        PatternType::StrategicTransformation => [
            (
                "Try {it} in one corner for a quarter first",
                "the smallest step, to compare the others with",
            ),
            (
                "Find one ally who gains from {it}",
                "a little more effort, a shorter span, less risk",
            ),
            (
                "Stop something else to make room for {it}",
                "less effort in all, the same span, more risk",
            ),
        ],
    }
}

/// Returns the displayed options, numbered; the chosen one is always among them.
pub fn option_lines(options: &[RoadmapOption], count: usize) -> Vec<String> {
    let Some(first) = options.first() else { return Vec::new() };
    let mut shown: Vec<&RoadmapOption> = options.iter().take(count.max(1)).collect();
    if let Some(chosen) = options.iter().find(|option| option.chosen)
        && !shown.iter().any(|option| option.id == chosen.id)
    {
        shown.pop();
        shown.push(chosen);
    }
    let line = |(place, option): (usize, &RoadmapOption)| {
        let differs = if option.id == first.id {
            option.summary.clone()
        } else {
            describe_option_difference(option, first)
        };
        let chosen = if option.chosen { " (chosen)" } else { "" };
        format!("{}. {}{chosen}: {differs}", place + 1, option.label)
    };
    shown.into_iter().enumerate().map(line).collect()
}
