//! The rows of a plan: phases, tasks and milestones in order, each with who does it, how long it takes and when.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::row_when::{RowClock, node_rhythm};
use super::{DaySpan, PlanFileRow, criteria_words, file_rows, file_task_times, group_row_id};
use planwright_model::task::CriterionEffect;
use planwright_model::{
    Comment, CommentOutcome, ExitCriterion, NodeDependency, NodeTree, Plan, PlanDate, PlanNode,
    RunKind, Schedule, TaskCost, TaskId, TaskNode,
};
use planwright_state::{DraftSnapshot, SessionState};
use planwright_text::{clean_line, units};

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanRowKind {
    /// It holds the rows below it and has no work of its own.
    Phase,
    Task,
    /// A point reached, without work.
    Milestone,
}

/// A remark of the person on a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowComment {
    pub text: String,
    /// What became of it: addressed and how, declined and why, or stale; empty while it is open.
    pub fate: String,
}

/// One row of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanTextRow {
    pub id: TaskId,
    /// Counts it among its siblings, from the top: `2`, `2.3`.
    pub number: String,
    /// How many rows hold it.
    pub depth: usize,
    pub kind: PlanRowKind,
    pub title: String,
    /// `you`, `agent`, the title of an agent, `command` or a name; empty for phases and milestones.
    pub who: String,
    /// The name of the person's own agent that does it.
    pub own_agent: Option<String>,
    /// It waits for several agents and picks one of their results.
    pub is_pick: bool,
    /// Whether it takes the person's time.
    pub is_yours: bool,
    /// Of a phase: of all that it holds.
    pub minutes: Option<u32>,
    pub days: Option<DaySpan>,
    /// When its first block begins, in the reader's zone.
    pub start: Option<DateTime>,
    /// The time of day that was set for it.
    pub clock: Option<RowClock>,
    /// How it repeats: `every Fri`; empty for what is done once.
    pub rhythm: String,
    pub done_when: String,
    /// What makes it failed even after its work succeeded; empty where nobody said.
    pub failed_when: String,
    /// What it costs, by its plan.
    pub cost: Option<TaskCost>,
    /// The command as it will run.
    pub command: Option<String>,
    /// Commands that tell whether it is done, as they will run: approving the plan allows them.
    pub checks: Vec<String>,
    /// What its command runs with: directory, shell, variables, one line each.
    pub settings: Vec<String>,
    /// The titles of what it waits for.
    pub after: Vec<String>,
    /// The same by their ids: another title there is no change here.
    pub needs: Vec<TaskId>,
    pub comments: Vec<RowComment>,
    pub is_locked: bool,
}

impl PlanTextRow {
    /// Whether something is run for it, so that it must have been seen first.
    pub fn has_commands(&self) -> bool {
        self.command.is_some() || !self.checks.is_empty()
    }

    /// Whether its number stands before its title.
    pub fn has_number(&self) -> bool {
        self.kind == PlanRowKind::Phase && self.depth == 0
    }

    /// How long it takes: `1 h 30 min`; empty where nobody said.
    pub fn time_text(&self) -> String {
        self.minutes.map(|minutes| units::format_planned(minutes.into())).unwrap_or_default()
    }

