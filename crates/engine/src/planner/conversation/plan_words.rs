//! The plan, the facts and the calendar as a model reads them: everything it may change, by id.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::civil::Date;

use planwright_model::{
    AssumptionOrigin, Fact, FactSource, LagBasis, LinkKind, NodeDependency, NodeStatus,
    OffsetDateTime, PlanContext, PlanNode, PlanOutline, Recurrence, Roadmap, Role, RunKind,
    Schedule, ScheduledBlock, Severity, TaskId, Violation, Weekday,
};
use planwright_schedule::OtherBlock;
use planwright_state::{AgentConversation, PlanningSlice};

use super::tool_schemas::ELICIT;

/// Days off and events that are listed one by one.
const MAX_LISTED: usize = 30;

/// Every node with everything it says, in the order of the tree, and the links.
pub(super) fn describe_plan(talk: &PlanningSlice) -> String {
    let Some(outline) = talk.outline.as_deref() else { return "There is no plan yet.\n".into() };
    let nodes = talk.roadmap.as_deref().map_or(&outline.nodes, |roadmap| &roadmap.nodes);
    let mut text = format!("The plan as it is (version {}):\n", outline.version);
    let tree = planwright_model::NodeTree::new(nodes);
    for node in tree.subtree(&outline.root_id) {
        let indent = "  ".repeat(usize::from(node.level.saturating_sub(1)));
        let _ = writeln!(text, "{indent}{}", describe_node(talk, node));
    }
    let links = talk.roadmap.as_deref().map(|roadmap| roadmap.dependencies.as_slice());
    match links.unwrap_or_default() {
        [] => text.push_str("Links: none.\n"),
        links => {
            let links: Vec<String> = links.iter().map(describe_link).collect();
            let _ = writeln!(text, "Links: {}.", links.join("; "));
        }
    }
    if let Some(roadmap) = talk.roadmap.as_deref() {
        for option in &roadmap.options_tried {
            let chosen = if option.chosen { " (chosen)" } else { "" };
            let _ = writeln!(text, "Option {}{chosen}: {}", option.label, option.summary);
        }
    }
    text
}

fn describe_node(talk: &PlanningSlice, node: &PlanNode) -> String {
    let kind = if node.milestone { "milestone" } else { node.node_type.as_str() };
    let mut text = format!("{} [{kind}] {}", node.id, node.title);
    let mut add = |part: String| {
        text.push_str(" | ");
        text.push_str(&part);
    };
    if let Some(minutes) = node.estimate_minutes.filter(|_| !node.milestone) {
        add(format!("{minutes} min"));
    }
    if let Some(owner) = node.other_owner() {
        add(format!("owner {owner}"));
    }
    if node.intensity != planwright_model::outline::DEFAULT_INTENSITY {
        add(format!("intensity {}", node.intensity));
    }
    match &node.run {
        Some(RunKind::Agent(run)) => match run.own_agent() {
            Some(name) => add(format!("doer agent {name}")),
            None => add("doer agent".into()),
        },
        Some(RunKind::Shell(command)) => add(format!("doer shell: {command}")),
        Some(RunKind::Human {}) | None => {}
    }
    if node.role != Role::Work {
        let role = serde_json::to_value(node.role).unwrap_or_default();
        add(format!("role {}", role.as_str().unwrap_or_default()));
    }
    for (field, date) in node.dates().stated() {
        let name = serde_json::to_value(field).unwrap_or_default();
        add(format!("{} {date}", name.as_str().unwrap_or_default()));
    }
    if let Some(repeats) = &node.recurrence {
        add(describe_recurrence(repeats));
    }
    for (name, value) in [
        ("done when", &node.done_when),
        ("description", &node.description),
        ("why", &node.why),
        ("task type", &node.task_type),
    ] {
        if !value.is_empty() {
            add(format!("{name}: {value}"));
        }
    }
    for (name, values) in [
        ("risks", &node.risks),
        ("assumptions", &node.assumptions),
        ("evidence", &node.evidence),
        ("tags", &node.tags),
    ] {
        if !values.is_empty() {
            add(format!("{name}: {}", values.join("; ")));
        }
    }
    if !node.exit_criteria.is_empty() {
        let criteria = serde_json::to_string(&node.exit_criteria).unwrap_or_default();
        add(format!("exit criteria: {criteria}"));
    }
    if let Some(cost) = &node.cost {
        add(format!("cost {cost}"));
    }
    if node.stream != planwright_model::outline::MAIN_STREAM {
        add(format!("stream {}", node.stream));
    }
    for (is, word) in [
        (node.optional, "optional"),
        (node.in_one_piece, "one sitting"),
        (node.status == NodeStatus::Done, "done already"),
        (talk.locked.contains(&node.id), "LOCKED: must stay as it is"),
    ] {
        if is {
            add(word.into());
        }
    }
    let open = talk.comments.iter().filter(|one| one.node == node.id && one.outcome.is_none());
    for comment in open {
        add(format!("open comment: \"{}\"", comment.text));
    }
    text
}

