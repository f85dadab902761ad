//! Every listed request on three plans that the planner drafted from goals: the effect that the list names is there,
//! nothing else changed, and a request about something that a plan does not have leaves the plan as it is and says so.

use jiff::civil::date;

use planwright_model::{LinkOrigin, NodeStatus, PlanNode, Weekday};

use super::effects::{apply, unnamed_changes};
use super::phrasings::read_on;
use super::planned::planned;
use super::plans::SamplePlan;
use super::*;

const GOALS: [&str; 3] = [
    "launch a newsletter in 6 weeks",
    "organise a 40-person offsite in March in Lisbon with a budget of 20k",
    "write my master thesis on graph databases, due 2027-03-31, 10 h a week",
];

/// The lines of the list that name something, with words for what each of the plans has instead.
const OWN_WORDS: [(&str, [&str; 3]); 13] = [
    (
        "add a task to call the landlord before signing",
        [
            "add a task to call the printer before the landing page",
            "add a task to call the landlord before the agenda",
            "add a task to call the library before the discussion",
        ],
    ),
    (
        "add \"book the train\" after \"choose the venue\", 30 minutes",
        [
            "add \"book the train\" after \"Answer every reply\", 30 minutes",
            "add \"book the train\" after \"Draft the agenda\", 30 minutes",
            "add \"book the train\" after \"Draft the discussion\", 30 minutes",
        ],
    ),
    (
        "remove the trial run",
        ["remove the landing page", "remove the agenda", "remove the discussion"],
    ),
    (
        "split the writing task into research, draft and edit",
        [
            "split the landing page into research, draft and edit",
            "split the agenda into research, draft and edit",
            "split the discussion into research, draft and edit",
        ],
    ),
    (
        "do the landing page first",
        ["do the landing page first", "do the agenda first", "do the discussion first"],
    ),
    (
        "move testing before launch",
        [
            "move the landing page before the sample issue",
            "move dinners before the agenda",
            "move the discussion before the chapter on the results",
        ],
    ),
    ("p3.t2 after p2.t4", ["p3.t2 after p2.t3", "p3.t2 after p2.t4", "p4.t6 after p3.t7"]),
    (
        "the video needs the script",
        [
            "the final check needs the landing page",
            "the dinners need the visas",
            "the discussion needs the experiments",
        ],
    ),
    (
        "make the research half as long",
        [
            "make the landing page half as long",
            "make the agenda half as long",
            "make the discussion half as long",
        ],
    ),
    (
        "the venue visit is on January 12 at 14:00",
        [
            "the landing page is on January 12 at 14:00",
            "the agenda is on January 12 at 14:00",
            "the discussion is on January 12 at 14:00",
        ],
    ),
    (
        "assign the design to Anna",
        [
            "assign the landing page to Anna",
            "assign the agenda to Anna",
            "assign the discussion to Anna",
        ],
    ),
    (
        "merge tasks 2 and 3",
        ["merge p1.t2 and p1.t3", "merge p1.t2 and p1.t3", "merge p1.t2 and p1.t3"],
    ),
    ("more detail in the build phase", ["more detail in the first phase"; 3]),
];

/// A plan before and after a request.
struct RequestedPlan<'a> {
    before: &'a SamplePlan,
    outcome: &'a RequestOutcome,
}

