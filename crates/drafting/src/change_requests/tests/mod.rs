//! What the reader understands, and what it leaves open.

mod effects;
mod listed_effects;
mod ordinary;
mod phrasings;
mod planned;
mod plans;
mod shared_requests;

use std::collections::BTreeSet;

use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use plans::{TODAY, newsletter};
use planwright_model::{LinkKind, LocalTimeInterval, NodeFields, NodePlace, Weekday};
use planwright_plan::edit;

fn reading(text: &str, marked: &[&str]) -> ParsedChangeRequest {
    let plan = newsletter();
    let marked: Vec<TaskId> = marked.iter().map(|id| TaskId::from(*id)).collect();
    parse_change_request(
        text,
        &ChangeRequestSource {
            outline: &plan.outline,
            roadmap: Some(&plan.roadmap),
            planned_end: None,
            marked: &marked,
            today: TODAY,
        },
    )
}

fn read_edits(read: &ParsedChangeRequest) -> Vec<PlanEdit> {
    read.edits().cloned().collect()
}

fn read_limits(read: &ParsedChangeRequest) -> Vec<ContextChange> {
    read.context_changes().cloned().collect()
}

fn open_texts(read: &ParsedChangeRequest) -> Vec<&str> {
    read.open_clauses().map(|(text, _)| text).collect()
}

fn approach(read: &ParsedChangeRequest) -> Option<PlanApproach> {
    read.clauses.iter().find_map(|clause| match clause.change {
        RequestedChange::Approach(approach) => Some(approach),
        _ => None,
    })
}

#[track_caller]
fn edits(text: &str, marked: &[&str], wanted: &[PlanEdit]) {
    let found = reading(text, marked);
    assert_eq!(read_edits(&found), wanted, "{text}: {found:?}");
    assert!(open_texts(&found).is_empty() && read_limits(&found).is_empty(), "{text}: {found:?}");
}

#[track_caller]
fn limits(text: &str, wanted: &[ContextChange]) {
    let found = reading(text, &[]);
    assert_eq!(read_limits(&found), wanted, "{text}: {found:?}");
    assert!(open_texts(&found).is_empty() && read_edits(&found).is_empty(), "{text}: {found:?}");
}

#[track_caller]
fn unread(text: &str, wanted: &[&str]) {
    assert_eq!(open_texts(&reading(text, &[])), wanted, "{text}");
}

fn estimate(node: &str, minutes: u32) -> PlanEdit {
    PlanEdit::SetEstimate { node: node.into(), minutes }
}

fn link(from: &str, to: &str) -> PlanEdit {
    PlanEdit::Link { from: from.into(), to: to.into(), kind: LinkKind::FS, lag_minutes: 0 }
}

#[test]
fn owners_dates_and_parts_are_read() {
    use planwright_model::{DateField, SplitPart, TaskAssignee};
    let assign =
        |node: &str, owner: &str| PlanEdit::Assign { node: node.into(), owner: owner.into() };
    edits("assign p2.t1 to Anna", &[], &[assign("p2.t1", "Anna")]);
    edits("Anna Meyer does p2.t1", &[], &[assign("p2.t1", "Anna Meyer")]);
    edits("give it to me", &["p2.t1"], &[assign("p2.t1", "")]);
    let agent = PlanEdit::SetDoer {
        node: "p2.t1".into(),
        doer: TaskAssignee::Agent,
        command: None,
        agent: None,
    };
    edits("give p2.t1 to the agent", &[], &[agent]);
    let due = |node: &str, field, day: &str| PlanEdit::SetDate {
        node: node.into(),
        field,
        date: Some(day.parse().unwrap()),
    };
    edits("p2.t1 is due on 2026-06-20", &[], &[due("p2.t1", DateField::Due, "2026-06-20")]);
    edits("p2.t1 not before 2026-06-20", &[], &[due("p2.t1", DateField::NotBefore, "2026-06-20")]);
    edits("p2.t1 starts on 2026-06-20", &[], &[due("p2.t1", DateField::FixedStart, "2026-06-20")]);
    let part = |title: &str| SplitPart { title: title.into(), minutes: None };
    let split =
        PlanEdit::Split { node: "p2.t1".into(), into: vec![part("Write it"), part("Set it")] };
    edits("split p2.t1 into Write it and Set it", &[], &[split]);
    let merge =
        PlanEdit::Merge { nodes: vec!["p2.t1".into(), "p2.t2".into()], into: "Both".into() };
    edits("merge p2.t1 and p2.t2 into Both", &[], &[merge]);
    unread("give it some thought", &["give it some thought"]);
}

