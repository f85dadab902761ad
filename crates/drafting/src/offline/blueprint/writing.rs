//! Writes a plan as a blueprint file, so that the next goal of its kind can start from it.

use std::fmt::Write as _;

use jiff::civil::Date;

use planwright_model::{
    LagBasis, LinkKind, NodeTree, NodeType, PatternType, PlanContext, PlanNode, Recurrence,
    RecurrenceByDay, RecurrenceFrequency, Roadmap, Role, TaskId,
};

use super::super::goal::{Goal, GoalParseContext};

/// A plan that is kept as a blueprint.
#[derive(Clone, Copy, Debug)]
pub struct SavedBlueprint<'a> {
    /// What the kind is called, with its article.
    pub label: &'a str,
    pub context: &'a PlanContext,
    pub roadmap: &'a Roadmap,
}

/// Words of a goal that do not tell its kind.
const COMMON: [&str; 24] = [
    "the", "and", "for", "our", "with", "from", "until", "before", "after", "week", "weeks",
    "hours", "hour", "day", "days", "month", "months", "this", "next", "every", "into", "that",
    "about", "plan",
];

/// Returns the text of a blueprint file for a plan: its tasks with effort, links and conditions, found again by the
/// words of its goal.
pub fn write_blueprint(saved: &SavedBlueprint<'_>) -> String {
    let tree = saved.roadmap.node_tree();
    let root = &saved.roadmap.root_id;
    let mut writer = BlueprintWriter {
        saved: *saved,
        tree: &tree,
        day: saved.context.find_assumption("day").and_then(|found| found.value.parse().ok()),
        out: String::new(),
    };
    writer.write_header();
    let tops: Vec<&PlanNode> = tree.children(root).collect();
    let (tasks, groups): (Vec<&PlanNode>, Vec<&PlanNode>) =
        tops.into_iter().partition(|node| !node.node_type.is_container());
    writer.write_finish(&tasks);
    let tasks: Vec<&PlanNode> = tasks.into_iter().filter(|task| !task.milestone).collect();
    if groups.is_empty() && tasks.len() > MOST_SMALL {
        writer.write_halves(&tasks);
        return writer.out;
    }
    for task in &tasks {
        writer.write_task("task", task);
    }
    for group in groups {
        writer.write_group(group_name(group), group);
    }
    writer.out
}

/// The most tasks of a kind without phases.
const MOST_SMALL: usize = 4;

fn group_name(node: &PlanNode) -> &'static str {
    match node.node_type {
        NodeType::Cycle => "cycle",
        NodeType::SubGoal => "sub_goal",
        _ => "phase",
    }
}

struct BlueprintWriter<'a> {
    saved: SavedBlueprint<'a>,
    tree: &'a NodeTree<'a>,
    /// The day from which dates count.
    day: Option<Date>,
    out: String,
}