impl RequestedPlan<'_> {
    fn after(&self) -> &Roadmap {
        self.outcome.roadmap.as_ref().unwrap()
    }

    fn added(&self) -> Vec<&PlanNode> {
        let known = |id: &TaskId| self.before.roadmap.find_node(id).is_some();
        self.after().nodes.iter().filter(|node| !known(&node.id)).collect()
    }

    fn removed(&self) -> Vec<&PlanNode> {
        let left = |id: &TaskId| self.after().find_node(id).is_some();
        self.before.roadmap.nodes.iter().filter(|node| !left(&node.id)).collect()
    }

    /// The nodes that differ apart from their place, before and after.
    fn changed(&self) -> Vec<(&PlanNode, &PlanNode)> {
        let nodes = self.before.roadmap.nodes.iter();
        let pairs = nodes.filter_map(|node| Some((node, self.after().find_node(&node.id)?)));
        let plain = |node: &PlanNode| PlanNode {
            position: 0,
            parent_id: None,
            origin: planwright_model::NodeOrigin::default(),
            stream: String::new(),
            ..node.clone()
        };
        pairs.filter(|(one, other)| plain(one) != plain(other)).collect()
    }

    fn minutes(&self) -> (u32, u32) {
        let total = |roadmap: &Roadmap| roadmap.node_tree().total_minutes(&roadmap.root_id);
        (total(&self.before.roadmap), total(self.after()))
    }

    fn stated_links(&self) -> usize {
        let stated = |roadmap: &Roadmap| {
            let links = roadmap.dependencies.iter();
            links.filter(|link| link.origin == LinkOrigin::UserFeedback).count()
        };
        stated(self.after()) - stated(&self.before.roadmap)
    }

    /// Whether tasks, texts, times and links are as before; dates that the planner chose may have moved.
    fn keeps_tasks(&self) -> bool {
        let moved = |(one, other): &(&PlanNode, &PlanNode)| {
            let day = PlanNode { fixed_start: other.fixed_start, ..(*one).clone() };
            let day = PlanNode { due: other.due, ..day };
            day == **other && (!one.has_stated_day() || one.fixed_start == other.fixed_start)
        };
        self.added().is_empty()
            && self.removed().is_empty()
            && self.changed().iter().all(moved)
            && self.after().dependencies == self.before.roadmap.dependencies
    }

    fn context(&self) -> (&PlanContext, &PlanContext) {
        (&self.before.outline.plan_context, &self.outcome.outline.plan_context)
    }

    fn is_untouched(&self) -> bool {
        *self.after() == self.before.roadmap
            && self.outcome.outline == self.before.outline
            && self.outcome.made.is_empty()
            && self.outcome.approaches.is_empty()
    }

    /// Whether the effect that the list names is there.
    fn has_effect(&self, request: &str, effect: &str) -> bool {
        let (was, is) = self.minutes();
        let (old, new) = self.context();
        let limits =
            |context: &PlanContext| (context.constraints.clone(), context.calendar.clone());
        let hours = |context: &PlanContext| context.calendar.weekly_minutes();
        let stays = self.keeps_tasks();
        match effect {
            "new task before the one that matches \"sign\"" => {
                let new = self.added();
                let leads =
                    |id: &TaskId| self.after().dependencies.iter().any(|link| link.from == *id);
                new.len() == 1 && new[0].title.starts_with("Call the ") && leads(&new[0].id)
            }
            "new task with estimate, linked after" => {
                let new = self.added();
                let follows =
                    |id: &TaskId| self.after().dependencies.iter().any(|link| link.to == *id);
                new.len() == 1
                    && (new[0].estimate_minutes, is) == (Some(30), was + 30)
                    && follows(&new[0].id)
            }
            "end moves by a week, or a buffer task" => {
                self.added().len() == 1 && is > was || limits(old) != limits(new) && stays
            }
            "phase gone; total work shrinks by its tasks" => {
                let gone = self.removed();
                let work: u32 = gone.iter().map(|node| node.work_minutes()).sum();
                gone.iter().filter(|node| node.node_type.is_container()).count() == 1
                    && is < was
                    && is + work <= was
            }
            "matching task gone" => {
                let gone = self.removed();
                gone.len() == 1 && is == was - gone[0].work_minutes()
            }
            "title" => {
                let changed = self.changed();
                changed.len() == 1 && changed[0].1.title == "Interview five readers" && is == was
            }
            "three tasks, links kept" => {
                let tree = self.after().node_tree();
                let all = tree.leaves(&self.after().root_id).len();
                all == self.before.roadmap.node_tree().leaves(&self.before.roadmap.root_id).len()
                    + 2
                    && is == was
            }
            "one task, estimates added" => self.removed().len() == 1 && is == was,
            "moved to the start, links adjusted" | "order" => {
                self.added().is_empty()
                    && self.removed().is_empty()
                    && is == was
                    && (self.after().dependencies != self.before.roadmap.dependencies
                        || self.after().nodes != self.before.roadmap.nodes)
            }
            "link" => self.stated_links() == 1 && self.changed().is_empty() && is == was,
            "estimate" if request.contains("half") => {
                let changed = self.changed();
                changed.len() == 1
                    && is < was
                    && changed[0].1.work_minutes().abs_diff(changed[0].0.work_minutes() / 2) <= 5
            }
            "estimate" => {
                let first = self.after().find_node(&"p1.t1".into()).unwrap();
                first.estimate_minutes == Some(30)
                    && was - is
                        == self.before.roadmap.find_node(&first.id).unwrap().work_minutes() - 30
            }
            "estimates" => is == was * 2 && self.added().is_empty() && self.removed().is_empty(),
            "start" => stays && new.constraints.start == date(2026, 6, 10),
            "not before" => stays && new.constraints.start == date(2027, 1, 1),
            "deadline" | "span" => {
                stays
                    && (old.constraints.deadline, old.constraints.horizon_weeks)
                        != (new.constraints.deadline, new.constraints.horizon_weeks)
            }
            "working times" if request.contains("weekends") => {
                let week: Vec<Weekday> = new.calendar.working.keys().copied().collect();
                stays && week == [Weekday::Sat, Weekday::Sun]
            }
            "working times" if request.contains("Fridays") => {
                stays && !new.calendar.working.contains_key(&Weekday::Fri)
            }
            "working times" => stays && hours(new) != hours(old),
            "daily cap" => stays && new.constraints.max_daily_minutes == 120,
            "weekly hours" => stays && new.constraints.weekly_minutes == Some(480),
            "days off" => {
                let mut away = date(2026, 12, 20).series(jiff::Span::new().days(1)).take(15);
                stays && away.all(|day| new.calendar.days_off.contains(&day))
            }
            "day off" => stays && new.calendar.days_off.contains(&date(2026, 12, 24)),
            "fixed date" => {
                let changed = self.changed();
                let at = "2027-01-12T14:00".parse().ok();
                changed.len() == 1
                    && changed[0].1.fixed_start == at
                    && changed[0].1.has_stated_day()
            }
            "done" => {
                let changed = self.changed();
                changed.len() == 1 && changed[0].1.status == NodeStatus::Done
            }
            "owner" => {
                let changed = self.changed();
                changed.len() == 1 && changed[0].1.owner == "Anna" && is == was
            }
            "people" => {
                stays && new.find_person("Anna").and_then(|anna| anna.weekly_minutes) == Some(600)
            }
            "optional tasks dropped" => {
                self.outcome.approaches.iter().any(|(wanted, _)| *wanted == PlanApproach::Lean)
            }
            other => panic!("no check for the effect \"{other}\" of \"{request}\""),
        }
    }
}