fn describe_recurrence(repeats: &Recurrence) -> String {
    format!("repeat {}", serde_json::to_string(repeats).unwrap_or_default())
}

fn describe_link(link: &NodeDependency) -> String {
    let kind = match link.kind {
        LinkKind::FS => "",
        LinkKind::SS => " SS",
        LinkKind::FF => " FF",
        LinkKind::SF => " SF",
    };
    let lag = match (link.lag_minutes, link.lag_basis) {
        (0, _) => String::new(),
        (minutes, LagBasis::Elapsed) if minutes % 1440 == 0 => format!(" +{} d", minutes / 1440),
        (minutes, LagBasis::Elapsed) => format!(" +{minutes} min elapsed"),
        (minutes, LagBasis::Working) => format!(" +{minutes} working min"),
    };
    format!("{} -> {}{kind}{lag}", link.from, link.to)
}

/// When everything happens, and what does not fit.
pub(super) fn describe_schedule(
    outline: &PlanOutline,
    roadmap: &Roadmap,
    schedule: &Schedule,
) -> String {
    let mut placed: BTreeMap<&TaskId, Vec<&ScheduledBlock>> = BTreeMap::new();
    for block in &schedule.blocks {
        placed.entry(&block.plan_node_id).or_default().push(block);
    }
    let mut text = String::new();
    let ends = schedule.blocks.iter().map(|block| block.end.local_date()).max();
    let starts = schedule.blocks.iter().map(|block| block.start.local_date()).min();
    if let (Some(starts), Some(ends)) = (starts, ends) {
        let _ = writeln!(text, "The schedule runs from {} to {}:", day(starts), day(ends));
    }
    for leaf in roadmap.node_tree().leaves(&outline.root_id) {
        let when = match placed.get(&leaf.id).map(Vec::as_slice) {
            Some(blocks) => describe_blocks(blocks),
            None if leaf.milestone => continue,
            None => "not placed".to_owned(),
        };
        let owner = leaf.other_owner().map(|owner| format!(" ({owner})")).unwrap_or_default();
        let _ = writeln!(text, "- {} {}{owner}: {when}", leaf.id, leaf.title);
    }
    for left in &schedule.unplaced {
        let _ = writeln!(text, "Does not fit: {} min of {}", left.minutes, left.plan_node_id);
    }
    if schedule.lateness_minutes > 0 {
        let _ = writeln!(
            text,
            "It ends {} working minutes after the deadline.",
            schedule.lateness_minutes
        );
    }
    for relaxation in &schedule.relaxations {
        let _ = writeln!(text, "Would help: {}", relaxation.summary);
    }
    text
}

/// One block with its hours, several with their first and last day.
fn describe_blocks(blocks: &[&ScheduledBlock]) -> String {
    let local = |at: OffsetDateTime| at.offset.to_datetime(at.at);
    let clock = |at: OffsetDateTime| local(at).strftime("%H:%M").to_string();
    let first = blocks.iter().map(|block| block.start.local_date()).min().unwrap_or_default();
    let last = blocks.iter().map(|block| block.end.local_date()).max().unwrap_or_default();
    match blocks {
        [one] => format!("{} {}-{}", day(first), clock(one.start), clock(one.end)),
        many if first == last => format!("{} in {} blocks", day(first), many.len()),
        many => format!("{} to {} in {} blocks", day(first), day(last), many.len()),
    }
}