impl BlueprintWriter<'_> {
    fn line(&mut self, name: &str, value: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.out, "{name} = {value}");
    }

    fn text_line(&mut self, name: &str, text: &str) {
        self.line(name, &quote(text));
    }

    fn write_header(&mut self) {
        let SavedBlueprint { label, context, roadmap } = self.saved;
        let _ = writeln!(self.out, "# Saved from the plan \"{}\".", one_line(&context.goal_text));
        self.text_line("label", label);
        let spec = roadmap.effective_pattern();
        let pattern = spec.as_ref().map_or(PatternType::MilestoneProject, |spec| spec.pattern_type);
        self.text_line("pattern", pattern.as_str());
        let known = spec.as_ref().and_then(|spec| spec.subtype.as_deref());
        let known = known.filter(|name| pattern.subtypes().contains(name));
        let subtype = known.or(pattern.subtypes().first().copied()).unwrap_or_default();
        self.text_line("subtype", subtype);
        let words = match_words(context);
        self.line("match", &format!("{{ {} }}", words.join(", ")));
        self.line("weeks", &plan_weeks(context).to_string());
        let why = self.tree.get(&roadmap.root_id).map(|root| root.why.clone()).unwrap_or_default();
        let why = if why.is_empty() { "It worked this way once.".to_owned() } else { why };
        self.text_line("why", &plain(&why));
        let tops: Vec<&PlanNode> = self.tree.children(&roadmap.root_id).collect();
        let work = tops.iter().filter(|node| !node.milestone).count();
        let bare = tops.iter().all(|node| !node.node_type.is_container());
        if bare && work <= MOST_SMALL && pattern == PatternType::MilestoneProject {
            self.line("small", "true");
        }
        if self.day.is_some() {
            self.text_line("day", "event");
            self.text_line("day_question", "On which day is it?");
        }
    }

    fn write_finish(&mut self, tasks: &[&PlanNode]) {
        let Some(finish) = tasks.iter().rev().find(|task| task.milestone) else { return };
        self.out.push_str("\n[finish]\n");
        self.text_line("title", &plain(&finish.title));
        self.text_line("done_when", &plain(&finish.done_when));
    }

    /// A list of steps becomes two phases: a project has at least two.
    fn write_halves(&mut self, tasks: &[&PlanNode]) {
        let (first, second) = tasks.split_at(tasks.len().div_ceil(2));
        for (title, part) in [("Begin", first), ("Finish", second)] {
            self.out.push_str("\n[[phase]]\n");
            self.text_line("title", title);
            for task in part {
                self.write_task("phase.task", task);
            }
        }
    }

    fn write_group(&mut self, path: &str, group: &PlanNode) {
        let _ = writeln!(self.out, "\n[[{path}]]");
        self.text_line("key", &key_of(&group.id));
        self.text_line("title", &plain(&group.title));
        if !group.why.is_empty() {
            self.text_line("why", &plain(&group.why));
        }
        if group.intensity > 1 {
            self.line("intensity", &group.intensity.to_string());
        }
        if group.stream != planwright_model::outline::MAIN_STREAM {
            self.text_line("stream", &group.stream);
        }
        if let Some(recurrence) = &group.recurrence {
            self.write_recurrence(recurrence);
        }
        if group.recurrence.is_none() {
            self.write_links(&group.id);
        }
        let children: Vec<&PlanNode> = self.tree.children(&group.id).collect();
        for child in children {
            if child.node_type.is_container() {
                self.write_group(&format!("{path}.{}", group_name(child)), child);
            } else {
                self.write_task(&format!("{path}.task"), child);
            }
        }
    }

    fn write_task(&mut self, path: &str, task: &PlanNode) {
        let _ = writeln!(self.out, "\n[[{path}]]");
        self.text_line("key", &key_of(&task.id));
        self.text_line("title", &plain(&task.title));
        let why = if task.why.is_empty() { "It was part of the plan." } else { &task.why };
        self.text_line("why", &plain(why));
        let done = if task.done_when.is_empty() { "it is done" } else { &task.done_when };
        self.text_line("done_when", &plain(done));
        if task.milestone {
            self.line("milestone", "true");
        } else {
            let likely = task.work_minutes().max(1);
            let round = |minutes: u32| (minutes / 5 * 5).max(1);
            let low = round(likely * 3 / 4).min(likely);
            let high = round(likely.saturating_mul(3) / 2).max(likely);
            self.line("effort", &format!("[{low}, {likely}, {high}]"));
        }
        if task.role != Role::default()
            && let Ok(serde_json::Value::String(role)) = serde_json::to_value(task.role)
        {
            self.text_line("role", &role);
        }
        if task.optional {
            self.line("optional", "true");
        }
        if let Some(owner) = task.other_owner() {
            self.text_line("who", owner);
        }
        self.write_dates(task);
        match &task.recurrence {
            Some(recurrence) => self.write_recurrence(recurrence),
            None => self.write_links(&task.id),
        }
    }

    fn write_dates(&mut self, task: &PlanNode) {
        let Some(day) = self.day else { return };
        let from_day = |date: Date| {
            let days = day.until(date).map_or(0, |span| span.get_days());
            match days {
                0 => "event".to_owned(),
                before if before < 0 => format!("event - {}d", -before),
                after => format!("event + {after}d"),
            }
        };
        if let Some(fixed) = task.fixed_start {
            self.text_line("at", &from_day(fixed.day));
            if let Some(time) = fixed.time.filter(|_| task.recurrence.is_none()) {
                self.text_line("at_time", &time.strftime("%H:%M").to_string());
            }
        } else if task.in_one_piece {
            self.line("whole", "true");
        }
        if let Some(due) = task.due {
            self.text_line("by", &from_day(due.day));
        }
    }

    fn write_recurrence(&mut self, recurrence: &Recurrence) {
        let unit = match recurrence.freq {
            RecurrenceFrequency::Daily => "day",
            RecurrenceFrequency::Weekly => "week",
            RecurrenceFrequency::Monthly => "month",
            RecurrenceFrequency::Quarterly => "quarter",
            RecurrenceFrequency::Yearly => "year",
        };
        let every = match recurrence.interval {
            0 | 1 => unit.to_owned(),
            count => format!("{count} {unit}s"),
        };
        self.text_line("every", &every);
        let days: Vec<String> = recurrence
            .by_day
            .iter()
            .filter_map(|day| match day {
                RecurrenceByDay::Weekday(day) => Some(quote(&format!("{day:?}"))),
                RecurrenceByDay::MonthDay(_) => None,
            })
            .collect();
        if !days.is_empty() {
            self.line("on", &format!("[{}]", days.join(", ")));
        }
        if let Some(at) = recurrence.at_local {
            self.text_line("at_time", &at.strftime("%H:%M").to_string());
        }
    }

    /// Writes what a part waits for. All links are written, so that none is added by default.
    fn write_links(&mut self, id: &TaskId) {
        let links = &self.saved.roadmap.dependencies;
        let parts: Vec<String> = links
            .iter()
            .filter(|link| link.to == *id && self.tree.contains(&link.from))
            .map(|link| {
                let on = quote(&key_of(&link.from));
                let days = link.lag_minutes / (24 * 60);
                let kind = format!("{:?}", link.kind);
                match (link.kind, link.lag_basis) {
                    (LinkKind::FS, LagBasis::Elapsed) if days > 0 => {
                        format!("{{ on = {on}, lag = \"{days}d\" }}")
                    }
                    (LinkKind::FS, _) => on,
                    (_, LagBasis::Elapsed) if days > 0 => {
                        format!("{{ on = {on}, kind = \"{kind}\", lag = \"{days}d\" }}")
                    }
                    _ => format!("{{ on = {on}, kind = \"{kind}\" }}"),
                }
            })
            .collect();
        self.line("after", &format!("[{}]", parts.join(", ")));
    }
}

