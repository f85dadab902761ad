//! What a task card says: everything the plan and its history have about one task, as labeled lines.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::glyphs::task_glyph;
use crate::plan_text::{agent_facts, criteria_words, row_comment, task_rhythm};
use crate::theme::ThemeRole;
use crate::widgets::short_plan_name;
use planwright_model::task::CriterionEffect;
use planwright_model::{Actor, AdaptationLogEntry, RunKind, ScheduledBlock, TaskId, TaskNode};
use planwright_state::{SessionState, SkipRoots, TaskRow, TaskStatus};
use planwright_text::{clean_text, dates, reveal_hidden, units, wrap_exact, wrap_words};

/// Columns of the labels.
const LABEL: usize = 12;
/// How many blocks are named one by one.
const BLOCKS: usize = 6;
/// How many links and dependents are named.
const NAMES: usize = 6;

/// One line of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskCardLine {
    pub(crate) label: String,
    pub(crate) text: String,
    /// What stands at the right end.
    pub(crate) right: String,
    pub(crate) role: ThemeRole,
    /// Text that goes over the full width, without the column of the labels.
    pub(crate) wide: bool,
}

/// What the lines of a card are made from.
pub(crate) struct TaskCardSource<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) task: usize,
    /// Of a repeating task, the time that is meant.
    pub(crate) occurrence: Option<u32>,
    pub(crate) now: Timestamp,
    pub(crate) zone: &'a TimeZone,
    /// Ids, estimate and the rest of what stands behind `v`.
    pub(crate) details: bool,
    /// The last lines of its output, where they are known.
    pub(crate) output: &'a [String],
    /// What made it fail, where its output says so.
    pub(crate) cause: Option<&'a str>,
}

/// The lines of a card that is so many cells wide.
pub(crate) fn card_lines(source: &TaskCardSource<'_>, width: usize) -> Vec<TaskCardLine> {
    let mut card = CardBuilder { lines: Vec::new(), width };
    let (state, task) = (source.state, source.task);
    let id = state.tasks.id(task);
    let Some(node) = state.task_node(task) else { return Vec::new() };
    card.push_path(source, node);
    card.push_when(source, id);
    card.push_dates(source, node);
    card.push_run(source, node);
    card.push_links(source);
    card.push_description(state, id, node);
    card.push_done_when(state, id, node);
    card.push_output(source);
    for (label, value, role) in state.agents.get(id).map(agent_facts).unwrap_or_default() {
        card.push_labeled(label, &value, role);
    }
    card.push_comments(state, id);
    card.push_notes(source);
    card.push_history(source, id);
    if source.details {
        card.push_details(source, node);
    }
    card.lines
}

struct CardBuilder {
    lines: Vec<TaskCardLine>,
    width: usize,
}

impl<'a> TaskCardSource<'a> {
    fn today(&self) -> Date {
        self.now.to_zoned(self.zone.clone()).date()
    }

    fn day(&self, at: Timestamp) -> String {
        let at = at.to_zoned(self.zone.clone());
        if at.date() == self.today() {
            return dates::format_time(at.time());
        }
        dates::format_date(at.date(), self.today())
    }

    fn row(&self) -> &TaskRow {
        self.state.tasks.row(self.task)
    }

    /// The blocks of the task, or of the time that is meant.
    fn blocks(&self, id: &'a TaskId) -> Vec<&'a ScheduledBlock> {
        let schedule = self.state.planning.schedule.as_deref();
        let of_time = |block: &&ScheduledBlock| {
            self.occurrence.is_none() || block.occurrence == self.occurrence
        };
        schedule.iter().flat_map(|schedule| schedule.blocks_for_node(id)).filter(of_time).collect()
    }
}

/// Who does a task.
fn doer(node: &TaskNode) -> &str {
    if let Some(owner) = node.other_owner() {
        return owner;
    }
    match &node.run {
        RunKind::Human {} => "yours",
        RunKind::Agent(run) => run.worker_title(),
        RunKind::Shell(_) => "command",
    }
}

impl CardBuilder {
    fn push(&mut self, line: TaskCardLine) {
        self.lines.push(line);
    }