fn day(date: Date) -> String {
    let weekday = format!("{:?}", Weekday::from_date(date));
    format!("{weekday} {date}")
}

/// Findings of the rules, worst first.
pub(super) fn describe_findings(findings: &[Violation]) -> String {
    let mut text = String::new();
    for found in findings {
        let severity = match found.severity {
            Severity::Fatal => "must be fixed",
            Severity::Repairable => "to fix",
            Severity::Warning => "warning",
        };
        let nodes: Vec<&str> = found.node_ids.iter().map(TaskId::as_str).collect();
        let about =
            if nodes.is_empty() { String::new() } else { format!(" [{}]", nodes.join(", ")) };
        let _ = writeln!(
            text,
            "- {severity}{about}: {} {} ({})",
            found.message, found.suggested_fix, found.rule
        );
    }
    text
}

/// Everything that was said and still applies, with its number and reading.
pub(super) fn describe_facts(talk: &PlanningSlice, today: Date) -> String {
    let mut text = String::new();
    for fact in talk.facts.active() {
        let whole = fact.part_of.filter(|whole| talk.facts.active().any(|fact| fact.id == *whole));
        let from = match (&fact.source, whole) {
            // The statement stands above, with where it is from.
            (_, Some(whole)) => format!("part of {whole}"),
            (FactSource::Answer(key), _) => match asked_question(talk.conversation.as_deref(), key)
            {
                Some(question) => format!("answer to \"{question}\""),
                None => "answer".to_owned(),
            },
            (FactSource::Comment(node), _) => format!("comment on {node}"),
            (FactSource::Workspace(path), _) => format!("file {path}"),
            (other, _) => other.describe().to_owned(),
        };
        let read = fact.reading.as_ref().map(|reading| reading.describe(today));
        let read = read.map(|words| format!(" = {words}")).unwrap_or_default();
        let _ = writeln!(text, "{}. {from}: \"{}\"{read}", fact.id, one_line(fact));
    }
    for key in &talk.skipped_questions {
        if let Some(question) = asked_question(talk.conversation.as_deref(), key) {
            let _ =
                writeln!(text, "- skipped: \"{question}\"; what you said you would assume applies");
        }
    }
    text
}