/// Returns the weeks from the start to the end of a plan.
fn plan_weeks(context: &PlanContext) -> u16 {
    let limits = &context.constraints;
    let by_deadline = limits.deadline.and_then(|deadline| {
        let days = limits.start.until(deadline.local_date()).ok()?.get_days();
        u16::try_from(days / 7 + 1).ok()
    });
    by_deadline.or(limits.horizon_weeks).unwrap_or(8).clamp(1, 520)
}

/// Returns the words of the goal with weights: its subject decides, the other words are hints.
fn match_words(context: &PlanContext) -> Vec<String> {
    let today = GoalParseContext::new(context.constraints.start, 5);
    let goal = Goal::parse(&context.goal_text, today);
    let subject = goal.subject.name.to_lowercase();
    let mut words: Vec<(String, u32)> = Vec::new();
    if subject.split(' ').count() <= 4 && !subject.is_empty() && !subject.contains('…') {
        words.push((subject.clone(), 15));
    }
    for word in goal.folded_words() {
        let telling = word.chars().count() > 2
            && word.chars().any(char::is_alphabetic)
            && !word.starts_with(|first: char| first.is_ascii_digit())
            && !COMMON.contains(&word.as_str());
        if telling && !words.iter().any(|(known, _)| known == word) {
            let weight = if subject.split(' ').any(|part| part == word) { 8 } else { 5 };
            words.push((word.clone(), weight));
        }
    }
    if words.is_empty() {
        words.push((context.goal_text.to_lowercase(), 10));
    }
    words.truncate(12);
    words.iter().map(|(word, weight)| format!("{} = {weight}", quote(word))).collect()
}

fn key_of(id: &TaskId) -> String {
    id.as_str().replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns a text without braces, which would be placeholders in a blueprint.
fn plain(text: &str) -> String {
    text.replace('{', "(").replace('}', ")")
}

fn quote(text: &str) -> String {
    toml::Value::String(one_line(text)).to_string()
}