    fn push_gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.text.is_empty()) {
            self.push(TaskCardLine::text(String::new(), ThemeRole::Text));
        }
    }

    fn push_labeled(&mut self, label: &str, text: &str, role: ThemeRole) {
        let text = clean_text(text);
        let width = self.width.saturating_sub(LABEL).max(12);
        for (index, line) in wrap_words(&text, width, 0).into_iter().enumerate() {
            let label = if index == 0 { label.to_owned() } else { String::new() };
            self.push(TaskCardLine { label, ..TaskCardLine::labeled(line.into_owned(), role) });
        }
    }

    /// Several lines under one label.
    fn push_list(&mut self, label: &str, lines: &[(String, ThemeRole)]) {
        for (index, (text, role)) in lines.iter().enumerate() {
            self.push_labeled(if index == 0 { label } else { "" }, text, *role);
        }
    }

    /// Where it stands in the plan, whose it is and how much work.
    fn push_path(&mut self, source: &TaskCardSource<'_>, node: &TaskNode) {
        let state = source.state;
        let plan = short_plan_name(&state.session.title);
        let mut path = vec![plan.as_str()];
        path.extend(state.containing_titles(&node.id));
        let mut right = match source.row().status {
            TaskStatus::Pending | TaskStatus::Yours => doer(node).to_owned(),
            status => format!("{}, {}", doer(node), status.label()),
        };
        if let Some(minutes) = node.duration_minutes.filter(|minutes| *minutes > 0) {
            right = format!("{right} · {}", units::format_planned(minutes.into()));
        }
        let text = path.join(" › ");
        self.push(TaskCardLine {
            right,
            wide: true,
            ..TaskCardLine::labeled(text, ThemeRole::Dim)
        });
    }

    fn push_when<'a>(&mut self, source: &TaskCardSource<'a>, id: &'a TaskId) {
        let blocks = source.blocks(id);
        let upcoming: Vec<&&ScheduledBlock> = match source.occurrence {
            Some(_) => blocks.iter().collect(),
            // Of a task that repeats, what is still to come.
            None => blocks
                .iter()
                .filter(|block| block.occurrence.is_none() || block.end.at >= source.now)
                .collect(),
        };
        if upcoming.is_empty() {
            return;
        }
        let local = |at: Timestamp| at.to_zoned(source.zone.clone()).datetime();
        let mut times: Vec<String> = upcoming
            .iter()
            .take(BLOCKS)
            .map(|block| {
                let (from, to) = (local(block.start.at), local(block.end.at));
                if from.date() == source.today() && to.date() == from.date() {
                    return format!("today {}", dates::format_time_range(from.time(), to.time()));
                }
                dates::format_date_time_range(from, to, source.today())
            })
            .collect();
        if upcoming.len() > BLOCKS {
            times.push(format!("{} more", upcoming.len() - BLOCKS));
        }
        let last = upcoming.iter().map(|block| block.end.at).max();
        let open = !source.row().status.is_settled();
        let late = open && last.is_some_and(|end| end <= source.now);
        if late {
            times.push("late".to_owned());
        }
        let role = if late { ThemeRole::Failed } else { ThemeRole::Text };
        self.push_labeled("When", &times.join(", "), role);
    }

    /// The dates that were set by hand, with how near they are.
    fn push_dates(&mut self, source: &TaskCardSource<'_>, node: &TaskNode) {
        let today = source.today();
        let rhythm = task_rhythm(source.state, &node.id);
        if !rhythm.is_empty() {
            self.push_labeled("Repeats", &rhythm, ThemeRole::Text);
        }
        for (label, date) in [
            ("Fixed", node.fixed_start.or(node.fixed_end)),
            ("Not before", node.not_before),
            ("Due", node.due),
        ] {
            let Some(date) = date else { continue };
            let mut text = dates::format_date_and_distance(date.day, today);
            if let Some(time) = date.time {
                text = format!("{text}, {}", dates::format_time(time));
            }
            let late = label == "Due" && date.day < today && !source.row().status.is_settled();
            let role = if late { ThemeRole::Failed } else { ThemeRole::Text };
            self.push_labeled(label, &text, role);
        }
    }

    /// The command, how it went, and what a failure was.
    fn push_run(&mut self, source: &TaskCardSource<'_>, node: &TaskNode) {
        let row = source.row();
        if let TaskStatus::Skipped(reason) = row.status {
            let skips = SkipRoots::from_tasks(&source.state.tasks);
            let why = source.state.describe_skip(&skips, source.task, reason);
            self.push_labeled("Skipped", &why, ThemeRole::Text);
        }
        if let Some(failure) = &row.failure {
            let cause = source.cause.filter(|cause| !failure.message.contains(*cause));
            let text = match cause {
                Some(cause) => format!("{cause} ({})", failure.message),
                None => failure.message.clone(),
            };
            self.push_labeled("Failed", &text, ThemeRole::Failed);
            let skipped = SkipRoots::from_tasks(&source.state.tasks);
            let skipped = skipped.skipped_because_of(source.task).len();
            if skipped > 0 {
                let tasks = units::format_counted(skipped, "task");
                self.push_labeled("", &format!("{tasks} skipped because of it"), ThemeRole::Text);
            }
        }
        if let RunKind::Shell(command) = &node.run {
            let shown = reveal_hidden(command);
            let width = self.width.saturating_sub(LABEL).max(12);
            for (index, line) in wrap_exact(&shown, width).into_iter().enumerate() {
                let label = if index == 0 { "Command".to_owned() } else { String::new() };
                let line = TaskCardLine::labeled(line.into_owned(), ThemeRole::Text);
                self.push(TaskCardLine { label, ..line });
            }
            for setting in node.command_settings() {
                self.push_labeled("", &setting, ThemeRole::Dim);
            }
        }
        if let Some(words) = source.state.describe_wait(source.task, source.now, source.zone) {
            self.push_labeled("Waits", &words, ThemeRole::Waiting);
        } else if row.status == TaskStatus::Running
            && let Some(ms) = row.elapsed_ms(source.now)
        {
            let text = format!("for {}", units::format_elapsed(Duration::from_millis(ms)));
            self.push_labeled("Running", &text, ThemeRole::Running);
        }
    }

    fn push_links(&mut self, source: &TaskCardSource<'_>) {
        let state = source.state;
        let needs: Vec<(String, ThemeRole)> = state
            .tasks
            .dependencies(source.task)
            .map(|on| {
                let (glyph, role) = task_glyph(state, on);
                (format!("{glyph} {}", state.task_title(on)), role)
            })
            .collect();
        self.push_list("Needs", &needs);
        let mut after: Vec<usize> = Vec::new();
        for task in state.tasks.dependents(source.task) {
            if !after.contains(&task) {
                after.push(task);
            }
        }
        let mut unlocks: Vec<String> =
            after.iter().take(NAMES).map(|task| state.task_title(*task).to_owned()).collect();
        if after.len() > NAMES {
            unlocks.push(format!("{} more", after.len() - NAMES));
        }
        if !unlocks.is_empty() {
            self.push_labeled("Unlocks", &unlocks.join(" · "), ThemeRole::Text);
        }
    }

    fn push_description(&mut self, state: &SessionState, id: &TaskId, node: &TaskNode) {
        let description = state.outline_node(id).map_or("", |outline| outline.description.as_str());
        let texts = [description, node.why.as_str()];
        for text in texts.into_iter().filter(|text| !text.trim().is_empty()) {
            if text == node.description {
                continue;
            }
            self.push_gap();
            let text = clean_text(text);
            for line in wrap_words(&text, self.width.max(12), 0) {
                self.push(TaskCardLine::text(line.into_owned(), ThemeRole::Untrusted));
            }
        }
        self.push_gap();
    }

    fn push_done_when(&mut self, state: &SessionState, id: &TaskId, node: &TaskNode) {
        let mut criteria: Vec<String> =
            criteria_words(&node.exit_criteria, CriterionEffect::Success).collect();
        let outline = state.outline_node(id).map_or("", |outline| outline.done_when.as_str());
        if criteria.is_empty() && !outline.trim().is_empty() {
            criteria.push(outline.to_owned());
        }
        let lines: Vec<(String, ThemeRole)> =
            criteria.into_iter().map(|text| (text, ThemeRole::Text)).collect();
        self.push_list("Done when", &lines);
        let failed = criteria_words(&node.exit_criteria, CriterionEffect::Failure);
        let lines: Vec<(String, ThemeRole)> = failed.map(|text| (text, ThemeRole::Text)).collect();
        self.push_list("Failed when", &lines);
        let description = state.outline_node(id).map_or("", |outline| outline.description.as_str());
        let links: Vec<(String, ThemeRole)> = node
            .evidence
            .iter()
            .cloned()
            .chain(links_in(description))
            .map(|link| (link, ThemeRole::Text))
            .collect();
        self.push_list("Links", &links);
    }

    fn push_output(&mut self, source: &TaskCardSource<'_>) {
        let running = source.row().call.as_ref().map(|call| call.last_line.to_string());
        let last = running.filter(|line| !line.is_empty());
        let lines: Vec<String> = match source.output {
            [] => last.into_iter().collect(),
            lines => lines.to_vec(),
        };
        let lines: Vec<(String, ThemeRole)> =
            lines.into_iter().map(|line| (line, ThemeRole::Untrusted)).collect();
        self.push_list("Output", &lines);
    }

    fn push_notes(&mut self, source: &TaskCardSource<'_>) {
        let row = source.row();
        let mut notes: Vec<(String, ThemeRole)> = row
            .notes
            .iter()
            .map(|note| (format!("{}  {}", source.day(note.at), note.text), ThemeRole::Text))
            .collect();
        // A session of an earlier version has only the last one.
        if let (true, Some(note)) = (notes.is_empty(), &row.note) {
            notes.push((note.to_string(), ThemeRole::Text));
        }
        self.push_list("Notes", &notes);
    }

    /// What the person remarked on the row, before the approval and after it.
    fn push_comments(&mut self, state: &SessionState, id: &TaskId) {
        let own = state.planning.comments.iter().filter(|comment| comment.node == *id);
        let lines: Vec<(String, ThemeRole)> = own
            .map(|comment| {
                let remark = row_comment(comment);
                let fate = match remark.fate.as_str() {
                    "" => String::new(),
                    fate => format!(" ({fate})"),
                };
                (format!("\"{}\"{fate}", remark.text), ThemeRole::Text)
            })
            .collect();
        self.push_list("Comments", &lines);
    }

    fn push_history(&mut self, source: &TaskCardSource<'_>, id: &TaskId) {
        let (state, row) = (source.state, source.row());
        let mut moments: Vec<(Timestamp, String)> = Vec::new();
        if let Some(first) = state.plan.revisions.first() {
            let what = if state.planning.begun { "planned, draft 1" } else { "planned" };
            moments.push((first.at, what.to_owned()));
        }
        if let Some(approval) = state.plan.approval.as_ref().filter(|_| state.is_runnable()) {
            moments.push((approval.at, "approved".to_owned()));
        }
        for entry in
            state.planning.adaptation_log.iter().filter(|entry| entry.node_ids.contains(id))
        {
            // The card has the title already.
            let titled = format!("\"{}\" ", state.task_title(source.task));
            let reason = entry.reason.strip_prefix(&titled).unwrap_or(&entry.reason);
            let undone = if is_undone(state, entry) { " (undone)" } else { "" };
            moments.push((entry.timestamp, format!("{reason}{undone}")));
        }
        let human = state.tasks.is_human(source.task);
        if let Some(at) = row.started_at.filter(|_| !human || !row.status.is_settled()) {
            let text = if human {
                "yours to do".to_owned()
            } else if row.attempt > 1 {
                format!("started, attempt {}", row.attempt)
            } else {
                "started".to_owned()
            };
            moments.push((at, text));
        }
        if let Some(at) = row.finished_at {
            moments.push((at, outcome_text(row, source.now)));
        }
        moments.sort_by_key(|(at, _)| *at);
        let texts: Vec<String> =
            moments.into_iter().map(|(at, text)| format!("{} {text}", source.day(at))).collect();
        if !texts.is_empty() {
            self.push_labeled("History", &texts.join(" · "), ThemeRole::Dim);
        }
    }

    fn push_details(&mut self, source: &TaskCardSource<'_>, node: &TaskNode) {
        self.push_gap();
        self.push_labeled("Id", node.id.as_str(), ThemeRole::Dim);
        if let Some(minutes) = node.duration_minutes {
            self.push_labeled("Estimate", &units::format_planned(minutes.into()), ThemeRole::Dim);
        }
        if let Some(seconds) = node.timeout_seconds {
            let text = units::format_elapsed(Duration::from_secs(seconds));
            self.push_labeled("Time limit", &text, ThemeRole::Dim);
        }
        if node.priority != 0 {
            self.push_labeled("Priority", &node.priority.to_string(), ThemeRole::Dim);
        }
        if let Some(cost) = &node.cost {
            self.push_labeled("Cost", &cost.to_string(), ThemeRole::Dim);
        }
        for (label, texts) in [("Risks", &node.risks), ("Assumes", &node.assumptions)] {
            let lines: Vec<(String, ThemeRole)> =
                texts.iter().map(|text| (text.clone(), ThemeRole::Dim)).collect();
            self.push_list(label, &lines);
        }
        let resources: Vec<String> =
            node.resources.iter().map(|(name, amount)| format!("{name} {amount}")).collect();
        if !resources.is_empty() {
            self.push_labeled("Resources", &resources.join(", "), ThemeRole::Dim);
        }
        let row = source.row();
        if row.steps > 0 {
            let tokens = units::format_tokens(row.tokens);
            let text = format!(
                "{}, {tokens} tokens, {}",
                units::format_counted(row.steps as usize, "step"),
                row.cost
            );
            self.push_labeled("Used", &text, ThemeRole::Dim);
        }
        let done = row.occurrences.values().filter(|done| **done).count();
        if !row.occurrences.is_empty() {
            let text = format!("{done} done, {} skipped", row.occurrences.len() - done);
            self.push_labeled("So far", &text, ThemeRole::Dim);
        }
    }
}

