//! Complete plans from complete goals.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use jiff::civil::{Date, date};
use proptest::prelude::*;

use super::estimate::total_effort;
use super::*;
use planwright_model::{
    AssumptionOrigin, LinkKind, NodeTree, PatternType, PlanContext, PlanNode, Recurrence, Roadmap,
};

/// 2026-06-05 is a Friday; plans start on the Monday after it.
const TODAY: Date = date(2026, 6, 5);

static LIBRARY: LazyLock<TemplateLibrary> = LazyLock::new(TemplateLibrary::built_in);

fn context(goal: &str) -> PlanContext {
    PlanContext::new(goal, date(2026, 6, 8), "Europe/Berlin")
}

fn plan(goal: &str) -> (OutlineDraft, Roadmap) {
    let library = &*LIBRARY;
    let draft = draft_outline(context(goal), library, TODAY, SubtypeProposals::Allowed).unwrap();
    let built = build_roadmap(&draft.outline, library, RoadmapPreferences::default()).unwrap();
    (draft, built.roadmap)
}

fn phase_minutes(roadmap: &Roadmap) -> Vec<u32> {
    let tree = roadmap.node_tree();
    tree.children(&roadmap.root_id)
        .filter(|node| !tree.is_leaf(&node.id))
        .map(|node| tree.total_minutes(&node.id))
        .collect()
}

#[test]
fn example_17_the_newsletter_is_sized_and_only_the_hours_are_asked() {
    let (draft, roadmap) = plan("launch a newsletter in 6 weeks");
    assert_eq!(roadmap.total_minutes, 2880);
    assert_eq!(phase_minutes(&roadmap), [435, 1005, 720, 435, 285]);
    let hours = draft.outline.plan_context.find_assumption("weekly_minutes").unwrap();
    assert_eq!((hours.value.as_str(), hours.origin), ("600", AssumptionOrigin::Template));
    let asked: Vec<&str> = draft.questions.iter().map(|question| question.key.as_str()).collect();
    assert_eq!(asked, ["weekly_minutes"]);
    let overlap = roadmap.dependencies.iter().find(|link| link.kind == LinkKind::SS).unwrap();
    assert_eq!(
        (overlap.from.as_str(), overlap.to.as_str(), overlap.lag_minutes),
        ("p2", "p3", 495)
    );
}

#[test]
fn example_18_rust_and_the_marathon_are_sized() {
    let (_, rust) = plan("learn Rust, 5 hours a week");
    assert_eq!(rust.total_minutes, 3600);
    assert_eq!(phase_minutes(&rust), [1080, 1260, 900, 360]);
    assert_eq!(rust.context.cadence.as_deref(), Some("4 × 1 h 15 min a week"));

    let (draft, run) = plan("marathon training 16 weeks");
    let tree = run.node_tree();
    let phases: Vec<_> = tree.children(&run.root_id).collect();
    let weeks =
        |phase: &PlanNode| tree.children(&phase.id).filter(|node| !tree.is_leaf(&node.id)).count();
    assert_eq!(phases.iter().map(|phase| weeks(phase)).collect::<Vec<_>>(), [6, 5, 3, 2]);
    let loads: Vec<u32> = phases
        .iter()
        .flat_map(|phase| tree.children(&phase.id))
        .filter(|week| !tree.is_leaf(&week.id))
        .map(|week| tree.total_minutes(&week.id))
        .collect();
    assert_eq!(
        loads,
        [115, 125, 140, 110, 155, 170, 185, 150, 205, 225, 250, 200, 275, 300, 225, 150]
    );
    assert!(draft.notes.iter().any(|note| note.contains("professional on pain")));
}

#[test]
fn three_options_are_compared_and_one_is_chosen() {
    let (_, roadmap) = plan("launch a newsletter in 6 weeks");
    let efforts: Vec<_> = roadmap
        .options_tried
        .iter()
        .map(|option| (option.id.as_str(), option.effort_minutes, option.span_weeks))
        .collect();
    assert_eq!(efforts, [("balanced", 2880, 6), ("lean", 2160, 5), ("thorough", 3600, 8)]);
    assert_eq!(roadmap.chosen_option().map(|option| option.id.as_str()), Some("balanced"));
    // .5·1 + .3·(1 − 2880/3600) + .2·1
    assert!((roadmap.options_tried[0].score - 0.76).abs() < 1e-9);
    assert_eq!(
        roadmap.options_tried[1].summary,
        "12 h less, 1 week shorter, medium risk instead of low"
    );
}

#[test]
fn excess_effort_selects_the_lean_approach_and_lists_omitted_tasks() {
    let library = &*LIBRARY;
    let drafted = draft_outline(
        context("launch a newsletter by 9 June"),
        library,
        TODAY,
        SubtypeProposals::Allowed,
    )
    .unwrap();
    let built = build_roadmap(&drafted.outline, library, RoadmapPreferences::default()).unwrap();
    assert_eq!(built.roadmap.chosen_option().map(|option| option.id.as_str()), Some("lean"));
    assert_eq!(built.removed.iter().map(ToString::to_string).collect::<Vec<_>>(), ["p3.t3"]);
    assert!(built.roadmap.find_node(&"p3.t3".into()).is_none());
}

