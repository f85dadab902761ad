//! Complete plans from complete goals.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use jiff::civil::{Date, date};
use proptest::prelude::*;

use super::blueprint::Blueprint;
use super::*;
use planwright_model::{
    AssumptionOrigin, NodeTree, PlanContext, PlanNode, Recurrence, Risk, Roadmap, TaskId, Weekday,
};

/// 2026-06-05 is a Friday; plans start on the Monday after it.
const TODAY: Date = date(2026, 6, 5);

static LIBRARY: LazyLock<TemplateLibrary> = LazyLock::new(TemplateLibrary::built_in);

fn context(goal: &str) -> PlanContext {
    PlanContext::new(goal, date(2026, 6, 8), "Europe/Berlin")
}

fn plan_context(context: PlanContext) -> (OutlineDraft, Roadmap) {
    let library = &*LIBRARY;
    let draft = draft_outline(context, library, TODAY, SubtypeProposals::Allowed).unwrap();
    let built = build_roadmap(&draft.outline, library, RoadmapPreferences::default()).unwrap();
    (draft, built.roadmap)
}

fn plan(goal: &str) -> (OutlineDraft, Roadmap) {
    plan_context(context(goal))
}

fn phase_minutes(roadmap: &Roadmap) -> Vec<u32> {
    let tree = roadmap.node_tree();
    tree.children(&roadmap.root_id)
        .filter(|node| !tree.is_leaf(&node.id))
        .map(|node| tree.total_minutes(&node.id))
        .collect()
}

fn find<'a>(roadmap: &'a Roadmap, words: &str) -> &'a PlanNode {
    let found = roadmap.nodes.iter().find(|node| node.title.contains(words));
    found.unwrap_or_else(|| {
        panic!(
            "no \"{words}\" in {:?}",
            roadmap.nodes.iter().map(|node| &node.title).collect::<Vec<_>>()
        )
    })
}

/// Contract example 17 with the figures of the task-based effort: the hours no longer decide how much work there is.
#[test]
fn example_17_the_newsletter_is_sized_by_its_tasks() {
    let (draft, roadmap) = plan("launch a newsletter in 6 weeks");
    assert_eq!(draft.pick.best().unwrap().name(), "newsletter_launch");
    let hours = draft.outline.plan_context.find_assumption("weekly_minutes").unwrap();
    assert_eq!(hours.origin, AssumptionOrigin::Template);
    let total = roadmap.total_minutes;
    assert!((15 * 60..40 * 60).contains(&total), "{total}");
    assert_eq!(phase_minutes(&roadmap).iter().sum::<u32>(), total);
    let mut rich = context("launch a newsletter in 6 weeks");
    rich.constraints.weekly_minutes = Some(900);
    assert_eq!(plan_context(rich).1.total_minutes, total);
}

/// Contract example 18 with new figures: Rust is 12 weeks at 5 hours whatever hours are stated, the marathon peaks at
/// the blueprint's own load.
#[test]
fn example_18_rust_and_the_marathon_are_sized() {
    let (_, rust) = plan("learn Rust, 5 hours a week");
    let total = rust.total_minutes;
    assert!((45 * 60..=62 * 60).contains(&total), "{total}");
    assert_eq!(rust.context.cadence.as_deref(), Some("4 × 1 h 15 min a week"));
    let (fast, faster) = plan("learn Rust, 10 hours a week");
    assert_eq!(faster.total_minutes, total);
    assert_eq!(fast.outline.plan_context.constraints.horizon_weeks, Some(6));

    let (draft, run) = plan("marathon training 16 weeks");
    let tree = run.node_tree();
    let weeks: Vec<u32> = run
        .nodes
        .iter()
        .filter(|node| node.title.starts_with("Week "))
        .map(|node| tree.total_minutes(&node.id))
        .collect();
    assert_eq!(weeks.len(), 16);
    let peak = weeks.iter().copied().max().unwrap();
    assert_eq!(peak, 420);
    for pair in weeks[..13].windows(2) {
        assert!(pair[1] * 10 <= pair[0] * 15, "{weeks:?}");
    }
    let longest = run.nodes.iter().filter(|node| node.title.starts_with("Long run"));
    let longest = longest.map(planwright_model::PlanNode::work_minutes).max().unwrap();
    assert!((150..=200).contains(&longest), "{longest}");
    let race = find(&run, "Run the marathon").fixed_start.unwrap();
    assert_eq!(Weekday::from_date(race.day), Weekday::Sun);
    let asked: Vec<&str> = draft.questions.iter().map(|question| question.key.as_str()).collect();
    assert_eq!(asked.first(), Some(&"day"));
}