fn one_line(fact: &Fact) -> String {
    fact.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The key of a question of the model's: the number of the call and of the question in it.
pub(super) fn question_key(call: u32, number: usize) -> String {
    format!("q{call}_{number}")
}

/// The words of a question by its key.
fn asked_question(talk: Option<&AgentConversation>, key: &str) -> Option<String> {
    let (call, number) = key.strip_prefix('q')?.split_once('_')?;
    let (call, number): (u32, usize) = (call.parse().ok()?, number.parse().ok()?);
    let call = talk?.find_call(call).filter(|call| call.tool == ELICIT)?;
    let questions = call.arguments.get("questions")?.as_array()?;
    questions.get(number.checked_sub(1)?)?.get("question")?.as_str().map(str::to_owned)
}

/// When there is time: hours, days off, people, what else takes time.
pub(super) fn describe_time(
    context: &PlanContext,
    events: &[planwright_model::FixedEvent],
    others: &[OtherBlock],
) -> String {
    let mut text = String::new();
    let limits = &context.constraints;
    let _ = writeln!(text, "Time zone {}. First day: {}.", context.calendar.tz, day(limits.start));
    for (weekday, hours) in &context.calendar.working {
        let spans: Vec<String> = hours
            .iter()
            .map(|span| format!("{}-{}", span.start.strftime("%H:%M"), span.end.strftime("%H:%M")))
            .collect();
        if !spans.is_empty() {
            let _ = writeln!(text, "{weekday:?}: {}", spans.join(", "));
        }
    }
    let days = describe_days(context.calendar.days_off.range(limits.start..).copied());
    if !days.is_empty() {
        let _ = writeln!(text, "Days off, for everybody: {days}");
    }
    let assumed = |key: &str| {
        let known = context.find_assumption(key);
        let guessed = known.is_some_and(|value| value.origin != AssumptionOrigin::User);
        if guessed { " (assumed)" } else { "" }
    };
    let is_stated = limits.hard.contains("max_daily_minutes");
    let usual = if is_stated { "" } else { " (usual, not stated)" };
    let _ = writeln!(
        text,
        "The person you talk with: at most {} min a day{usual}.",
        limits.max_daily_minutes
    );
    let _ = writeln!(
        text,
        "Work is placed in blocks of {} to {} min with {} min between them.",
        context.user_prefs.min_block_minutes,
        context.user_prefs.max_block_minutes,
        context.user_prefs.break_minutes
    );
    if let Some(minutes) = limits.weekly_minutes {
        let guessed = assumed("weekly_minutes");
        let _ = writeln!(text, "{minutes} min a week for this plan{guessed}.");
    }
    if let Some(deadline) = limits.deadline {
        let _ = writeln!(text, "Deadline: {}", day(deadline.local_date()));
    }
    if let Some(weeks) = limits.horizon_weeks {
        let _ = writeln!(text, "Horizon: {weeks} weeks{}", assumed("horizon_weeks"));
    }
    let away = describe_days(context.own_days_off.range(limits.start..).copied());
    if !away.is_empty() {
        let _ = writeln!(text, "The person you talk with is away: {away}. Others can work then.");
    }
    for person in &context.people {
        let week = person
            .weekly_minutes
            .map_or("no limit".into(), |minutes| format!("{minutes} min a week"));
        let away = describe_days(person.days_off.iter().copied());
        let away = if away.is_empty() { away } else { format!(", away {away}") };
        let hours = describe_hours(&person.hours);
        let hours = if hours.is_empty() { hours } else { format!(", works {hours}") };
        let _ = writeln!(text, "{}: {week}{hours}{away}", person.name);
    }
    let ahead = events.iter().filter(|event| event.start.local_date() >= limits.start);
    for event in ahead.take(MAX_LISTED) {
        let _ = writeln!(text, "Calendar: {} on {}", event.title, day(event.start.local_date()));
    }
    text.push_str(&describe_load(others));
    text
}

/// Hours of the week, days with the same hours together: `Mon, Tue 08:00-12:00; Fri 13:00-17:00`.
fn describe_hours(week: &planwright_model::WeeklyHours) -> String {
    let mut parts: Vec<(Vec<String>, String)> = Vec::new();
    for (weekday, hours) in week {
        let spans: Vec<String> = hours
            .iter()
            .map(|span| format!("{}-{}", span.start.strftime("%H:%M"), span.end.strftime("%H:%M")))
            .collect();
        let (day, spans) = (format!("{weekday:?}"), spans.join(", "));
        match parts.iter_mut().find(|(_, known)| *known == spans) {
            Some((days, _)) => days.push(day),
            None => parts.push((vec![day], spans)),
        }
    }
    let parts = parts.iter().map(|(days, spans)| format!("{} {spans}", days.join(", ")));
    parts.collect::<Vec<_>>().join("; ")
}

/// Days in order, those that follow each other as a span.
fn describe_days(days: impl Iterator<Item = Date>) -> String {
    let mut spans: Vec<(Date, Date)> = Vec::new();
    for date in days {
        match spans.last_mut().filter(|(_, last)| last.tomorrow().is_ok_and(|next| next == date)) {
            Some(span) => span.1 = date,
            None => spans.push((date, date)),
        }
    }
    let words = spans.iter().take(MAX_LISTED).map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What other plans take, by plan and week.
fn describe_load(others: &[OtherBlock]) -> String {
    let mut plans: BTreeMap<&str, (u32, Date, Date)> = BTreeMap::new();
    for other in others {
        let (first, last) = (other.block.start.local_date(), other.block.end.local_date());
        let load = plans.entry(&other.plan).or_insert((0, first, last));
        *load = (load.0 + other.block.estimated_minutes, load.1.min(first), load.2.max(last));
    }
    let mut text = String::new();
    for (plan, (minutes, first, last)) in plans {
        let _ =
            writeln!(text, "Another plan, \"{plan}\", takes {minutes} min from {first} to {last}.");
    }
    text
}