    /// What it costs: `120 EUR`; empty where nobody said.
    pub fn cost_text(&self) -> String {
        self.cost.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// What makes it done or failed, as a sentence part: `done when …`; empty where nobody said.
    pub fn done_when_text(&self) -> String {
        let parts = [("done when", &self.done_when), ("failed when", &self.failed_when)];
        let said = parts.iter().filter(|(_, text)| !text.is_empty());
        let said: Vec<String> = said.map(|(label, text)| format!("{label} {text}")).collect();
        said.join("; ")
    }

    /// What it waits for: `after Sort the issues, Measure the baseline`; empty where nothing.
    pub fn after_text(&self) -> String {
        if self.after.is_empty() {
            String::new()
        } else {
            format!("after {}", self.after.join(", "))
        }
    }
}

/// The rows of the plan or draft that a session has now. Parents come before what they hold.
pub fn plan_rows(state: &SessionState, zone: &TimeZone) -> Vec<PlanTextRow> {
    let planning = &state.planning;
    let source = RowSource::new(state, zone);
    if let Some(roadmap) = &planning.roadmap {
        return source.draft_rows(&roadmap.nodes, &roadmap.root_id, &roadmap.dependencies);
    }
    if let Some(outline) = &planning.outline {
        return source.draft_rows(&outline.nodes, &outline.root_id, &[]);
    }
    if let Some(sketch) = &planning.sketch {
        return source.draft_rows(&sketch.nodes, &sketch.root_id, &[]);
    }
    match &state.plan.current {
        Some(revision) => {
            let mut rows = source.task_rows(&revision.plan, &revision.facts.execution_order);
            name_submitting_agent(&mut rows, state);
            rows
        }
        None => Vec::new(),
    }
}

/// The agent that submitted a plan does its tasks, unless Planwright carries it out.
fn name_submitting_agent(rows: &mut [PlanTextRow], state: &SessionState) {
    if !state.desk.is_ticket() || state.runs_here() {
        return;
    }
    let name = clean_line(state.desk.agent_name()).into_owned();
    for row in rows.iter_mut().filter(|row| row.who == "agent") {
        row.who.clone_from(&name);
    }
}

/// The rows of a draft that was, with its own dates; remarks and locks are those of now.
pub fn draft_rows(
    draft: &DraftSnapshot,
    state: &SessionState,
    zone: &TimeZone,
) -> Vec<PlanTextRow> {
    let source = RowSource::with_schedule(state, draft.schedule.as_deref(), zone);
    match (&draft.roadmap, &draft.outline) {
        (Some(roadmap), _) => {
            source.draft_rows(&roadmap.nodes, &roadmap.root_id, &roadmap.dependencies)
        }
        (None, Some(outline)) => source.draft_rows(&outline.nodes, &outline.root_id, &[]),
        (None, None) => Vec::new(),
    }
}

/// What rows are made from beside their nodes.
struct RowSource<'a> {
    state: &'a SessionState,
    zone: &'a TimeZone,
    /// From the first block of a node to its last.
    stretches: HashMap<TaskId, (Timestamp, Timestamp)>,
}

impl<'a> RowSource<'a> {
    fn new(state: &'a SessionState, zone: &'a TimeZone) -> Self {
        let source = Self::with_schedule(state, state.planning.schedule.as_deref(), zone);
        if source.stretches.is_empty() {
            return Self { stretches: file_task_times(state, zone), ..source };
        }
        source
    }

    fn with_schedule(
        state: &'a SessionState,
        schedule: Option<&Schedule>,
        zone: &'a TimeZone,
    ) -> Self {
        let mut stretches: HashMap<TaskId, (Timestamp, Timestamp)> = HashMap::new();
        let blocks = schedule.into_iter().flat_map(|schedule| &schedule.blocks);
        for block in blocks {
            let (start, end) = (block.start.at, block.end.at);
            let found = stretches.entry(block.plan_node_id.clone()).or_insert((start, end));
            *found = (found.0.min(start), found.1.max(end));
        }
        Self { state, zone, stretches }
    }

    fn draft_rows(
        &self,
        nodes: &[PlanNode],
        root: &TaskId,
        links: &[NodeDependency],
    ) -> Vec<PlanTextRow> {
        let tree = NodeTree::new(nodes);
        let titles: HashMap<&TaskId, &str> =
            nodes.iter().map(|node| (&node.id, node.title.as_str())).collect();
        let mut needs: HashMap<&TaskId, Vec<TaskId>> = HashMap::new();
        for link in links.iter().filter(|link| titles.contains_key(&link.from)) {
            needs.entry(&link.to).or_default().push(link.from.clone());
        }
        let mut rows: Vec<PlanTextRow> = Vec::with_capacity(nodes.len());
        let mut counts: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for node in tree.subtree(root).into_iter().filter(|node| node.id != *root) {
            let depth = tree.ancestors(&node.id).len().saturating_sub(1);
            let holds = tree.children(&node.id).next().is_some();
            let mut row = self.draft_row(node, depth, holds);
            row.number = next_number(&mut counts, depth);
            row.rhythm = node_rhythm(node, &tree);
            row.minutes = Some(tree.total_minutes(&node.id)).filter(|minutes| *minutes > 0);
            row.needs = needs.remove(&node.id).unwrap_or_default();
            let after = row.needs.iter().filter_map(|id| titles.get(id));
            row.after = after.map(|title| clean_line(title).into_owned()).collect();
            open.truncate(depth);
            for above in &open {
                let days = rows[*above].days;
                rows[*above].days = match (days, row.days) {
                    (Some(days), Some(more)) => Some(days.joined(more)),
                    (days, more) => days.or(more),
                };
            }
            open.push(rows.len());
            rows.push(row);
        }
        date_milestones(&mut rows);
        rows
    }