#[test]
fn a_wedding_counts_back_from_its_day_and_scales_by_its_guests() {
    let (draft, roadmap) = plan("wedding on 2027-06-12 for 80 guests");
    let day = date(2027, 6, 12);
    let on_day: Vec<&PlanNode> = roadmap
        .nodes
        .iter()
        .filter(|node| node.fixed_start.is_some_and(|date| date.day == day))
        .collect();
    assert!(!on_day.is_empty());
    assert!(roadmap.nodes.iter().filter_map(|node| node.due).any(|due| due.day < date(2027, 3, 1)));
    assert!(roadmap.nodes.iter().any(|node| node.done_when.contains("80")));
    let guests = draft.outline.plan_context.find_assumption("guests").unwrap();
    assert_eq!((guests.value.as_str(), guests.origin), ("80", AssumptionOrigin::User));
    let (_, small) = plan("wedding on 2027-06-12 for 20 guests");
    assert!(small.total_minutes < roadmap.total_minutes);
    let (_, given) = plan("wedding on 2027-06-12 for 80 guests, we have a venue");
    assert!(given.nodes.len() < roadmap.nodes.len());
}

#[test]
fn lead_times_shrink_in_a_short_plan() {
    let (_, roadmap) = plan("wedding in 8 weeks for 80 guests");
    let dates: Vec<Date> =
        roadmap.nodes.iter().filter_map(|node| node.due).map(|due| due.day).collect();
    assert!(dates.iter().all(|day| *day >= date(2026, 6, 8)), "{dates:?}");
    let distinct: BTreeSet<&Date> = dates.iter().collect();
    assert!(distinct.len() > 3, "{dates:?}");
}

#[test]
fn servers_are_upgraded_in_waves() {
    let (_, roadmap) = plan("migrate 200 servers from Debian 11 to 12");
    let waves: Vec<&str> = roadmap
        .nodes
        .iter()
        .filter(|node| node.title.starts_with("Upgrade wave"))
        .map(|node| node.title.as_str())
        .collect();
    assert_eq!(waves.first(), Some(&"Upgrade wave 1: machines 1 to 40"));
    assert_eq!(waves.last(), Some(&"Upgrade wave 5: machines 161 to 200"));
}

#[test]
fn options_differ_in_their_tasks_and_say_so() {
    let (_, roadmap) = plan("add OAuth login to our web app");
    let options = &roadmap.options_tried;
    let ids: Vec<&str> = options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ids, ["balanced", "lean", "thorough"]);
    assert!(options[1].tasks.starts_with("leaves out \""), "{}", options[1].tasks);
    assert!(options[2].tasks.starts_with("adds \""), "{}", options[2].tasks);
    assert!(options[1].effort_minutes < options[0].effort_minutes);
    assert!(options[2].effort_minutes > options[0].effort_minutes);
    assert!(options[1].risk >= options[0].risk && options[1].risk >= Risk::Medium);
    assert!(options[0].summary.contains(" – "), "{}", options[0].summary);
}

#[test]
fn excess_effort_selects_the_lean_approach() {
    let library = &*LIBRARY;
    let tight = context("add OAuth login to our web app by 9 June");
    let drafted = draft_outline(tight, library, TODAY, SubtypeProposals::Allowed).unwrap();
    let built = build_roadmap(&drafted.outline, library, RoadmapPreferences::default()).unwrap();
    assert_eq!(built.roadmap.chosen_option().map(|option| option.id.as_str()), Some("lean"));
    assert!(!built.removed.is_empty());
}

