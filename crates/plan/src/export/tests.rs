use jiff::Timestamp;
use jiff::civil::{date, time};
use proptest::prelude::*;

use super::*;
use crate::check::BlockReport;
use crate::plan_file_schedule::{LocalContext, schedule_plan_file};
use planwright_model::{
    FileCalendar, NodeType, Plan, PlanNode, PlanOutline, Recurrence, RecurrenceFrequency, TaskLink,
    TaskNode,
};
use planwright_schedule::{ScheduleRequest, critical_path, schedule_roadmap};

struct Fixture {
    context: PlanContext,
    roadmap: Roadmap,
    schedule: Schedule,
}

impl Fixture {
    fn plan(&self) -> PlanExport<'_> {
        PlanExport {
            context: &self.context,
            roadmap: &self.roadmap,
            schedule: Some(&self.schedule),
            run: None,
        }
    }
}

/// A phase of two tasks, a milestone, and a daily dose at 8 across the clock change of 2026-03-29.
fn fixture(title: &str) -> Fixture {
    let mut context = PlanContext::new("Get well", date(2026, 3, 26), "Europe/Berlin");
    context.constraints.horizon_weeks = Some(1);
    let mut outline = PlanOutline::new("g", context.clone());
    let phase = PlanNode::new_child(&outline.nodes[0], "p", NodeType::Phase, "Begin");
    for (position, id, minutes) in [(0, "p.a", 90), (1, "p.b", 200)] {
        let mut task = PlanNode::new_child(&phase, id, NodeType::Task, format!("{title} {id}"));
        task.position = position;
        task.estimate_minutes = Some(minutes);
        task.done_when = "it is done; really, \"done\"".into();
        outline.nodes.push(task);
    }
    let mut end = PlanNode::new_child(&outline.nodes[0], "end", NodeType::Task, "All done");
    end.milestone = true;
    end.position = 2;
    let mut dose = PlanNode::new_child(&outline.nodes[0], "dose", NodeType::Task, "Take the dose");
    dose.position = 1;
    dose.estimate_minutes = Some(5);
    let at_local = Some(time(8, 0, 0, 0));
    dose.recurrence =
        Some(Recurrence { at_local, ..Recurrence::every(RecurrenceFrequency::Daily) });
    outline.nodes.extend([phase, dose, end]);
    let links = vec![
        NodeDependency::finish_to_start("p.a", "p.b").with_lag(30),
        NodeDependency::finish_to_start("p", "end"),
    ];
    let mut roadmap = Roadmap::new(&outline, links);
    roadmap.critical_path = critical_path(&roadmap);
    let schedule = schedule_roadmap(&ScheduleRequest::new(&roadmap, &context)).unwrap();
    Fixture { context, roadmap, schedule }
}

fn stamp() -> Timestamp {
    "2026-03-25T12:00:00Z".parse().unwrap()
}

fn edition(plan_id: &str) -> CalendarEdition<'_> {
    CalendarEdition { plan_id, stamp: stamp(), revision: 7 }
}

fn spans(schedule: &Schedule) -> Vec<(Timestamp, Timestamp)> {
    schedule.blocks.iter().map(|block| (block.start.at, block.end.at)).collect()
}

#[test]
fn a_daily_dose_keeps_its_hour_across_the_clock_change() {
    let fixture = fixture("Task");
    let doses: Vec<String> = fixture
        .schedule
        .blocks_for_node(&"dose".into())
        .map(|block| block.start.to_string())
        .collect();
    assert_eq!(doses.len(), 7);
    assert_eq!(doses[2], "2026-03-28T08:00:00+01:00");
    assert_eq!(doses[3], "2026-03-29T08:00:00+02:00");
}

#[test]
fn a_calendar_reads_back_as_the_same_instants() {
    let fixture =
        fixture("Größe, Gewicht; und \\ Puls\nüber mehrere Zeilen und mit sehr viel Text dahinter");
    let text = render_ical(&fixture.plan(), &edition("plan-1"), &[]).unwrap();
    assert!(text.split("\r\n").all(|line| line.len() <= 75 && !line.contains('\n')));
    assert_eq!(text.matches("RRULE:FREQ=DAILY;COUNT=7").count(), 1);
    assert_eq!(text.matches("BEGIN:VTIMEZONE").count(), 1);
    assert!(text.contains(
        "BEGIN:DAYLIGHT\r\nDTSTART:20260329T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200"
    ));
    let end = fixture.schedule.horizon_end.at.max(fixture.schedule.finish_time().unwrap().at);
    let import = read_ical(&text, "UTC", fixture.schedule.horizon_start.at, end).unwrap();
    assert_eq!(import.warnings, Vec::<String>::new());
    let found: Vec<_> = import.events.iter().map(|event| (event.start.at, event.end.at)).collect();
    assert_eq!(found, spans(&fixture.schedule));
    assert!(import.events.iter().any(|event| event.title.contains("Gewicht; und \\ Puls\nüber")));
}