#[test]
fn the_approach_that_the_person_chooses_is_used() {
    let library = &*LIBRARY;
    let drafted = draft_outline(
        context("launch a newsletter in 6 weeks"),
        library,
        TODAY,
        SubtypeProposals::Allowed,
    )
    .unwrap();
    let preferences =
        RoadmapPreferences { approach: Some(PlanApproach::Thorough), conflict_minutes: 0 };
    let built = build_roadmap(&drafted.outline, library, preferences).unwrap();
    assert_eq!(built.added.len(), 5);
    assert_eq!(built.roadmap.total_minutes, 3600);
    assert_eq!(built.roadmap.options_tried.iter().filter(|option| option.chosen).count(), 1);
}

#[test]
fn drafting_is_idempotent() {
    let library = &*LIBRARY;
    let first =
        draft_outline(context("learn Rust"), library, TODAY, SubtypeProposals::Allowed).unwrap();
    let second = draft_outline(
        first.outline.plan_context.clone(),
        library,
        TODAY,
        SubtypeProposals::Allowed,
    )
    .unwrap();
    assert_eq!(first.outline, second.outline);
    let keys: Vec<_> = second.questions.iter().map(|question| question.key.as_str()).collect();
    assert_eq!(keys, ["horizon_weeks", "weekly_minutes", "level"]);
}

#[test]
fn stated_hours_are_used_in_full() {
    let library = &*LIBRARY;
    let mut stated = context("learn Rust in 12 weeks");
    stated.constraints.weekly_minutes = Some(300);
    let outline = draft_outline(stated, library, TODAY, SubtypeProposals::Allowed).unwrap().outline;
    assert_eq!(
        build_roadmap(&outline, library, RoadmapPreferences::default())
            .unwrap()
            .roadmap
            .total_minutes,
        3600
    );
    assert_eq!(plan("learn Rust in 12 weeks").1.total_minutes, 2880);
}

#[test]
fn removing_or_adding_a_task_keeps_the_total() {
    let library = &*LIBRARY;
    let mut outline = plan("launch a newsletter in 6 weeks").0.outline;
    outline.nodes.retain(|node| node.id.as_str() != "p2.t2");
    let parent = outline.find_node(&"p2".into()).unwrap().clone();
    let mut own =
        PlanNode::new_child(&parent, "own", planwright_model::NodeType::Task, "Ask a friend");
    own.position = 9;
    outline.nodes.push(own);
    let roadmap = build_roadmap(&outline, library, RoadmapPreferences::default()).unwrap().roadmap;
    assert_eq!(roadmap.total_minutes, 2880);
    let linked = |from: &str, to: &str| {
        roadmap.dependencies.iter().any(|link| link.from.as_str() == from && link.to.as_str() == to)
    };
    assert!(linked("p2.t1", "p2.t3") && linked("p2.t4", "own"));
}

#[test]
fn the_persons_template_is_selected_by_its_cue() {
    let text = "pattern = \"milestone_project\"\nsubtype = \"sourdough\"\ncues = [\"sourdough\"]\nweeks = 2\n\
        weekly_minutes = 120\n[[phase]]\ntitle = \"Bake {the subject}\"\nshare = 100\n[[phase.task]]\n\
        title = \"Bake one loaf\"\ndone_when = \"it is eaten\"\n";
    let (library, errors) =
        TemplateLibrary::with_own(&[TemplateSource { name: "sourdough.toml", text }], &[]);
    assert_eq!(errors, []);
    let drafted =
        draft_outline(context("a sourdough bread"), &library, TODAY, SubtypeProposals::Allowed)
            .unwrap();
    assert_eq!(drafted.pick.pattern.subtype.as_deref(), Some("sourdough"));
    assert_eq!(drafted.outline.find_node(&"p1".into()).unwrap().title, "Bake the sourdough bread");
}

#[test]
fn nothing_depends_on_endless_recurring_work() {
    let (_, roadmap) = plan("take medication every day at 8");
    assert!(roadmap.dependencies.iter().all(|link| link.from.as_str() != "c1"));
    assert_eq!(roadmap.critical_path.len(), 3);
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
    let wrong = PlanContext::new("finish the report by Friday", date(2026, 6, 8), "Mars/Olympus");
    let drafted = draft_outline(wrong, &LIBRARY, TODAY, SubtypeProposals::Allowed).unwrap();
    assert!(drafted.notes.iter().any(|note| note.contains("Mars/Olympus")));
}