#[test]
fn drafting_is_idempotent() {
    let library = &*LIBRARY;
    for goal in ["learn Rust", "plan a birthday party in July", "wedding in 8 weeks", "move house"]
    {
        let first =
            draft_outline(context(goal), library, TODAY, SubtypeProposals::Allowed).unwrap();
        let again = first.outline.plan_context.clone();
        let second = draft_outline(again, library, TODAY, SubtypeProposals::Allowed).unwrap();
        assert_eq!(first.outline, second.outline, "{goal}");
        assert_eq!(first.questions, second.questions, "{goal}");
    }
}

#[test]
fn removing_a_task_closes_the_chain_and_an_added_one_follows_its_neighbor() {
    let library = &*LIBRARY;
    let mut outline = plan("launch a newsletter in 6 weeks").0.outline;
    let before = build_roadmap(&outline, library, RoadmapPreferences::default()).unwrap().roadmap;
    let tree = NodeTree::new(&outline.nodes);
    let phase = tree.children(&outline.root_id).find(|node| tree.children(&node.id).count() > 2);
    let phase = phase.unwrap().clone();
    let tasks: Vec<TaskId> = tree.children(&phase.id).map(|node| node.id.clone()).collect();
    let gone = tree.get(&tasks[1]).unwrap().work_minutes();
    outline.nodes.retain(|node| node.id != tasks[1]);
    let mut own =
        PlanNode::new_child(&phase, "own", planwright_model::NodeType::Task, "Ask a friend");
    own.position = 99;
    own.estimate_minutes = Some(45);
    outline.nodes.push(own);
    let roadmap = build_roadmap(&outline, library, RoadmapPreferences::default()).unwrap().roadmap;
    assert_eq!(roadmap.total_minutes, before.total_minutes - gone + 45);
    assert!(roadmap.dependencies.iter().any(|link| link.to.as_str() == "own"));
}

#[test]
fn the_persons_own_steps_are_one_empty_task_under_the_goal() {
    let mut own = context("polish the zorbulator in the hangar");
    own.pattern = Some(kind::own_steps_pattern());
    let (draft, roadmap) = plan_context(own);
    let titles: Vec<&str> = draft.outline.nodes.iter().map(|node| node.title.as_str()).collect();
    assert_eq!(titles, ["polish the zorbulator in the hangar", ""]);
    assert_eq!(roadmap.total_minutes, 60);
    assert!(draft.questions.is_empty());
}

#[test]
fn nothing_depends_on_endless_recurring_work() {
    let (_, roadmap) = plan("take medication every day at 8");
    assert!(roadmap.dependencies.iter().all(|link| link.from.as_str() != "c1"));
}

#[test]
fn an_empty_goal_is_rejected_with_a_hint() {
    let error =
        draft_outline(context("  "), &LIBRARY, TODAY, SubtypeProposals::Allowed).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.hint()),
        ("the goal is empty", "say in one sentence what you want to reach")
    );
}

#[test]
fn an_unknown_zone_is_reported_and_planning_continues() {
    let wrong = PlanContext::new("write a novel by Friday", date(2026, 6, 8), "Mars/Olympus");
    let drafted = draft_outline(wrong, &LIBRARY, TODAY, SubtypeProposals::Allowed).unwrap();
    assert!(drafted.notes.iter().any(|note| note.contains("Mars/Olympus")));
}

#[test]
fn a_saved_plan_is_a_blueprint_that_its_goal_finds_again() {
    for goal in [
        "launch a newsletter in 6 weeks",
        "wedding on 2027-06-12 for 80 guests",
        "call the dentist",
        "marathon training 16 weeks",
        "weekly review every Friday",
    ] {
        let (draft, roadmap) = plan(goal);
        let context = &draft.outline.plan_context;
        let saved =
            blueprint::SavedBlueprint { label: "a plan of mine", context, roadmap: &roadmap };
        let text = blueprint::write_blueprint(&saved);
        let source = TemplateSource { name: "my_plan.toml", text: &text };
        let (library, errors) = TemplateLibrary::with_own(&[source], &[]);
        assert_eq!(errors, [], "{goal}\n{text}");
        let again =
            draft_outline(super::tests::context(goal), &library, TODAY, SubtypeProposals::Off)
                .unwrap();
        assert_eq!(again.pick.best().unwrap().name(), "my_plan", "{goal}");
        let rebuilt =
            build_roadmap(&again.outline, &library, RoadmapPreferences::default()).unwrap().roadmap;
        assert_eq!(rebuilt.total_minutes, roadmap.total_minutes, "{goal}");
        let titles = |roadmap: &Roadmap| {
            let mut titles: Vec<String> =
                roadmap.nodes.iter().map(|node| node.title.clone()).collect();
            titles.sort();
            titles
        };
        assert_eq!(titles(&rebuilt), titles(&roadmap), "{goal}");
    }
}