/// Whether everything that stays open says why: what was not found, or what several tasks match.
fn is_honest(outcome: &RequestOutcome) -> bool {
    let says = |open: &String| open.ends_with(')') && open.contains(" (");
    !outcome.open.is_empty() && outcome.open.iter().all(says)
}

#[test]
fn every_listed_request_has_its_effect_on_three_drafted_plans() {
    let Some(list) = super::shared_requests::read_list() else { return };
    let plans = GOALS.map(planned);
    let mut wrong = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#') && line.contains('|')) {
        let (text, effect) = line.rsplit_once('|').unwrap();
        let own = OWN_WORDS.iter().find(|(listed, _)| *listed == text).map(|(_, own)| own);
        for (place, plan) in plans.iter().enumerate() {
            let outcome = apply(plan, text);
            let requested = RequestedPlan { before: plan, outcome: &outcome };
            if effect == "undo" {
                assert!(read_on(plan, text).asks_undo() && requested.is_untouched(), "{text}");
                continue;
            }
            if effect.contains("needs a model") {
                let own = apply(plan, own.unwrap()[place]);
                let told = own.open.iter().any(|open| open.contains("model"));
                let same = RequestedPlan { before: plan, outcome: &own }.is_untouched();
                if !told || !same {
                    wrong.push(format!("{text} on {}: {:?}", GOALS[place], own.open));
                }
                continue;
            }
            let mut report = |text: &str, outcome: &RequestOutcome, why: &str| {
                let made: Vec<&str> =
                    outcome.made.iter().map(|made| made.effect.as_str()).collect();
                let open = &outcome.open;
                wrong.push(format!(
                    "{text} on \"{}\": {why}; made {made:?}, open {open:?}",
                    GOALS[place]
                ));
            };
            let done = !requested.is_untouched();
            // A day that is off already stays off, and the answer says so.
            let already = outcome.open.iter().any(|open| open.contains("no change: "));
            if !done && !((own.is_some() || already) && is_honest(&outcome)) {
                report(text, &outcome, "nothing was done, and nothing says why");
            }
            if done && !requested.has_effect(text, effect) {
                report(text, &outcome, effect);
            }
            for why in unnamed_changes(plan, &outcome) {
                report(text, &outcome, &why);
            }
            if let Some(own) = own.filter(|_| !done) {
                let outcome = apply(plan, own[place]);
                let requested = RequestedPlan { before: plan, outcome: &outcome };
                // What the plan has already is said to be so.
                let already = outcome.open.iter().any(|open| open.contains("no change: "));
                let is_so = already && requested.is_untouched();
                if !is_so && !requested.has_effect(own[place], effect) {
                    report(own[place], &outcome, effect);
                }
                for why in unnamed_changes(plan, &outcome) {
                    report(own[place], &outcome, &why);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