    fn draft_row(&self, node: &PlanNode, depth: usize, holds: bool) -> PlanTextRow {
        let kind = if node.milestone && is_without_work(node.run.as_ref()) {
            PlanRowKind::Milestone
        } else if holds || node.node_type.is_container() {
            PlanRowKind::Phase
        } else {
            PlanRowKind::Task
        };
        let run = node.run.as_ref().filter(|_| kind == PlanRowKind::Task);
        let mut row = self.new_row(&node.id, &node.title, kind);
        row.depth = depth;
        row.set_doer(run, node.other_owner());
        row.clock = self.row_clock(&node.id, node.fixed_start, node.fixed_end);
        row.done_when = clean_line(&node.done_when).into_owned();
        row.cost.clone_from(&node.cost);
        if kind != PlanRowKind::Phase {
            row.checks = check_commands(&node.exit_criteria);
        }
        row
    }

    fn task_rows(&self, plan: &Plan, order: &[TaskId]) -> Vec<PlanTextRow> {
        let by_id: HashMap<&TaskId, &TaskNode> =
            plan.tasks.iter().map(|task| (&task.id, task)).collect();
        let mut rows: Vec<PlanTextRow> = Vec::with_capacity(plan.tasks.len());
        let mut counts: Vec<usize> = Vec::new();
        let mut group = 0;
        for found in file_rows(plan, order) {
            let mut row = match found {
                PlanFileRow::Group(name) => {
                    group = rows.len();
                    self.new_row(&group_row_id(name), name, PlanRowKind::Phase)
                }
                PlanFileRow::Task { at, grouped } => {
                    let mut row = self.task_row(&plan.tasks[at], &by_id);
                    row.depth = usize::from(grouped);
                    row
                }
            };
            row.number = next_number(&mut counts, row.depth);
            if row.depth > 0 {
                rows[group].take_in(&row);
            }
            rows.push(row);
        }
        rows
    }

    fn task_row(&self, task: &TaskNode, by_id: &HashMap<&TaskId, &TaskNode>) -> PlanTextRow {
        let milestone = task.duration_minutes == Some(0) && is_without_work(Some(&task.run));
        let kind = if milestone { PlanRowKind::Milestone } else { PlanRowKind::Task };
        let mut row = self.new_row(&task.id, &task.description, kind);
        row.minutes = task.duration_minutes.filter(|minutes| *minutes > 0);
        row.set_doer(Some(&task.run), task.other_owner());
        row.clock = self.row_clock(&task.id, task.fixed_start, task.fixed_end);
        let first = |effect| criteria_words(&task.exit_criteria, effect).next().unwrap_or_default();
        row.done_when = clean_line(&first(CriterionEffect::Success)).into_owned();
        row.cost.clone_from(&task.cost);
        row.failed_when = clean_line(&first(CriterionEffect::Failure)).into_owned();
        row.checks = check_commands(&task.exit_criteria);
        row.settings = task.command_settings();
        let needs = || task.dependencies.iter().filter_map(|link| by_id.get(&link.task));
        row.needs = needs().map(|task| task.id.clone()).collect();
        row.after = needs().map(|task| clean_line(&task.description).into_owned()).collect();
        row
    }

    /// Comments on lines of the submitted text that the row was read from.
    fn line_comments(&self, id: &TaskId) -> impl Iterator<Item = RowComment> {
        let on_lines = self.state.desk.line_comments.iter();
        on_lines.filter(move |comment| comment.node.as_ref() == Some(id)).map(|comment| {
            RowComment {
                text: clean_line(&comment.text).into_owned(),
                fate: outcome_words(comment.outcome.as_ref()),
            }
        })
    }

    /// The time of day that was set for a row, where it is planned then.
    fn row_clock(
        &self,
        id: &TaskId,
        start: Option<PlanDate>,
        end: Option<PlanDate>,
    ) -> Option<RowClock> {
        let local = |at: Timestamp| at.to_zoned(self.zone.clone()).datetime();
        let planned = self.stretches.get(id).map(|(from, until)| (local(*from), local(*until)));
        RowClock::from_dates(start, end, planned)
    }

    fn new_row(&self, id: &TaskId, title: &str, kind: PlanRowKind) -> PlanTextRow {
        let stretch = self.stretches.get(id);
        let planning = &self.state.planning;
        let comments = planning.comments.iter().filter(|comment| comment.node == *id);
        PlanTextRow {
            id: id.clone(),
            number: String::new(),
            depth: 0,
            kind,
            title: clean_line(title).into_owned(),
            who: String::new(),
            own_agent: None,
            is_pick: false,
            is_yours: false,
            minutes: None,
            days: stretch.map(|(start, end)| DaySpan::from_stretch(*start, *end, self.zone)),
            start: stretch.map(|(start, _)| start.to_zoned(self.zone.clone()).datetime()),
            clock: None,
            rhythm: String::new(),
            done_when: String::new(),
            failed_when: String::new(),
            cost: None,
            command: None,
            checks: Vec::new(),
            settings: Vec::new(),
            after: Vec::new(),
            needs: Vec::new(),
            comments: comments.map(row_comment).chain(self.line_comments(id)).collect(),
            is_locked: planning.locked.contains(id),
        }
    }
}