/// Renders a plan as a person would read it.
fn readable(goal: &str) -> String {
    let (draft, roadmap) = plan(goal);
    let mut out = String::new();
    let spec = draft.outline.pattern.as_ref().unwrap();
    writeln!(out, "{}, {:?}", spec.kind_label(), draft.pick.verdict).unwrap();
    let tree = roadmap.node_tree();
    for node in tree.subtree(&roadmap.root_id) {
        let indent = "  ".repeat(usize::from(node.level) - 1);
        let minutes = tree.total_minutes(&node.id);
        let repeats = node.recurrence.as_ref().map(repeats).unwrap_or_default();
        let marks = [(node.milestone, " ◆"), (node.optional, " (optional)")];
        let marks: String = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
        let due = node.due.map(|due| format!(" due {due}")).unwrap_or_default();
        let on = node.fixed_start.map(|on| format!(" on {on}")).unwrap_or_default();
        writeln!(out, "{indent}{} [{minutes}]{marks}{on}{due}{repeats}", node.title).unwrap();
    }
    for option in &roadmap.options_tried {
        let mark = if option.chosen { "*" } else { " " };
        writeln!(out, "{mark}{}: {}", option.label, option.summary).unwrap();
    }
    for assumption in &draft.outline.plan_context.assumptions {
        writeln!(out, "{:?} {} = {}", assumption.origin, assumption.key, assumption.value).unwrap();
    }
    for question in &draft.questions {
        writeln!(out, "? {}", question.text).unwrap();
    }
    draft.notes.iter().for_each(|note| writeln!(out, "! {note}").unwrap());
    out
}

fn repeats(found: &Recurrence) -> String {
    format!(" ↻ {}", serde_json::to_string(found).unwrap())
}

#[test]
fn drafts_plans_of_every_pattern() {
    for (name, goal) in [
        ("newsletter", "launch a newsletter in 6 weeks"),
        ("rust", "learn Rust, 5 hours a week"),
        ("birthday", "plan a birthday party next Saturday"),
        ("weekly_review", "weekly review every Friday"),
        ("blog", "publish a blog post every two weeks"),
        ("organization", "transform our company into a platform organisation"),
        ("call", "call the dentist"),
        ("weight", "lose 5 kg by summer"),
    ] {
        insta::assert_snapshot!(name, readable(goal));
    }
}

/// Checks the properties of every goal's plan.
fn check_plan(goal: &str) -> Result<(), TestCaseError> {
    let library = &*LIBRARY;
    let Ok(drafted) = draft_outline(context(goal), library, TODAY, SubtypeProposals::Allowed)
    else {
        return Ok(());
    };
    for approach in PlanApproach::ALL {
        let preferences = RoadmapPreferences { approach: Some(approach), conflict_minutes: 0 };
        let built = build_roadmap(&drafted.outline, library, preferences).unwrap();
        check_roadmap(&built.roadmap)?;
    }
    let preferences =
        RoadmapPreferences { approach: Some(PlanApproach::Balanced), conflict_minutes: 0 };
    let balanced = build_roadmap(&drafted.outline, library, preferences).unwrap();
    prop_assert_eq!(&build_roadmap(&drafted.outline, library, preferences).unwrap(), &balanced);
    prop_assert!(balanced.added.is_empty() && balanced.removed.is_empty());
    Ok(())
}