/// Renders a plan as a person would read it.
fn readable(goal: &str) -> String {
    let (draft, roadmap) = plan(goal);
    let mut out = String::new();
    let spec = &draft.pick.pattern;
    writeln!(
        out,
        "{} / {} ({})",
        spec.pattern_type,
        spec.subtype.as_deref().unwrap_or("-"),
        draft.pick.confidence
    )
    .unwrap();
    let tree = roadmap.node_tree();
    for node in tree.subtree(&roadmap.root_id) {
        let indent = "  ".repeat(usize::from(node.level) - 1);
        let minutes = tree.total_minutes(&node.id);
        let repeats = node.recurrence.as_ref().map(repeats).unwrap_or_default();
        let marks = [(node.milestone, " ◆"), (node.optional, " (optional)")];
        let marks: String = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
        writeln!(out, "{indent}{} {} [{minutes}]{marks}{repeats}", node.id, node.title).unwrap();
        if tree.is_leaf(&node.id) {
            writeln!(out, "{indent}   → {}", node.done_when).unwrap();
        }
    }
    for link in &roadmap.dependencies {
        let basis = if link.lag_minutes == 0 {
            String::new()
        } else {
            format!(" +{} {:?}", link.lag_minutes, link.lag_basis)
        };
        write!(out, "{}→{} {:?}{basis} · ", link.from, link.to, link.kind).unwrap();
    }
    writeln!(
        out,
        "\ncritical: {}",
        roadmap.critical_path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    )
    .unwrap();
    for option in &roadmap.options_tried {
        writeln!(
            out,
            "{}{}: {} · {} · {}",
            if option.chosen { "*" } else { " " },
            option.label,
            option.summary,
            option.score,
            option.rationale
        )
        .unwrap();
    }
    for assumption in &draft.outline.plan_context.assumptions {
        writeln!(out, "assumed {} = {}", assumption.key, assumption.value).unwrap();
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
fn drafts_the_newsletter() {
    insta::assert_snapshot!(readable("launch a newsletter in 6 weeks"));
}

#[test]
fn drafts_learning_rust() {
    insta::assert_snapshot!(readable("learn Rust, 5 hours a week"));
}

#[test]
fn drafts_the_migration() {
    insta::assert_snapshot!(readable("migrate service X from Python to Rust"));
}

#[test]
fn drafts_the_marathon() {
    insta::assert_snapshot!(readable("marathon training 16 weeks"));
}

#[test]
fn drafts_the_weekly_review() {
    insta::assert_snapshot!(readable("weekly review routine"));
}

#[test]
fn drafts_the_medication() {
    insta::assert_snapshot!(readable("take medication every day at 8"));
}

#[test]
fn drafts_a_blog_post_every_week() {
    insta::assert_snapshot!(readable("write one blog post every week"));
}

#[test]
fn drafts_becoming_a_data_scientist() {
    insta::assert_snapshot!(readable("become a data scientist"));
}

#[test]
fn drafts_a_small_task() {
    insta::assert_snapshot!(readable("call the dentist"));
}

/// Checks the properties of every goal's plan.
fn check_plan(goal: &str) -> Result<(), TestCaseError> {
    let library = &*LIBRARY;
    let Ok(drafted) = draft_outline(context(goal), library, TODAY, SubtypeProposals::Allowed)
    else {
        prop_assert!(goal.trim().is_empty());
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
    check_sum(&drafted, &balanced.roadmap, library)
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
    prop_assert_eq!(
        roadmap
            .options_tried
            .iter()
            .filter(|option| option.chosen && !option.rationale.is_empty())
            .count(),
        1
    );
    Ok(())
}

/// The estimates of phases sum to E, unless E is less than a quarter of an hour for each task.
fn check_sum(
    drafted: &OutlineDraft,
    roadmap: &Roadmap,
    library: &TemplateLibrary,
) -> Result<(), TestCaseError> {
    let goal = draft::parse_outline_goal(&drafted.outline);
    let Some(template) =
        drafted.outline.pattern.as_ref().and_then(|spec| library.find_template(spec))
    else {
        return Ok(());
    };
    let size = facts::measure_plan(&drafted.outline.plan_context, &goal, template);
    let leaves = roadmap.node_tree().leaves(&roadmap.root_id).len() as u32;
    if template.sizing == template::TemplateSizing::Shares && size.effort >= 15 * leaves + 600 {
        prop_assert_eq!(total_effort(&roadmap.nodes, &roadmap.root_id, size.weeks()), size.effort);
        if drafted.pick.pattern.pattern_type != PatternType::StrategicTransformation {
            prop_assert_eq!(roadmap.total_minutes, size.effort);
        }
    }
    Ok(())
}

#[test]
fn unusual_goals_give_complete_plans() {
    for goal in [
        "x",
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
    ] {
        check_plan(goal).unwrap_or_else(|error| panic!("{goal}: {error}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_goal_gives_a_complete_plan(goal in any::<String>()) {
        check_plan(&goal)?;
    }

    #[test]
    fn any_mix_of_cues_gives_a_complete_plan(parts in prop::collection::vec(prop::sample::select(vec![
        "launch", "learn", "Rust", "marathon", "training", "weekly", "review", "routine", "become", "company", "post", "every",
        "week", "a", "one", "in", "6", "weeks", "5", "hours", "from", "Python", "to", "by", "Friday", "day", "at", "8", "buy",
        "protocol", "proposed:my_way", "20", "minutes", "month", "project", "per", "migrate", "all", "services", "2026-07-10",
    ]), 1..10)) {
        check_plan(&parts.join(" "))?;
    }
}