/// A milestone takes no time and has no block: its day is that on which the last thing it waits for ends, or the last
/// thing above it in its phase.
fn date_milestones(rows: &mut [PlanTextRow]) {
    for at in 0..rows.len() {
        if rows[at].kind != PlanRowKind::Milestone || rows[at].days.is_some() {
            continue;
        }
        let (before, depth) = (&rows[..at], rows[at].depth);
        let last = |row: &PlanTextRow| row.days.map(|days| days.last);
        let waits = rows.iter().filter(|row| rows[at].needs.contains(&row.id)).filter_map(last);
        let above = || before.iter().rev().take_while(|row| row.depth >= depth).filter_map(last);
        // What opens a phase is due when the work after it begins.
        let rest = rows[at + 1..].iter().take_while(|row| row.depth >= depth && depth > 0);
        let after = || {
            let unlocked = rows.iter().filter(|row| row.needs.contains(&rows[at].id));
            unlocked.chain(rest).filter_map(|row| row.days.map(|days| days.first)).min()
        };
        let day = waits.max().or_else(|| above().max()).or_else(after);
        rows[at].days = day.map(|day| DaySpan { first: day, last: day });
    }
}

impl PlanTextRow {
    /// Adds the time and the days of a row that it holds.
    fn take_in(&mut self, row: &Self) {
        self.minutes = match (self.minutes, row.minutes) {
            (Some(all), Some(more)) => Some(all.saturating_add(more)),
            (all, more) => all.or(more),
        };
        self.days = match (self.days, row.days) {
            (Some(days), Some(more)) => Some(days.joined(more)),
            (days, more) => days.or(more),
        };
    }

    /// Who does it; a task that names nobody is the person's.
    fn set_doer(&mut self, run: Option<&RunKind>, owner: Option<&str>) {
        if self.kind != PlanRowKind::Task {
            return;
        }
        let who = match run {
            None | Some(RunKind::Human {}) => "you",
            Some(RunKind::Agent(run)) => {
                self.own_agent = run.own_agent().map(str::to_owned);
                self.is_pick = run.is_pick();
                run.worker_title()
            }
            Some(RunKind::Shell(command)) => {
                self.command = Some(command.clone());
                "command"
            }
        };
        self.is_yours = who == "you" && owner.is_none();
        let who = owner.filter(|_| who == "you").unwrap_or(who);
        self.who = clean_line(who).into_owned();
    }
}

/// Whether nothing runs: a command or an agent is shown as the task it is, whatever its duration says.
fn is_without_work(run: Option<&RunKind>) -> bool {
    matches!(run, None | Some(RunKind::Human {}))
}

/// The number of the next row at a depth.
fn next_number(counts: &mut Vec<usize>, depth: usize) -> String {
    counts.truncate(depth + 1);
    counts.resize(depth + 1, 0);
    counts[depth] += 1;
    let parts: Vec<String> = counts.iter().map(ToString::to_string).collect();
    parts.join(".")
}

/// A remark with its fate, in words.
pub(crate) fn row_comment(comment: &Comment) -> RowComment {
    let fate = outcome_words(comment.outcome.as_ref());
    RowComment { text: clean_line(&comment.text).into_owned(), fate }
}

fn outcome_words(outcome: Option<&CommentOutcome>) -> String {
    match outcome {
        None => String::new(),
        Some(CommentOutcome::Addressed { how }) => describe_fate("addressed", how),
        Some(CommentOutcome::Declined { why }) => describe_fate("declined", why),
        Some(CommentOutcome::Stale) => "stale: the row it was about is gone".to_owned(),
    }
}

fn describe_fate(word: &str, more: &str) -> String {
    match clean_line(more).trim() {
        "" => word.to_owned(),
        more => format!("{word}: {more}"),
    }
}