fn check_roadmap(roadmap: &Roadmap) -> Result<(), TestCaseError> {
    let tree = NodeTree::new(&roadmap.nodes);
    let ids: BTreeSet<_> = roadmap.nodes.iter().map(|node| &node.id).collect();
    prop_assert_eq!(ids.len(), roadmap.nodes.len());
    let lanes: BTreeSet<_> =
        roadmap.nodes.iter().map(|node| (&node.parent_id, &node.stream, node.position)).collect();
    prop_assert_eq!(lanes.len(), roadmap.nodes.len());
    for node in &roadmap.nodes {
        prop_assert!(
            (1..=PlanNode::MAX_TITLE_CHARS).contains(&node.title.chars().count()),
            "{}",
            node.title
        );
        let open = |node: &PlanNode| node.title.contains('{');
        prop_assert!(!open(node) || open(&roadmap.nodes[0]), "{}", node.title);
        if tree.is_leaf(&node.id) {
            prop_assert!(
                !node.done_when.is_empty() && (node.milestone || node.work_minutes() > 0),
                "{}",
                node.id
            );
        } else if let Some(parent) = tree.parent(node) {
            prop_assert!(parent.node_type.can_contain(node.node_type));
        }
    }
    for link in &roadmap.dependencies {
        prop_assert!(ids.contains(&link.from) && ids.contains(&link.to) && link.from != link.to);
        prop_assert!(
            !tree.is_ancestor(&link.from, &link.to) && !tree.is_ancestor(&link.to, &link.from)
        );
        prop_assert!(link.lag_minutes.abs() <= planwright_model::NodeDependency::MAX_LAG_MINUTES);
    }
    prop_assert!(!roadmap.critical_path.is_empty());
    prop_assert!(matches!(roadmap.options_tried.len(), 2 | 3));
    let chosen = roadmap.options_tried.iter().filter(|option| option.chosen);
    prop_assert_eq!(chosen.filter(|option| !option.rationale.is_empty()).count(), 1);
    Ok(())
}

#[test]
fn every_kind_gives_a_complete_plan() {
    for file in LIBRARY.all_blueprints() {
        let mut named = context(&format!("something about {}", file.to_kind().noun()));
        named.pattern = Some(file.to_pattern());
        let drafted = draft_outline(named, &LIBRARY, TODAY, SubtypeProposals::Off).unwrap();
        let built =
            build_roadmap(&drafted.outline, &LIBRARY, RoadmapPreferences::default()).unwrap();
        check_roadmap(&built.roadmap).unwrap_or_else(|error| panic!("{}: {error}", file.name));
        let overlong: Vec<&str> = file
            .all_tasks()
            .iter()
            .filter(|task| {
                task.effort.as_ref().is_some_and(|effort| effort.get_ref().likely() > 720)
            })
            .map(|task| task.title.get_ref().as_str())
            .collect();
        assert_eq!(overlong, Vec::<&str>::new(), "{}", file.name);
    }
}

#[test]
fn unusual_goals_give_complete_plans() {
    for goal in [
        "launch",
        "学习钢琴",
        "learn {subject} {A}",
        "marathon training 1 week",
        "marathon training 500 weeks, 1 minute a week",
        "train for a race by tomorrow",
        "one post every year",
        "learn Rust 168 hours a week for 10 years",
        "migrate from A to B",
        "stretch 2 times a day",
        "review every 3 months",
        "become a chef in 2 weeks",
        "write a novel by 2026-02-30",
        "wedding today for 1000000 guests",
        "migrate 1 server by tomorrow",
        "plan a birthday party on 2026-06-08",
    ] {
        check_plan(goal).unwrap_or_else(|error| panic!("{goal}: {error}"));
    }
}

fn kind_names() -> Vec<String> {
    LIBRARY.all_blueprints().map(|file| file.name.clone()).collect()
}

