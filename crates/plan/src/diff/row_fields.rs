//! The fields of a row that a person reads, and how a change of each is put into words.

use jiff::civil::Date;

use super::TreePosition;
use planwright_model::{
    DateField, ExitCriterion, NodeDependency, PlanDate, PlanNode, Recurrence, RecurrenceByDay,
    RunKind,
};
use planwright_text::{dates, units};

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiffField {
    Title,
    Owner,
    Command,
    Estimate,
    DoneWhen,
    Checks,
    Description,
    Why,
    FixedDate(DateField),
    Needs,
    Repeats,
    Optional,
    Cost,
    Risks,
    Assumptions,
    Evidence,
    TaskType,
    Resources,
    Tags,
    Kind,
    Place,
}

impl DiffField {
    /// Returns the field's name as a person reads it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Owner => "who",
            Self::Command => "command",
            Self::Estimate => "time",
            Self::DoneWhen => "done when",
            Self::Checks => "checks",
            Self::Description => "description",
            Self::Why => "why",
            Self::FixedDate(date) => date.words(),
            Self::Needs => "needs",
            Self::Repeats => "repeats",
            Self::Optional => "optional",
            Self::Cost => "cost",
            Self::Risks => "risks",
            Self::Assumptions => "assumptions",
            Self::Evidence => "based on",
            Self::TaskType => "kind of task",
            Self::Resources => "uses",
            Self::Tags => "tags",
            Self::Kind => "kind of row",
            Self::Place => "place",
        }
    }
}

/// A field with another value. An empty text means that it has none. The texts are not cleaned yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffFieldChange {
    pub field: DiffField,
    pub old: String,
    pub new: String,
}

impl DiffFieldChange {
    /// Returns whether only the place among other rows is different.
    pub fn is_place(&self) -> bool {
        self.field == DiffField::Place
    }

    /// Compares what a row waits for.
    pub(super) fn from_needs(
        old: &[(&NodeDependency, &str)],
        new: &[(&NodeDependency, &str)],
    ) -> Option<Self> {
        let keys = |links: &[(&NodeDependency, &str)]| {
            let mut keys: Vec<_> = links
                .iter()
                .map(|(link, _)| (link.from.clone(), link.kind, link.lag_minutes, link.lag_basis))
                .collect();
            keys.sort();
            keys
        };
        let words = |links: &[(&NodeDependency, &str)]| {
            let mut words: Vec<String> = links.iter().map(describe_need).collect();
            words.sort();
            words.join(", ")
        };
        (keys(old) != keys(new)).then(|| Self {
            field: DiffField::Needs,
            old: words(old),
            new: words(new),
        })
    }

    pub(super) fn from_places(old: &TreePosition, new: &TreePosition) -> Self {
        let words = |at: &TreePosition, with_parent: bool| {
            if with_parent {
                format!("in \"{}\"", at.parent_title)
            } else {
                format!("place {}", at.place)
            }
        };
        let elsewhere = old.parent != new.parent;
        Self { field: DiffField::Place, old: words(old, elsewhere), new: words(new, elsewhere) }
    }
}

fn describe_need((link, title): &(&NodeDependency, &str)) -> String {
    use planwright_model::LinkKind::{FF, FS, SF, SS};
    let ends = match link.kind {
        FS => "",
        SS => " to start",
        FF => " before it ends",
        SF => " to start before it ends",
    };
    let lag = match link.lag_minutes {
        0 => String::new(),
        lag => {
            let sign = if lag < 0 { "-" } else { "+" };
            format!(" {sign} {}", units::format_planned(lag.unsigned_abs().into()))
        }
    };
    format!("{title}{ends}{lag}")
}