/// The commands among criteria, byte for byte.
fn check_commands(criteria: &[ExitCriterion]) -> Vec<String> {
    let command = |criterion: &ExitCriterion| match criterion {
        ExitCriterion::Command { command, .. } => Some(command.clone()),
        _ => None,
    };
    criteria.iter().filter_map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;
    use crate::tests::planned;

    #[test]
    fn a_draft_has_numbered_rows_with_who_time_and_days() {
        let rows = plan_rows(&planned::scheduled().state(), &TimeZone::UTC);
        assert_eq!((rows[0].number.as_str(), rows[0].kind), ("1", PlanRowKind::Phase));
        assert_eq!((rows[1].number.as_str(), rows[1].kind), ("1.1", PlanRowKind::Task));
        assert_eq!(rows[1].who, "you");
        assert!(rows[1].minutes.is_some() && rows[1].days.is_some());
        let held = rows[1..].iter().take_while(|row| row.depth > 0);
        let last = held.filter_map(|row| row.days).map(|days| days.last).max();
        assert_eq!(rows[0].days.map(|days| days.last), last);
        assert!(rows.iter().any(|row| row.kind == PlanRowKind::Milestone));
    }

    #[test]
    fn a_plan_file_has_its_commands_and_what_they_wait_for() {
        let rows = plan_rows(&Fixture::release().state(), &TimeZone::UTC);
        let command = rows.iter().find(|row| row.command.is_some()).unwrap();
        assert_eq!(command.who, "command");
        assert!(rows.iter().any(|row| row.after_text().starts_with("after ")));
        assert!(rows.iter().all(|row| row.depth == 0 && !row.number.is_empty()));
    }

    #[test]
    fn every_command_that_checks_a_task_is_in_its_row() {
        let mut state = Fixture::release().state();
        let mut revision = (**state.plan.current.as_ref().unwrap()).clone();
        let mut plan = (*revision.plan).clone();
        let on = planwright_model::task::CriterionEffect::Success;
        let command = |command: &str| ExitCriterion::Command { command: command.into(), on };
        let words = ExitCriterion::Text { text: "it reads well".into(), on };
        plan.tasks[0].run = RunKind::agent();
        plan.tasks[0].exit_criteria = vec![words, command("make check"), command("make lint")];
        let id = plan.tasks[0].id.clone();
        revision.plan = plan.into();
        state.plan.current = Some(revision.into());
        let rows = plan_rows(&state, &TimeZone::UTC);
        let row = rows.iter().find(|row| row.id == id).unwrap();
        assert_eq!(row.checks, ["make check", "make lint"]);
        assert!(row.command.is_none() && row.has_commands());
    }

    #[test]
    fn a_criterion_of_failure_is_not_what_makes_a_task_done() {
        let mut state = Fixture::release().state();
        let mut revision = (**state.plan.current.as_ref().unwrap()).clone();
        let mut plan = (*revision.plan).clone();
        let on = CriterionEffect::Failure;
        plan.tasks[0].exit_criteria = vec![ExitCriterion::FileExists { path: "core".into(), on }];
        let id = plan.tasks[0].id.clone();
        let text = |state: &SessionState| {
            let rows = plan_rows(state, &TimeZone::UTC);
            rows.iter().find(|row| row.id == id).unwrap().done_when_text()
        };
        revision.plan = plan.clone().into();
        state.plan.current = Some(revision.clone().into());
        assert_eq!(text(&state), "failed when core exists");
        let works = ExitCriterion::Text { text: "it works".into(), on: CriterionEffect::Success };
        plan.tasks[0].exit_criteria.push(works);
        revision.plan = plan.into();
        state.plan.current = Some(revision.into());
        assert_eq!(text(&state), "done when it works; failed when core exists");
    }

    #[test]
    fn a_command_is_shown_whatever_its_duration() {
        let mut state = Fixture::release().state();
        let mut revision = (**state.plan.current.as_ref().unwrap()).clone();
        let mut plan = (*revision.plan).clone();
        let task = plan.tasks.iter_mut().find(|task| matches!(task.run, RunKind::Shell(_)));
        let task = task.unwrap();
        task.duration_minutes = Some(0);
        let id = task.id.clone();
        revision.plan = plan.into();
        state.plan.current = Some(revision.into());
        let rows = plan_rows(&state, &TimeZone::UTC);
        let row = rows.iter().find(|row| row.id == id).unwrap();
        assert_eq!((row.kind, row.who.as_str()), (PlanRowKind::Task, "command"));
        assert!(row.command.is_some());
    }

    #[test]
    fn comments_stand_with_their_fate() {
        let rows = plan_rows(&planned::discussed().state(), &TimeZone::UTC);
        let fates: Vec<&str> = rows
            .iter()
            .flat_map(|row| &row.comments)
            .map(|comment| comment.fate.as_str())
            .collect();
        assert_eq!(
            fates,
            ["addressed: each task says it", "declined: one is in the workspace", ""]
        );
        assert!(rows.iter().any(|row| row.is_locked));
    }
}