fn moved(node: &str, parent: &str, position: u16) -> PlanEdit {
    PlanEdit::Move { node: node.into(), parent: parent.into(), position }
}

#[test]
fn parses_estimates() {
    edits("landing page takes 3 hours", &[], &[estimate("p3.t1", 180)]);
    edits("The landing page should take about 1h30.", &[], &[estimate("p3.t1", 90)]);
    edits("set p2.t1 to half an hour", &[], &[estimate("p2.t1", 30)]);
    edits("the final check: an hour and a half", &[], &[estimate("p4.t1", 90)]);
    edits("takes 2 days", &["p2.t2"], &[estimate("p2.t2", 960)]);
    edits("give it 45 minutes", &["p2.t2"], &[estimate("p2.t2", 45)]);
    edits("these take 2 h", &["p2.t2", "p2.t3"], &[estimate("p2.t2", 120), estimate("p2.t3", 120)]);
    edits("lnding page takes 3 hours", &[], &[estimate("p3.t1", 180)]);
}

#[test]
fn parses_renames() {
    let rename =
        |node: &str, title: &str| PlanEdit::Rename { node: node.into(), title: title.into() };
    edits(
        "rename p2.t1 to Draft the sample issue",
        &[],
        &[rename("p2.t1", "Draft the sample issue")],
    );
    edits("rename the trial run to Try it and learn", &[], &[rename("p2.t4", "Try it and learn")]);
    edits("call it \"Show, tell and ask\"", &["p5"], &[rename("p5", "Show, tell and ask")]);
}

#[test]
fn parses_removals() {
    let remove = |node: &str| PlanEdit::Remove { node: node.into() };
    edits("remove the trial run", &[], &[remove("p2.t4")]);
    edits(
        "please drop the trial run and the landing page",
        &[],
        &[remove("p2.t4"), remove("p3.t1")],
    );
    edits("leave this out", &["p2.t4"], &[remove("p2.t4")]);
}

#[test]
fn finds_nodes_by_position() {
    let remove = |node: &str| PlanEdit::Remove { node: node.into() };
    edits("drop the last phase", &[], &[remove("p5")]);
    edits("remove the second to last phase", &[], &[remove("p4")]);
    edits("remove phase 3", &[], &[remove("p3")]);
    edits("skip the 2nd task of Build", &[], &[remove("p2.t2")]);
    edits("remove the last two phases", &[], &[remove("p4"), remove("p5")]);
    edits("the first task takes 2 hours", &[], &[estimate("p1.t1", 120)]);
    edits("the last step of build takes 2 hours", &[], &[estimate("p2.t4", 120)]);
}

#[test]
fn parses_two_requests_in_one_sentence() {
    let found = reading("drop the last phase and finish in 4 weeks", &[]);
    assert_eq!(read_edits(&found), [PlanEdit::Remove { node: "p5".into() }]);
    assert_eq!(read_limits(&found), [ContextChange::HorizonWeeks(4)]);
    assert!(open_texts(&found).is_empty(), "{found:?}");
}