/// Compares the fields of a row that a person can set; dates are written as seen from `near`. Level, position, origin and progress are not among them.
pub(super) fn compare_row_fields(
    old: &PlanNode,
    new: &PlanNode,
    near: Date,
) -> Vec<DiffFieldChange> {
    let mut found = Vec::new();
    let mut compare = |field: DiffField, old: String, new: String| {
        if old != new {
            found.push(DiffFieldChange { field, old, new });
        }
    };
    compare(DiffField::Title, old.title.clone(), new.title.clone());
    compare(DiffField::Owner, owner_words(old), owner_words(new));
    compare(DiffField::Command, command_of(old), command_of(new));
    compare(DiffField::Estimate, estimate_words(old), estimate_words(new));
    compare(DiffField::DoneWhen, old.done_when.clone(), new.done_when.clone());
    compare(DiffField::Checks, checks_words(old), checks_words(new));
    compare(DiffField::Description, old.description.clone(), new.description.clone());
    compare(DiffField::Why, old.why.clone(), new.why.clone());
    for field in DateField::ALL {
        let words = |node: &PlanNode| {
            node.dates().get(field).map_or_else(String::new, |date| format_plan_date(date, near))
        };
        compare(DiffField::FixedDate(field), words(old), words(new));
    }
    compare(DiffField::Repeats, recurrence_words(old), recurrence_words(new));
    compare(DiffField::Optional, yes_or_no(old.optional), yes_or_no(new.optional));
    let cost = |node: &PlanNode| node.cost.as_ref().map(ToString::to_string).unwrap_or_default();
    compare(DiffField::Cost, cost(old), cost(new));
    compare(DiffField::Risks, old.risks.join("; "), new.risks.join("; "));
    compare(DiffField::Assumptions, old.assumptions.join("; "), new.assumptions.join("; "));
    compare(DiffField::Evidence, old.evidence.join("; "), new.evidence.join("; "));
    compare(DiffField::TaskType, old.task_type.clone(), new.task_type.clone());
    compare(DiffField::Resources, resource_words(old), resource_words(new));
    compare(DiffField::Tags, old.tags.join(", "), new.tags.join(", "));
    let kind = |node: &PlanNode| (node.node_type.is_container(), node.milestone);
    let names = |node: &PlanNode| match kind(node) {
        (_, true) => "milestone".to_owned(),
        (true, _) => "group".to_owned(),
        _ => "task".to_owned(),
    };
    compare(DiffField::Kind, names(old), names(new));
    found
}

/// Returns who does a row: the owner, or what its way of running says. A group and a milestone are done by nobody.
pub fn owner_words(node: &PlanNode) -> String {
    if let Some(name) = node.other_owner() {
        return name.to_owned();
    }
    if node.node_type.is_container() || node.milestone {
        return String::new();
    }
    match &node.run {
        None | Some(RunKind::Human {}) => "you",
        Some(RunKind::Agent(run)) => run.worker_title(),
        Some(RunKind::Shell(_)) => "command",
    }
    .to_owned()
}

fn command_of(node: &PlanNode) -> String {
    match &node.run {
        Some(RunKind::Shell(command)) => command.clone(),
        _ => String::new(),
    }
}

fn estimate_words(node: &PlanNode) -> String {
    match node.estimate_minutes.filter(|_| !node.milestone) {
        Some(minutes) => units::format_planned(minutes.into()),
        None => String::new(),
    }
}

fn checks_words(node: &PlanNode) -> String {
    let words = |criterion: &ExitCriterion| match criterion {
        ExitCriterion::Text { text, .. } | ExitCriterion::Judged { text, .. } => text.clone(),
        ExitCriterion::FileExists { path, .. } => format!("{path} exists"),
        ExitCriterion::Command { command, .. } => format!("{command} succeeds"),
        ExitCriterion::JsonPath { path, equals, .. } => format!("{path} is {equals}"),
    };
    node.exit_criteria.iter().map(words).collect::<Vec<_>>().join("; ")
}

fn resource_words(node: &PlanNode) -> String {
    let words = node.resources.iter().map(|(name, units)| format!("{units} {name}"));
    words.collect::<Vec<_>>().join(", ")
}

fn recurrence_words(node: &PlanNode) -> String {
    node.recurrence.as_ref().map(describe_recurrence).unwrap_or_default()
}

/// Returns how often a row repeats, in words.
pub fn describe_recurrence(recurrence: &Recurrence) -> String {
    use planwright_model::RecurrenceFrequency::{Daily, Monthly, Quarterly, Weekly, Yearly};
    let unit = match recurrence.freq {
        Daily => "day",
        Weekly => "week",
        Monthly => "month",
        Quarterly => "quarter",
        Yearly => "year",
    };
    let mut words = match recurrence.interval {
        0 | 1 => format!("every {unit}"),
        count => format!("every {count} {unit}s"),
    };
    if !recurrence.by_day.is_empty() {
        let days: Vec<String> = recurrence.by_day.iter().copied().map(describe_day).collect();
        words = format!("{words} on {}", days.join(", "));
    }
    if let Some(at) = recurrence.at_local {
        words = format!("{words} at {:02}:{:02}", at.hour(), at.minute());
    }
    if let Some(count) = recurrence.count {
        words = format!("{words}, {count} times");
    }
    if let Some(until) = recurrence.until {
        words = format!("{words}, until {}", until.strftime("%a %-d %b %Y"));
    }
    words
}

fn describe_day(day: RecurrenceByDay) -> String {
    match day {
        RecurrenceByDay::Weekday(day) => format!("{day:?}"),
        RecurrenceByDay::MonthDay(day) => format!("day {day}"),
    }
}

/// Returns a date that was set by hand: `Tue 17 Nov`, or `Tue 17 Nov 09:30`; the year only if it is not that of `near`.
pub fn format_plan_date(date: PlanDate, near: Date) -> String {
    match date.time {
        Some(_) => dates::format_date_time(date.first_minute(), near),
        None => dates::format_date(date.day, near),
    }
}

fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}