/// Kinds with work that repeats until the end of the plan and begins after other work: with fewer hours a week that work
/// takes longer, so that a session more or less is left. Each session and every other task takes the same, and no other
/// kind depends on the hours.
const DEPEND_ON_SPAN: [&str; 42] = [
    "sales_pipeline",
    "support_load",
    "career_change",
    "job_search",
    "creative_practice",
    "rehearse_pieces",
    "coding_interview",
    "system_design_interview",
    "family_calendar",
    "eat_differently",
    "lose_weight",
    "prepare_surgery",
    "recover_from_injury",
    "learn_cooking",
    "learn_instrument",
    "learn_language",
    "learn_theory",
    "plan_semester",
    "campaign",
    "organizational_change",
    "organize_papers",
    "onboarding",
    "team_process",
    "aquarium",
    "renovate_home",
    "release_train",
    "compliance_certification",
    "security_breach",
    "blog_series",
    "live_stream",
    "newsletter_series",
    "podcast",
    "social_posts",
    "video_series",
    "nonfiction_book",
    "novel",
    "screenplay",
    "get_fit",
    "long_walk",
    "strength_training",
    "swim_distance",
    "bike_tour",
];

/// The roadmap of a kind with so many minutes a week and no stated span.
fn roadmap_of_kind(file: &Blueprint, weekly: Option<u32>) -> Roadmap {
    let mut asked = context("something");
    asked.pattern = Some(file.to_pattern());
    asked.constraints.weekly_minutes = weekly;
    let preferences =
        RoadmapPreferences { approach: Some(PlanApproach::Balanced), conflict_minutes: 0 };
    let drafted = draft_outline(asked, &LIBRARY, TODAY, SubtypeProposals::Off).unwrap();
    build_roadmap(&drafted.outline, &LIBRARY, preferences).unwrap().roadmap
}

#[test]
fn every_kind_takes_as_much_work_with_3_5_and_10_hours_a_week() {
    let mut differ = Vec::new();
    for name in kind_names() {
        let file = LIBRARY.named_blueprint(&name).unwrap();
        let totals = [180, 300, 600].map(|hours| roadmap_of_kind(file, Some(hours)).total_minutes);
        if totals.iter().any(|total| *total != totals[0]) {
            differ.push((name, totals));
        }
    }
    let names: BTreeSet<&str> = differ.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(DEPEND_ON_SPAN), "{differ:?}");
    for name in DEPEND_ON_SPAN {
        let file = LIBRARY.named_blueprint(name).unwrap();
        let repeats = |task: &&super::blueprint::BlueprintTask| task.every.is_some();
        assert!(!file.cycles.is_empty() || file.all_tasks().iter().any(repeats), "{name}");
        let efforts = [180, 300, 600].map(|hours| {
            let nodes = roadmap_of_kind(file, Some(hours)).nodes.into_iter();
            nodes.map(|node| (node.id, node.estimate_minutes)).collect::<Vec<_>>()
        });
        assert!(efforts.iter().all(|other| *other == efforts[0]), "{name}");
    }
}