#[test]
fn the_plan_can_be_leaner_or_more_thorough() {
    let approach = |text: &str| approach(&reading(text, &[]));
    for text in ["make it shorter", "Please make the plan a bit simpler.", "too much work"] {
        assert_eq!(approach(text), Some(PlanApproach::Lean), "{text}");
    }
    assert_eq!(approach("use the lean option"), Some(PlanApproach::Lean));
    assert_eq!(approach("make it more thorough"), Some(PlanApproach::Thorough));
    assert_eq!(approach("the balanced one"), Some(PlanApproach::Balanced));
    let found = reading("make it better, and shorter", &[]);
    assert_eq!(found.clauses[1].text, "shorter");
    assert_eq!(found.clauses[1].change, RequestedChange::Approach(PlanApproach::Lean));
    assert_eq!(open_texts(&found), ["make it better"]);
    // "it" refers to the marked node, and a node has no lean variant.
    assert_eq!(open_texts(&reading("make it shorter", &["p2.t1"])), ["make it shorter"]);
}

fn insert(place: NodePlace, title: &str, minutes: Option<u32>) -> PlanEdit {
    let fields = NodeFields { minutes, ..NodeFields::titled(title) };
    PlanEdit::Insert { place, fields, group: false, needs: Vec::new(), needed_by: Vec::new() }
}

#[test]
fn parses_additions() {
    let under = |id: &str| NodePlace::Under(id.into());
    let after = |id: &str| NodePlace::After(id.into());
    edits(
        "add \"Interview two readers\" to Frame",
        &[],
        &[insert(under("p1"), "Interview two readers", None)],
    );
    edits(
        "add a task called Talk to a printer to Build (2 hours)",
        &[],
        &[insert(under("p2"), "Talk to a printer", Some(120))],
    );
    edits(
        "add Proofread, taking 45 min",
        &["p2.t1"],
        &[insert(after("p2.t1"), "Proofread", Some(45))],
    );
    // A task without a place goes to the end; anything else needs one.
    edits("add a task to thank everybody", &[], &[insert(under("p5"), "Thank everybody", None)]);
    unread("add Proofread", &["add Proofread"]);
    unread("add more detail to the launch phase", &["add more detail to the launch phase"]);
}

#[test]
fn parses_moves_and_order() {
    edits("move the announcement plan to Launch", &[], &[moved("p3.t3", "p4", u16::MAX)]);
    edits("move this to the start of Launch", &["p3.t3"], &[moved("p3.t3", "p4", 0)]);
    edits("move the trial run before the sample issue", &[], &[moved("p2.t4", "p2", 0)]);
    edits("do the landing page after the sample issue", &[], &[link("p2.t1", "p3.t1")]);
    edits("the landing page depends on p1.t2", &[], &[link("p1.t2", "p3.t1")]);
    edits("do the trial run before the sample issue", &[], &[moved("p2.t4", "p2", 0)]);
    edits(
        "find the first audience does not depend on build",
        &[],
        &[PlanEdit::Unlink { from: "p2".into(), to: "p3".into() }],
    );
}

#[test]
fn parses_hours_and_dates() {
    use ContextChange as C;
    limits("4 hours a week", &[C::WeeklyMinutes(240)]);
    limits("I only have an hour a day", &[C::WeeklyMinutes(300)]);
    limits("at most 2 hours a day", &[C::DailyMinutes(120)]);
    limits("start on 2026-07-01", &[C::Start(date(2026, 7, 1))]);
    limits("start next week", &[C::Start(date(2026, 6, 8))]);
    limits("finish by 30 September", &[C::Deadline(date(2026, 9, 30))]);
    limits("finish by July 10, 2027", &[C::Deadline(date(2027, 7, 10))]);
    limits("the deadline is the end of August", &[C::Deadline(date(2026, 8, 31))]);
    limits("in 8 weeks", &[C::HorizonWeeks(8)]);
    limits("not on Mondays", &[C::NotOn(vec![Weekday::Mon])]);
    limits(
        "no work on 2026-12-24",
        &[C::DaysOff { from: date(2026, 12, 24), to: date(2026, 12, 24) }],
    );
    limits(
        "away from 1 July to 10 July",
        &[C::DaysOff { from: date(2026, 7, 1), to: date(2026, 7, 10) }],
    );
    limits("only on weekends", &[C::OnlyOn(vec![Weekday::Sat, Weekday::Sun])]);
    limits("also on Saturdays", &[C::AlsoOn(vec![Weekday::Sat])]);
    limits("mornings only", &[C::OnlyDuring(DayPart::Morning)]);
    limits("not in the evening", &[C::NotDuring(DayPart::Evening)]);
    limits("preferably in the afternoon", &[C::Prefer(DayPart::Afternoon)]);
    limits(
        "between 9 and 12:30",
        &[C::WorkBetween(LocalTimeInterval::new(
            jiff::civil::time(9, 0, 0, 0),
            jiff::civil::time(12, 30, 0, 0),
        ))],
    );
}