#[test]
fn another_parser_accepts_the_calendar() {
    use icalendar::{Calendar, CalendarComponent, Component};
    let fixture = fixture("Größe, Gewicht; und Puls");
    let text = render_ical(&fixture.plan(), &edition("plan-1"), &[]).unwrap();
    let calendar: Calendar = text.parse().unwrap();
    let events = calendar.components.iter().filter_map(|component| match component {
        CalendarComponent::Event(event) => Some(event),
        _ => None,
    });
    let mut titles: Vec<&str> = events.clone().filter_map(|event| event.get_summary()).collect();
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(
        titles,
        ["Größe, Gewicht; und Puls p.a", "Größe, Gewicht; und Puls p.b", "Take the dose"]
    );
    assert!(events.clone().all(|event| event.get_start().is_some() && event.get_end().is_some()));
    assert_eq!(events.filter_map(|event| event.property_value("RRULE")).count(), 1);
}

#[test]
fn a_calendar_is_the_same_for_the_same_plan() {
    let (one, two) = (fixture("Task"), fixture("Task"));
    assert_eq!(
        render_ical(&one.plan(), &edition("x"), &[]),
        render_ical(&two.plan(), &edition("x"), &[])
    );
    assert!(
        render_ical(&one.plan(), &edition("x"), &[]).unwrap().contains("UID:x/p.a#1@planwright")
    );
}

/// The properties of each event of a calendar by its id, as a program that imports it twice would keep them.
fn import_into(kept: &mut std::collections::BTreeMap<String, (u32, bool, String)>, text: &str) {
    use icalendar::{Calendar, CalendarComponent, Component};
    let calendar: Calendar = text.parse().unwrap();
    for component in &calendar.components {
        let CalendarComponent::Event(event) = component else { continue };
        let number = event.property_value("SEQUENCE").unwrap().parse().unwrap();
        let id = event.get_uid().unwrap().to_owned();
        if kept.get(&id).is_some_and(|(known, ..)| *known > number) {
            continue;
        }
        let canceled = event.property_value("STATUS") == Some("CANCELLED");
        let start = event.property_value("DTSTART").unwrap().to_owned();
        kept.insert(id, (number, canceled, start));
    }
}

#[test]
fn a_second_import_changes_what_the_first_brought_and_doubles_nothing() {
    let before = fixture("Task");
    let mut after = fixture("Task");
    // The second piece of a task is gone, and another task starts an hour later.
    let gone = after.schedule.blocks.iter().position(|block| block.id == "p.b#2").unwrap();
    after.schedule.blocks.remove(gone);
    let moved = after.schedule.blocks.iter_mut().find(|block| block.id == "p.a#1").unwrap();
    (moved.start, moved.end) = (moved.start.plus_minutes(60), moved.end.plus_minutes(60));
    let mut kept = std::collections::BTreeMap::new();
    import_into(&mut kept, &render_ical(&before.plan(), &edition("s"), &[]).unwrap());
    let first = kept.clone();
    let later = CalendarEdition { revision: 8, ..edition("s") };
    let text = render_ical(&after.plan(), &later, &[&before.schedule, &after.schedule]).unwrap();
    import_into(&mut kept, &text);
    assert_eq!(kept.keys().collect::<Vec<_>>(), first.keys().collect::<Vec<_>>());
    assert_eq!(kept["s/p.a#1@planwright"], (8, false, "20260326T100000".to_owned()));
    assert!(kept["s/p.b#2@planwright"].1, "{kept:?}");
    assert_eq!(kept.values().filter(|(_, canceled, _)| *canceled).count(), 1);
    // What is canceled is not read back as an event.
    let (from, until) = (after.schedule.horizon_start.at, after.schedule.horizon_end.at);
    let import = read_ical(&text, "UTC", from, until).unwrap();
    assert_eq!(import.events.len(), after.schedule.blocks.len());
}

