//! Change requests on plans that the planner made from goals of different kinds, not written for the requests.

use std::sync::LazyLock;

use planwright_model::PlanContext;

use super::effects::{apply, unnamed_changes};
use super::phrasings::{note_request, read_on};
use super::plans::{SamplePlan, TODAY};
use super::*;
use crate::offline::{
    RoadmapPreferences, SubtypeProposals, TemplateLibrary, build_roadmap, draft_outline,
};

static LIBRARY: LazyLock<TemplateLibrary> = LazyLock::new(TemplateLibrary::built_in);

/// Something published, a day with guests, a film with a script, and a home.
const GOALS: [&str; 4] = [
    "launch a newsletter in 6 weeks",
    "wedding on 2027-06-12 for 80 guests",
    "make a short film in 10 weeks",
    "move house by the end of August",
];

pub(super) fn planned(goal: &str) -> SamplePlan {
    let start = TODAY.tomorrow().unwrap();
    let context = PlanContext::new(goal, start, "Europe/Berlin");
    let draft = draft_outline(context, &LIBRARY, TODAY, SubtypeProposals::Off).unwrap();
    let outline = draft.outline;
    let roadmap = build_roadmap(&outline, &LIBRARY, RoadmapPreferences::default()).unwrap().roadmap;
    // The outline has the estimates that the roadmap filled in, as after a draft.
    let outline = PlanOutline { nodes: roadmap.nodes.clone(), ..outline };
    SamplePlan { outline, roadmap }
}

/// Applies a request to a plan and returns what is wrong with the outcome, and whether anything was made.
fn check_request(plan: &SamplePlan, text: &str) -> (Vec<String>, bool) {
    let read = read_on(plan, text);
    let outcome = apply(plan, text);
    let mut wrong = unnamed_changes(plan, &outcome);
    for clause in read.clauses.iter().filter(|clause| clause.change == RequestedChange::Open(None))
    {
        wrong.push(format!("\"{}\" was not understood", clause.text));
    }
    let same = outcome.roadmap.as_ref() == Some(&plan.roadmap)
        && outcome.outline.nodes == plan.outline.nodes
        && has_same_limits(&outcome.outline.plan_context, &plan.outline.plan_context);
    if same != outcome.made.is_empty() {
        wrong.push(format!("changed: {}, reported as made: {:?}", !same, outcome.made));
    }
    wrong.extend(
        outcome
            .made
            .iter()
            .filter(|made| made.effect.trim().is_empty())
            .map(|made| format!("no effect is named for {:?}", made.edits)),
    );
    let open_or_made = outcome.made.len() + outcome.open.len() + outcome.approaches.len();
    if open_or_made == 0 && !read.asks_undo() {
        wrong.push("neither made nor left open".to_owned());
    }
    let does_something =
        !outcome.made.is_empty() || !outcome.approaches.is_empty() || read.asks_undo();
    (wrong, does_something)
}

/// Checks requests on all plans; returns what is wrong, and the requests that no plan was changed by.
fn check_all<'a>(requests: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<&'a str>) {
    let plans = GOALS.map(|goal| (goal, planned(goal)));
    let (mut wrong, mut without_effect) = (Vec::new(), Vec::new());
    for text in requests {
        let mut made = false;
        for (goal, plan) in &plans {
            let (found, does_something) = check_request(plan, text);
            made |= does_something;
            let read = note_request(&read_on(plan, text));
            wrong.extend(
                found.into_iter().map(|why| format!("{text} on \"{goal}\" ({read}): {why}")),
            );
        }
        if !made {
            without_effect.push(text);
        }
    }
    (wrong, without_effect)
}

/// Requests that any plan can meet, in words of our own.
const OWN_REQUESTS: [&str; 24] = [
    "leave out the last phase",
    "everything takes twice as long",
    "the first task takes 25 minutes",
    "rename the first task to \"Sleep on it\"",
    "add a task to call my sister",
    "add \"Buy stamps\" after the first task, 20 minutes",
    "merge tasks 1 and 2",
    "swap the first and second phase",
    "start on 2026-06-22",
    "only on Saturdays",
    "evenings only",
    "never on Wednesdays",
    "at most 90 minutes a day",
    "3 hours a week",
    "I am away from July 6 to July 10",
    "no work on 2026-07-01",
    "finish a week later",
    "make it 12 weeks",
    "I have done the first task",
    "Ben and I work on it, he has 4 hours a week",
    "make it simpler",
    "double all estimates and not on Mondays",
    "drop the last phase and start on 2026-06-22",
    "undo that",
];

#[test]
fn own_requests_do_what_they_say_on_plans_that_the_planner_made() {
    let (wrong, without_effect) = check_all(OWN_REQUESTS.into_iter());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(without_effect.is_empty(), "{without_effect:?}");
}

#[test]
fn listed_requests_do_what_they_say_on_plans_that_the_planner_made() {
    let Some(list) = super::shared_requests::read_list() else { return };
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let requests: Vec<(&str, &str)> = lines.filter_map(|line| line.rsplit_once('|')).collect();
    assert!(requests.len() >= 30, "{}", requests.len());
    let (wrong, without_effect) = check_all(requests.iter().map(|(text, _)| *text));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What names a task that none of these plans has stays open by name, as does what only a model can do.
    let meant = |text: &&str| {
        let effect = requests.iter().find(|(known, _)| known == text).map_or("", |(_, it)| *it);
        effect.contains("needs a model") || names_other_work(text)
    };
    let missed = without_effect.into_iter().filter(|text| !meant(text));
    let missed: Vec<String> = missed
        .map(|text| {
            let open = GOALS.map(|goal| apply(&planned(goal), text).open.join("; "));
            format!("no plan was changed by \"{text}\": {open:?}")
        })
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Whether a request names work that none of the plans has, or several tasks that could be meant, and says so.
fn names_other_work(text: &str) -> bool {
    let is_named =
        |open: &String| open.contains("no task matches \"") || open.contains("\" matches ");
    GOALS.iter().all(|goal| apply(&planned(goal), text).open.iter().any(is_named))
}