impl TaskCardLine {
    fn labeled(text: String, role: ThemeRole) -> Self {
        Self { label: String::new(), text, right: String::new(), role, wide: false }
    }

    fn text(text: String, role: ThemeRole) -> Self {
        Self { wide: true, ..Self::labeled(text, role) }
    }
}

/// Whether the last word about a change is that it was undone.
fn is_undone(state: &SessionState, entry: &AdaptationLogEntry) -> bool {
    let later = state.planning.history.iter().rev().filter(|later| later.at >= entry.timestamp);
    let mut about = later.filter_map(|later| match later.what.split_once(": ") {
        Some(("undone", what)) if what.contains(&entry.reason) => Some(true),
        Some(("redone", what)) if what.contains(&entry.reason) => Some(false),
        _ => None,
    });
    about.next().unwrap_or(false)
}

/// What became of it, by whom and in which time.
fn outcome_text(row: &TaskRow, now: Timestamp) -> String {
    let took = row.elapsed_ms(now).filter(|_| row.done_by.is_none());
    let took = took.map(|ms| format!(" in {}", units::format_elapsed(Duration::from_millis(ms))));
    match row.status {
        TaskStatus::Done if row.done_by == Some(Actor::Person) => "done by you".to_owned(),
        status => format!("{}{}", status.label(), took.unwrap_or_default()),
    }
}

/// The addresses that a text contains.
fn links_in(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|letter: char| ",.;:!?()[]<>\"'".contains(letter)))
        .filter(|word| word.starts_with("https://") || word.starts_with("http://"))
        .map(str::to_owned)
        .collect()
}