#[test]
fn tasks_are_to_dos_that_say_how_far_they_are() {
    use icalendar::{Calendar, CalendarComponent, Component};
    let fixture = fixture("Task");
    let ended = Some("2026-03-26T11:00:00Z".parse().unwrap());
    let done = ExportedTask { status: ExportedStatus::Done, started: None, ended };
    let run = ExportedRun::from([("p.a".into(), done)]);
    let plan = PlanExport { run: Some(&run), ..fixture.plan() };
    let calendar: Calendar = render_ical(&plan, &edition("s"), &[]).unwrap().parse().unwrap();
    let todos: Vec<[Option<&str>; 4]> = calendar
        .components
        .iter()
        .filter_map(|component| match component {
            CalendarComponent::Todo(todo) => {
                Some(["UID", "STATUS", "DUE", "COMPLETED"].map(|name| todo.property_value(name)))
            }
            _ => None,
        })
        .collect();
    let uid = |id: &'static str| Some(id);
    assert_eq!(
        todos,
        [
            [
                uid("s/p.a!todo@planwright"),
                Some("COMPLETED"),
                Some("20260326T103000"),
                Some("20260326T110000Z")
            ],
            [uid("s/p.b!todo@planwright"), Some("NEEDS-ACTION"), Some("20260327T102000"), None],
            [uid("s/end!todo@planwright"), Some("NEEDS-ACTION"), None, None],
        ]
    );
}

#[test]
fn dates_set_by_hand_are_to_dos_without_a_calendar() {
    let mut plan = Plan { title: "Release".into(), ..Plan::default() };
    plan.tasks.push(TaskNode::new("free", "Whenever"));
    plan.tasks.push(TaskNode::new("tax", "File the return"));
    plan.tasks[1].due = Some(planwright_model::PlanDate::on_day(date(2027, 5, 31)));
    let run = ExportedRun::new();
    let text = render_graph_ical(&plan, None, &run, &edition("s")).unwrap();
    assert!(text.contains("DUE;VALUE=DATE:20270531"), "{text}");
    assert_eq!((text.matches("BEGIN:VTODO").count(), text.matches("BEGIN:VEVENT").count()), (1, 0));
}