#[test]
fn removing_tasks_of_every_kind_lowers_the_total_by_their_effort() {
    let preferences =
        RoadmapPreferences { approach: Some(PlanApproach::Balanced), conflict_minutes: 0 };
    for (number, name) in kind_names().into_iter().enumerate() {
        let mut asked = context("something");
        asked.pattern = Some(LIBRARY.named_blueprint(&name).unwrap().to_pattern());
        let outline = draft_outline(asked, &LIBRARY, TODAY, SubtypeProposals::Off).unwrap().outline;
        let before = build_roadmap(&outline, &LIBRARY, preferences).unwrap().roadmap;
        let tree = before.node_tree();
        // A group without tasks is no plan.
        let removable = |leaf: &&&planwright_model::PlanNode| {
            leaf.parent_id.as_ref().is_some_and(|parent| tree.children(parent).count() > 1)
        };
        let leaves = tree.leaves(&before.root_id);
        let leaves: Vec<_> = leaves.iter().filter(removable).collect();
        // Another task of each kind every time the list changes; the property below tries any.
        for gone in leaves.iter().skip(number % 3).step_by(leaves.len().div_ceil(3).max(1)) {
            let mut less = outline.clone();
            less.nodes.retain(|node| node.id != gone.id);
            let after = build_roadmap(&less, &LIBRARY, preferences).unwrap().roadmap;
            let effort = tree.total_minutes(&gone.id);
            assert_eq!(
                after.total_minutes,
                before.total_minutes - effort,
                "{name}: {}",
                gone.title
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_goal_gives_a_complete_plan_or_none(goal in any::<String>()) {
        check_plan(&goal)?;
    }

    #[test]
    fn any_mix_of_cues_gives_a_complete_plan(parts in prop::collection::vec(prop::sample::select(vec![
        "launch", "learn", "Rust", "marathon", "training", "weekly", "review", "routine", "become", "company", "post", "every",
        "week", "a", "one", "in", "6", "weeks", "5", "hours", "from", "Python", "to", "by", "Friday", "day", "at", "8", "buy",
        "protocol", "proposed:my_way", "20", "minutes", "month", "project", "per", "migrate", "all", "services", "2026-07-10",
        "wedding", "guests", "on", "Saturday", "servers", "party", "in March", "we have a venue",
    ]), 1..10)) {
        check_plan(&parts.join(" "))?;
    }

    #[test]
    fn effort_does_not_depend_on_any_hours_a_week(
        name in prop::sample::select(kind_names()), hours in 60u32..2400,
    ) {
        let library = &*LIBRARY;
        let file = library.named_blueprint(&name).unwrap();
        let roadmap = |weekly: Option<u32>| {
            let mut asked = context("something");
            asked.pattern = Some(file.to_pattern());
            asked.constraints.weekly_minutes = weekly;
            let preferences =
                RoadmapPreferences { approach: Some(PlanApproach::Balanced), conflict_minutes: 0 };
            let drafted = draft_outline(asked, library, TODAY, SubtypeProposals::Off).unwrap();
            build_roadmap(&drafted.outline, library, preferences).unwrap().roadmap
        };
        let (stated, usual) = (roadmap(Some(hours)), roadmap(None));
        let efforts = |roadmap: &Roadmap| {
            let tasks = roadmap.nodes.iter().filter(|node| node.estimate_minutes.is_some());
            tasks.map(|node| (node.id.clone(), node.estimate_minutes)).collect::<Vec<_>>()
        };
        prop_assert_eq!(efforts(&stated), efforts(&usual), "{}", name);
        let repeats = !file.cycles.is_empty() || file.all_tasks().iter().any(|task| task.every.is_some());
        prop_assert!(repeats || stated.total_minutes == usual.total_minutes, "{}", name);
    }

    #[test]
    fn removing_a_task_lowers_the_total_by_its_effort(
        name in prop::sample::select(kind_names()), place in any::<prop::sample::Index>(),
    ) {
        let library = &*LIBRARY;
        let mut asked = context("something");
        asked.pattern = Some(library.named_blueprint(&name).unwrap().to_pattern());
        let mut outline = draft_outline(asked, library, TODAY, SubtypeProposals::Off).unwrap().outline;
        let preferences =
            RoadmapPreferences { approach: Some(PlanApproach::Balanced), conflict_minutes: 0 };
        let before = build_roadmap(&outline, library, preferences).unwrap().roadmap;
        let tree = before.node_tree();
        let leaves = tree.leaves(&before.root_id);
        let gone = leaves[place.index(leaves.len())];
        let effort = tree.total_minutes(&gone.id);
        // A group without tasks is no plan.
        let parent = gone.parent_id.clone().unwrap();
        prop_assume!(tree.children(&parent).count() > 1);
        outline.nodes.retain(|node| node.id != gone.id);
        let after = build_roadmap(&outline, library, preferences).unwrap().roadmap;
        prop_assert_eq!(after.total_minutes, before.total_minutes - effort, "{}: {}", name, gone.title);
    }
}

#[test]
fn an_answer_that_misses_the_stated_day_says_so() {
    let draft = plan("a company party on 2026-07-04 for 15 people").0;
    let question = draft.questions.iter().find(|question| question.key == "weekly_minutes");
    let choices = &question.expect("the hours are open").choices;
    let (slow, fast) = (choices.first().unwrap(), choices.last().unwrap());
    assert!(slow.effect.ends_with(" later than you said"), "{slow:?}");
    assert!(!fast.effect.contains("later than you said"), "{fast:?}");
}