#[test]
fn separates_several_requests() {
    let found = reading(
        "landing page takes 3 hours, remove the trial run and 4 hours a week; make it prettier\nnot on Mondays",
        &[],
    );
    assert_eq!(
        read_edits(&found),
        [estimate("p3.t1", 180), PlanEdit::Remove { node: "p2.t4".into() }]
    );
    assert_eq!(
        read_limits(&found),
        [ContextChange::WeeklyMinutes(240), ContextChange::NotOn(vec![Weekday::Mon])]
    );
    assert_eq!(open_texts(&found), ["make it prettier"]);
}

#[test]
fn nothing_is_guessed() {
    unread("make it better", &["make it better"]);
    unread("drop the last rocket", &["drop the last rocket"]);
    unread("drop the seventh phase", &["drop the seventh phase"]);
    unread("drop the last nine phases", &["drop the last nine phases"]);
    unread("issue takes 3 hours", &["issue takes 3 hours"]);
    unread("remove the rocket", &["remove the rocket"]);
    unread("not on Monday", &["not on Monday"]);
    unread("finish by 31 June", &["finish by 31 June"]);
    unread("takes 3 hours", &["takes 3 hours"]);
    unread("4 bananas a week", &["4 bananas a week"]);
}

#[test]
fn applies_changes_to_a_context() {
    let mut context = newsletter().outline.plan_context;
    for wanted in [
        ContextChange::WeeklyMinutes(240),
        ContextChange::NotOn(vec![Weekday::Mon]),
        ContextChange::OnlyDuring(DayPart::Morning),
        ContextChange::Deadline(date(2026, 9, 30)),
        ContextChange::DaysOff { from: date(2026, 7, 1), to: date(2026, 7, 3) },
    ] {
        apply_context_change(&mut context, &wanted);
    }
    assert_eq!(context.constraints.weekly_minutes, Some(240));
    let stated = context.find_assumption("weekly_minutes").unwrap();
    assert_eq!(
        (stated.value.as_str(), stated.origin),
        ("240", planwright_model::AssumptionOrigin::User)
    );
    assert_eq!(context.calendar.weekly_minutes(), 4 * 180);
    assert_eq!(context.constraints.deadline.unwrap().to_string(), "2026-09-30T12:00:00+02:00");
    assert_eq!(context.constraints.horizon_weeks, None);
    assert_eq!(context.calendar.days_off.len(), 3);
    apply_context_change(&mut context, &ContextChange::OnlyDuring(DayPart::Evening));
    assert_eq!(context.calendar.weekly_minutes(), 4 * 240);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_is_parsed_or_kept_and_edits_refer_to_nodes(text in "(.{0,20}|remove|add|p1\\.t1|takes|3 hours|to|and|, |; |frame|before|swap|done|\"| ){0,8}") {
        let plan = newsletter();
        let found = reading(&text, &["p2.t1"]);
        for change in found.edits() {
            // Rejected or not, the nodes are those of the plan.
            let rejected = edit::apply_edit(&plan.outline, Some(&plan.roadmap), change, &BTreeSet::new());
            let unknown = matches!(rejected, Err(edit::EditError::UnknownNode { .. }));
            prop_assert!(!unknown, "{:?}", change);
        }
        for clause in &found.clauses {
            prop_assert!(text.contains(clause.text.as_str()), "{:?}", clause);
        }
    }
}