#[test]
fn an_occurrence_that_moved_becomes_an_exception_and_an_event() {
    let mut fixture = fixture("Task");
    let late = fixture.schedule.blocks.iter().position(|block| block.id == "dose@3#1").unwrap();
    let block = &mut fixture.schedule.blocks[late];
    (block.start, block.end) = (block.start.plus_minutes(15), block.end.plus_minutes(15));
    let text = render_ical(&fixture.plan(), &edition("x"), &[]).unwrap();
    assert!(text.contains("EXDATE;TZID=Europe/Berlin:20260328T080000"));
    let (from, until) = (fixture.schedule.horizon_start.at, fixture.schedule.horizon_end.at);
    let import = read_ical(&text, "UTC", from, until).unwrap();
    let found: Vec<_> = import.events.iter().map(|event| (event.start.at, event.end.at)).collect();
    let mut expected = spans(&fixture.schedule);
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn renders_the_plan_as_markdown() {
    insta::assert_snapshot!(render_markdown(&fixture("Task *one*").plan()));
}

#[test]
fn renders_the_plan_as_mermaid() {
    let fixture = fixture("Task: \"one\"");
    insta::assert_snapshot!(
        render_gantt(&fixture.plan()) + "\n" + &render_flowchart(&fixture.plan())
    );
}

#[test]
fn renders_the_plan_as_dot() {
    insta::assert_snapshot!(render_dot(&fixture("Task \"one\"").plan()));
}

#[test]
fn the_json_export_is_complete() {
    let fixture = fixture("Task");
    let value: serde_json::Value =
        serde_json::from_str(&render_json(&fixture.plan()).unwrap()).unwrap();
    assert_eq!(
        serde_json::from_value::<Schedule>(value["schedule"].clone()).unwrap(),
        fixture.schedule
    );
    assert_eq!(
        serde_json::from_value::<Roadmap>(value["roadmap"].clone()).unwrap(),
        fixture.roadmap
    );
}

#[test]
fn a_task_graph_has_the_same_formats() {
    let mut plan = Plan { title: "Release".into(), ..Plan::default() };
    for (id, minutes) in [("build", 30), ("docs", 20), ("ship", 10)] {
        let mut task = TaskNode::new(id, format!("Do the {id}"));
        task.duration_minutes = Some(minutes);
        plan.tasks.push(task);
    }
    plan.tasks[2].dependencies = vec![
        TaskLink::finish_to_start("build"),
        TaskLink { lag_minutes: 15, ..TaskLink::finish_to_start("docs") },
    ];
    let local = LocalContext { tz: "UTC".into(), first_day: date(2026, 6, 1) };
    let report = schedule_plan_file(&plan, &local).unwrap().unwrap();
    assert_eq!((report.makespan_minutes, report.lower_bound_minutes), (60, 60));
    insta::assert_snapshot!(
        [
            render_graph_markdown(&plan, Some(&report)),
            render_graph_flowchart(&plan, &ExportedRun::new(), &jiff::tz::TimeZone::UTC),
            render_graph_dot(&plan, &ExportedRun::new(), &jiff::tz::TimeZone::UTC),
            render_graph_gantt(&plan, &report, local.first_day),
        ]
        .join("\n")
    );
}

#[test]
fn a_plan_file_with_a_calendar_is_a_calendar_too() {
    let mut plan = Plan { title: "Release".into(), ..Plan::default() };
    for (id, minutes) in [("build", 90), ("ship", 30)] {
        let mut task = TaskNode::new(id, format!("Do the {id}"));
        task.duration_minutes = Some(minutes);
        plan.tasks.push(task);
    }
    plan.tasks[1].dependencies = vec![TaskLink::finish_to_start("build")];
    plan.calendar = Some(FileCalendar { start: Some(date(2026, 6, 1)), ..FileCalendar::default() });
    let local = LocalContext { tz: "Europe/Berlin".into(), first_day: date(2026, 5, 1) };
    let report = schedule_plan_file(&plan, &local).unwrap().unwrap();
    let run = ExportedRun::new();
    let text = render_graph_ical(&plan, Some(&report), &run, &edition("s")).unwrap();
    insta::assert_snapshot!(render_graph_gantt(&plan, &report, local.first_day));
    let (from, to) = ("2026-05-01T00:00:00Z".parse().unwrap(), "2026-08-01T00:00:00Z".parse());
    let import = read_ical(&text, "UTC", from, to.unwrap()).unwrap();
    assert_eq!(import.warnings, Vec::<String>::new());
    let found: Vec<_> = import.events.iter().map(|event| (event.start.at, event.end.at)).collect();
    let placed = |block: &BlockReport| Some((block.start_at?.at, block.finish_at?.at));
    let placed: Vec<_> = report.blocks.iter().filter_map(placed).collect();
    assert_eq!((found.len(), &found), (2, &placed));
    assert!(text.contains("UID:s/build@planwright"), "{text}");
}

#[test]
fn a_run_is_exported_with_its_status_and_its_real_times() {
    let mut plan = Plan { title: "Release: 2.0".into(), ..Plan::default() };
    for id in ["build", "docs", "ship"] {
        plan.tasks.push(TaskNode::new(id, format!("Do the {id}")));
    }
    plan.tasks[0].owner = "Ana".into();
    plan.tasks[2].dependencies = vec![TaskLink::finish_to_start("build")];
    let at = |millis: i64| Some(Timestamp::from_millisecond(1_780_000_000_000 + millis).unwrap());
    let task = |status, started, ended| ExportedTask { status, started, ended };
    let run = ExportedRun::from([
        ("build".into(), task(ExportedStatus::Failed, at(250), at(1_500))),
        ("docs".into(), task(ExportedStatus::Running, at(0), None)),
        ("ship".into(), task(ExportedStatus::Skipped, None, None)),
    ]);
    let now = at(2_000).unwrap();
    insta::assert_snapshot!(
        [
            render_graph_flowchart(&plan, &run, &jiff::tz::TimeZone::UTC),
            render_graph_dot(&plan, &run, &jiff::tz::TimeZone::UTC),
            render_run_gantt(&plan, &run, &jiff::tz::TimeZone::UTC, now),
            render_csv(&plan, &run, &jiff::tz::TimeZone::UTC),
        ]
        .join("\n")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_panics_the_parser(text in "(?s).{0,300}") {
        let _ = read_ical(&text, "Europe/Berlin", Timestamp::MIN, Timestamp::MAX);
    }

    #[test]
    fn no_event_panics_the_parser(
        start in "[0-9]{8}(T[0-9]{6}Z?)?", length in "P?[0-9]{0,20}[WDTHMS]{0,3}[0-9]{0,20}[HMS]?",
        rule in "(FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY))?(;(INTERVAL|COUNT|UNTIL|BYDAY|BYMONTHDAY|BYSETPOS)=[-0-9A-Z,]{0,12}){0,4}",
        zone in "[A-Za-z/]{0,20}",
    ) {
        let text = format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID={zone}:{start}\nDURATION:{length}\nRRULE:{rule}\nEND:VEVENT");
        let _ = read_ical(&text, "Europe/Berlin", stamp(), Timestamp::MAX);
    }

    #[test]
    fn any_title_survives_the_calendar(title in "\\PC{1,60}") {
        let fixture = fixture(&title);
        let text = render_ical(&fixture.plan(), &edition(&title), &[]).unwrap();
        let (from, until) = (fixture.schedule.horizon_start.at, fixture.schedule.horizon_end.at);
        let import = read_ical(&text, "UTC", from, until).unwrap();
        let wanted = format!("{title} p.a");
        prop_assert!(import.events.iter().any(|event| event.title == wanted));
        let graphs = [render_markdown(&fixture.plan()), render_gantt(&fixture.plan()), render_flowchart(&fixture.plan()), render_dot(&fixture.plan())];
        prop_assert!(graphs.iter().all(|graph| graph.lines().count() > 3));
    }
}
