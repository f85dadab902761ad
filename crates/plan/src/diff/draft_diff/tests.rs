//! Drafts are compared with their dates.

use super::*;
use planwright_model::{
    LinkKind, NodeType, OffsetDateTime, PlanContext, PlanNode, ScheduledBlock, TaskId,
};

struct TestDraft {
    outline: PlanOutline,
    roadmap: Roadmap,
    schedule: Schedule,
}

impl TestDraft {
    /// A phase with three tasks of an hour each, one a day from Monday on, and a milestone at the end.
    fn new() -> Self {
        let context = PlanContext::new("launch", jiff::civil::date(2026, 6, 8), "Europe/Berlin");
        let mut outline = PlanOutline::new("goal", context);
        let phase = PlanNode::new_child(&outline.nodes[0], "p", NodeType::Phase, "Build it");
        let mut rows = vec![phase.clone()];
        for (place, id) in ["a", "b", "c"].into_iter().enumerate() {
            let mut task = PlanNode::new_child(&phase, id, NodeType::Task, format!("Do {id}"));
            (task.position, task.estimate_minutes) = (place as u16, Some(60));
            rows.push(task);
        }
        let mut end = PlanNode::new_child(&outline.nodes[0], "m", NodeType::Task, "It runs");
        (end.milestone, end.position) = (true, 1);
        rows.push(end);
        outline.nodes.extend(rows);
        let links = [("a", "b"), ("b", "c"), ("c", "m")];
        let links = links.map(|(from, to)| NodeDependency::finish_to_start(from, to));
        let roadmap = Roadmap::new(&outline, links.to_vec());
        let start = day(8);
        let mut draft =
            Self { outline, roadmap, schedule: Schedule::new("Europe/Berlin", start, start) };
        draft.place(&[("a", 8), ("b", 9), ("c", 10)]);
        draft
    }

    fn place(&mut self, days: &[(&str, i8)]) {
        self.schedule.blocks = days
            .iter()
            .map(|(id, of_june)| {
                let start = day(*of_june);
                ScheduledBlock::new(*id, *id, start, start.plus_minutes(60), "Europe/Berlin")
            })
            .collect();
    }

    fn node(&mut self, id: &str) -> &mut PlanNode {
        self.roadmap.nodes.iter_mut().find(|node| node.id.as_str() == id).unwrap()
    }

    fn view(&self) -> DraftView<'_> {
        DraftView {
            outline: &self.outline,
            roadmap: Some(&self.roadmap),
            schedule: Some(&self.schedule),
        }
    }
}

fn day(of_june: i8) -> OffsetDateTime {
    format!("2026-06-{of_june:02}T09:00:00+02:00").parse().unwrap()
}

fn kinds(diff: &DraftDiff) -> Vec<(&str, DraftChangeKind)> {
    diff.rows.iter().map(|row| (row.node.as_str(), row.kind)).collect()
}

#[test]
fn a_draft_is_not_different_from_itself() {
    let draft = TestDraft::new();
    let diff = diff_drafts(&draft.view(), &draft.view());
    assert!(diff.is_empty() && diff.counts().total() == 0);
    assert_eq!(diff.total_minutes, OldAndNew { old: 180, new: 180 });
}

#[test]
fn moved_days_are_changes_and_groups_follow() {
    let (before, mut after) = (TestDraft::new(), TestDraft::new());
    after.place(&[("a", 8), ("b", 11), ("c", 12)]);
    let diff = diff_drafts(&before.view(), &after.view());
    assert_eq!(
        kinds(&diff),
        [
            ("goal", DraftChangeKind::Follows),
            ("p", DraftChangeKind::Follows),
            ("b", DraftChangeKind::Moved),
            ("c", DraftChangeKind::Moved),
            ("m", DraftChangeKind::Follows),
        ]
    );
    assert_eq!(diff.counts(), RowChangeCounts { moved: 2, ..RowChangeCounts::default() });
    assert_eq!(diff.plan_end.old, Some(day(10).plus_minutes(60)));
    assert_eq!(diff.plan_end.new, Some(day(12).plus_minutes(60)));
    let moved = diff.row(&TaskId::from("b")).unwrap();
    assert_eq!(moved.span.old.unwrap().start, day(9));
    assert_eq!(moved.span.new.unwrap().start, day(11));
}

#[test]
fn another_hour_of_the_same_day_is_no_move() {
    let (before, mut after) = (TestDraft::new(), TestDraft::new());
    let block = &mut after.schedule.blocks[2];
    (block.start, block.end) = (block.start.plus_minutes(120), block.end.plus_minutes(120));
    let diff = diff_drafts(&before.view(), &after.view());
    assert!(diff.is_empty(), "{diff:?}");
    assert!(diff.plan_end.is_changed());
}

#[test]
fn fields_are_told_with_their_old_and_new_value() {
    let (before, mut after) = (TestDraft::new(), TestDraft::new());
    after.node("b").title = "Do b well".into();
    after.node("b").estimate_minutes = Some(90);
    after.node("b").owner = "Anna".into();
    after.node("b").due = Some("2026-06-10".parse().unwrap());
    after.roadmap.dependencies[1] = NodeDependency::new("b", "c", LinkKind::FS).with_lag(60);
    let diff = diff_drafts(&before.view(), &after.view());
    let row = diff.row(&TaskId::from("b")).unwrap();
    let told: Vec<_> = row
        .fields
        .iter()
        .map(|change| (change.field.label(), change.old.as_str(), change.new.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("title", "Do b", "Do b well"),
            ("who", "you", "Anna"),
            ("time", "1 h", "1 h 30 min"),
            ("due", "", "Wed 10 Jun"),
        ]
    );
    assert_eq!(row.work_minutes, OldAndNew { old: 60, new: 90 });
    let linked = diff.row(&TaskId::from("c")).unwrap();
    assert_eq!(linked.fields[0].old, "Do b");
    assert_eq!(linked.fields[0].new, "Do b well + 1 h");
    assert_eq!(diff.row(&TaskId::from("p")).unwrap().kind, DraftChangeKind::Follows);
    assert_eq!(diff.total_minutes, OldAndNew { old: 180, new: 210 });
}

#[test]
fn a_removed_row_stands_where_it_was_and_an_added_one_where_it_is() {
    let (before, mut after) = (TestDraft::new(), TestDraft::new());
    after.roadmap.nodes.retain(|node| node.id.as_str() != "b");
    let mut added = after.node("c").clone();
    (added.id, added.title, added.position) = ("d".into(), "Do d".into(), 3);
    after.roadmap.nodes.push(added);
    let diff = diff_drafts(&before.view(), &after.view());
    let own: Vec<_> = diff.own_changes().map(|row| (row.node.as_str(), row.kind.mark())).collect();
    assert_eq!(own, [("b", '-'), ("d", '+')]);
    assert_eq!(diff.row(&TaskId::from("b")).unwrap().span.new, None);
}

#[test]
fn drafts_without_dates_are_compared_by_their_words() {
    let (before, mut after) = (TestDraft::new(), TestDraft::new());
    after.node("a").done_when = "somebody else can read it".into();
    let (old, new) = (before.view(), after.view());
    let diff =
        diff_drafts(&DraftView { schedule: None, ..old }, &DraftView { schedule: None, ..new });
    assert_eq!(kinds(&diff), [("a", DraftChangeKind::Changed)]);
}
