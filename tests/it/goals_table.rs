//! The goals that the offline planner is measured by, as a table: kind, tasks, hours, span, facts read and not read.
//! `cargo test --test it goals_table -- --nocapture` prints it. The list is not part of the repository; without it the
//! test says that it skips.

use jiff::civil::{Date, date};

use planwright_drafting::goal_reading::read_goal;
use planwright_drafting::offline::{
    Goal, GoalParseContext, KindVerdict, RoadmapPreferences, SubtypeProposals, TemplateLibrary,
    build_roadmap, draft_outline, select_kind,
};
use planwright_model::PlanContext;
use planwright_text::units;

/// A Tuesday.
const TODAY: Date = date(2026, 11, 17);

/// The kinds of plan that the second column of the list stands for: names of blueprints or of their families.
const KINDS: [(&str, &[&str]); 34] = [
    ("product or publication launch", &["newsletter_launch", "product_launch"]),
    ("course of learning", &["learning"]),
    ("training for an event", &["training"]),
    ("routine", &["habit"]),
    ("system migration", &["system_migration"]),
    ("event", &["event"]),
    ("bug hunt", &["bug_hunt", "flaky_tests"]),
    ("thesis", &["thesis"]),
    ("move", &["move_house"]),
    ("talk", &["conference_talk"]),
    ("software feature", &["software_feature", "auth_feature"]),
    ("health goal", &["health"]),
    ("hiring", &["hiring"]),
    ("fleet migration", &["fleet_migration"]),
    ("renovation", &["renovation"]),
    ("fundraising", &["fundraising_round"]),
    ("infrastructure set-up", &["infrastructure_setup"]),
    ("investigation", &["production_investigation"]),
    ("saving", &["save_money"]),
    ("small task", &["small"]),
    ("book", &["novel", "nonfiction_book"]),
    ("short text", &["blog_post"]),
    ("paperwork", &["paperwork"]),
    ("certificate", &["certificate"]),
    ("purchase", &["purchase"]),
    ("application", &["daycare_place", "school_application"]),
    ("interview preparation", &["exam"]),
    ("performance work", &["performance_work", "build_time"]),
    ("new business", &["new_business"]),
    ("content project", &["translate_docs"]),
    ("study", &["usability_study"]),
    ("household", &["household"]),
    ("routine with set-up", &["habit"]),
    ("organizational change", &["organizational_change"]),
];

/// One row of the table.
struct GoalRow {
    goal: String,
    wanted: String,
    kind: String,
    is_right: bool,
    tasks: usize,
    hours: String,
    weeks: u16,
    read: String,
    not_read: String,
}

#[test]
fn goals_table_has_the_right_kind_for_nearly_every_goal() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/planning/goals.txt");
    let Ok(list) = std::fs::read_to_string(path) else {
        println!("skipped: the list of goals is not beside the repository");
        return;
    };
    let library = TemplateLibrary::built_in();
    let lines = list.lines().filter(|line| !line.starts_with('#') && line.contains('|'));
    let rows: Vec<GoalRow> = lines.map(|line| measure_goal(line, &library)).collect();
    println!("goal | kind | tasks | hours | weeks | read | not read");
    for row in &rows {
        println!(
            "{} | {} | {} | {} | {} | {} | {}",
            row.goal, row.kind, row.tasks, row.hours, row.weeks, row.read, row.not_read
        );
    }
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| !row.is_right)
        .map(|row| format!("{}: {} instead of {}", row.goal, row.kind, row.wanted))
        .collect();
    println!("{} of {} have the right kind", rows.len() - wrong.len(), rows.len());
    assert!(rows.len() >= 40, "{}", rows.len());
    assert!(wrong.len() * 20 <= rows.len(), "{}", wrong.join("\n"));
}

fn measure_goal(line: &str, library: &TemplateLibrary) -> GoalRow {
    let mut columns = line.split('|');
    let (goal, wanted) = (columns.next().unwrap(), columns.next().unwrap());
    let reading = read_goal(goal, TODAY);
    let parsed = Goal::parse(goal, GoalParseContext::new(TODAY, 5));
    let pick = select_kind(&parsed, library, SubtypeProposals::Off);
    let best = pick.best().filter(|_| pick.verdict != KindVerdict::Unclear);
    let name = best.map_or("unclear", |best| best.name()).to_owned();
    let family = library.named_blueprint(&name).map(|file| file.family.clone()).unwrap_or_default();
    let mut row = GoalRow {
        goal: goal.to_owned(),
        wanted: wanted.to_owned(),
        is_right: is_right_kind(wanted, &name, &family),
        kind: match pick.verdict {
            KindVerdict::Unsure => format!("{name} (asked)"),
            _ => name,
        },
        tasks: 0,
        hours: "–".to_owned(),
        weeks: 0,
        read: reading.read.join(", "),
        not_read: reading.not_read.join(", "),
    };
    if pick.verdict == KindVerdict::Unclear {
        return row;
    }
    let context = PlanContext::new(goal, TODAY.tomorrow().unwrap(), "Europe/Berlin");
    let draft = draft_outline(context, library, TODAY, SubtypeProposals::Off).unwrap();
    let built = build_roadmap(&draft.outline, library, RoadmapPreferences::default()).unwrap();
    let roadmap = built.roadmap;
    let tree = roadmap.node_tree();
    let leaves = tree.leaves(&roadmap.root_id);
    row.tasks = leaves.iter().filter(|leaf| !leaf.milestone).count();
    let chosen = roadmap.chosen_option().unwrap();
    row.hours = units::format_planned(chosen.effort_minutes.into());
    row.weeks = chosen.span_weeks;
    row
}

/// Whether a kind or its family is among those that the words stand for.
fn is_right_kind(wanted: &str, name: &str, family: &str) -> bool {
    let listed = KINDS.iter().find(|(words, _)| *words == wanted).map(|(_, kinds)| *kinds);
    match (listed, wanted) {
        (Some(kinds), _) => kinds.contains(&name) || kinds.contains(&family),
        (None, "series") => family == "series",
        (None, "unclear") => name == "unclear",
        (None, _) => false,
    }
}
