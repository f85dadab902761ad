//! A plan as text for a terminal, and as JSON.

use std::collections::BTreeMap;

use jiff::civil::Date;

use serde_json::json;

use planwright_drafting::goal_reading::GoalReading;
use planwright_model::requests::describe_confidence;
use planwright_model::{
    AssumptionOrigin, EscalationReason, ExitCriterion, IsoWeek, NodeTree, NodeType, PlanDrafter,
    PlanNode, Roadmap, RoadmapOption, RunKind, Schedule, ScheduledBlock, SessionId, TaskId,
    Violation,
};
use planwright_plan::confidence::is_refuted;
use planwright_plan::grammar::is_infeasible;
use planwright_state::{PlanningSlice, SessionState};
use planwright_text::{dates, units};

/// Everything in reading order: what, what was read of it, how long, which way, when, what was assumed, how sure.
pub(super) fn render_plan_text(talk: &PlanningSlice, reading: &GoalReading) -> String {
    let mut lines = Vec::new();
    add_heading(talk, &mut lines);
    lines.extend(reading_lines(talk, reading));
    lines.extend(talk.broken_facts().map(|found| found.message.clone()));
    add_notes(talk, &mut lines);
    if let Some(roadmap) = talk.roadmap.as_deref() {
        add_outline(roadmap, &mut lines);
        let by_model = !talk.offline && matches!(talk.drafter, PlanDrafter::Model(_));
        add_options(roadmap, talk.schedule.as_deref(), by_model, &mut lines);
        add_risks(roadmap, &mut lines);
        if let Some(schedule) = talk.schedule.as_deref() {
            // A year appears where it is another than that of the first day the plan may use.
            let today = talk.context.as_deref().map(|context| context.constraints.start);
            let first = || schedule.blocks.iter().map(|block| block.start.local_date()).min();
            let today = today.or_else(first).unwrap_or_default();
            add_schedule(schedule, roadmap, today, &mut lines);
        }
    }
    add_assumptions(talk, &mut lines);
    add_confidence(talk, &mut lines);
    let text = lines.join("\n");
    format!("{}\n", planwright_text::clean_text(&text))
}

fn add_heading(talk: &PlanningSlice, lines: &mut Vec<String>) {
    lines.push(talk.goal.clone());
    if let Some(choice) = &talk.pattern {
        lines.push(format!("Kind: {}", choice.pattern.kind_noun()));
    }
    lines.push(match (talk.offline, &talk.drafter, &talk.last_trouble) {
        (false, drafter, _) => format!("Drafted by {}.", drafter.describe()),
        (true, PlanDrafter::Offline | PlanDrafter::Unset, _) | (true, _, None) => {
            "Built-in planner, no model in use.".to_owned()
        }
        (true, drafter, Some(trouble)) => {
            format!("Built-in planner instead of {drafter}: {trouble}.")
        }
    });
}

/// What was read of the goal and what was not. A note that the plan has too stands with the others.
pub(super) fn reading_lines(talk: &PlanningSlice, reading: &GoalReading) -> Vec<String> {
    let is_new = |(label, text): &(&str, String)| {
        !label.is_empty() || !talk.notes.iter().any(|note| same_note(note, text))
    };
    let lines = reading.labeled_lines().into_iter().filter(is_new);
    lines
        .map(|(label, text)| match label {
            "" => format!("Note: {}.", text.trim_end_matches('.')),
            label => format!("{label}: {text}"),
        })
        .map(|line| planwright_text::clean_line(&line).into_owned())
        .collect()
}

fn same_note(one: &str, other: &str) -> bool {
    one.trim_end_matches('.') == other.trim_end_matches('.')
}

fn add_outline(roadmap: &Roadmap, lines: &mut Vec<String>) {
    lines.push(String::new());
    let minutes = units::format_planned(u64::from(roadmap.total_minutes));
    let tree = roadmap.node_tree();
    let endless = |node: &PlanNode| {
        node.recurrence.as_ref().is_some_and(|recurrence| recurrence.count.is_none())
    };
    let once = if roadmap.nodes.iter().any(endless) { ", what repeats counted once" } else { "" };
    lines.push(format!("Outline    {minutes} of work{once}"));
    if let Some(root) = tree.get(&roadmap.root_id) {
        for child in tree.children(&root.id) {
            add_branch(&tree, &child.id, 1, roadmap, lines);
        }
    }
    if !roadmap.critical_path.is_empty() {
        lines.push("  * marks the longest path: what is late there makes the end late".to_owned());
    }
}

/// What can go wrong with the whole plan; safety advice is among it.
fn add_risks(roadmap: &Roadmap, lines: &mut Vec<String>) {
    let tree = roadmap.node_tree();
    let Some(root) = tree.get(&roadmap.root_id).filter(|root| !root.risks.is_empty()) else {
        return;
    };
    lines.extend([String::new(), "Risks".to_owned()]);
    lines.extend(root.risks.iter().map(|risk| format!("  {risk}")));
}

/// Cells of an id and of a title in the outline.
const ID: usize = 7;
const TITLE: usize = 54;

fn add_branch(
    tree: &NodeTree<'_>,
    id: &TaskId,
    depth: usize,
    roadmap: &Roadmap,
    lines: &mut Vec<String>,
) {
    let Some(node) = tree.get(id) else { return };
    let indent = "  ".repeat(depth);
    let mark = if roadmap.critical_path.contains(id) { '*' } else { ' ' };
    let minutes = match node.estimate_minutes {
        _ if node.milestone => "milestone".to_owned(),
        Some(minutes) => units::format_planned(minutes.into()),
        None => units::format_planned(tree.total_minutes(id).into()),
    };
    let owner = node.other_owner().map(|name| format!("  {name}")).unwrap_or_default();
    let cost = node.cost.as_ref().map(|cost| format!("  {cost}")).unwrap_or_default();
    // A longer id takes its room from the title, so that the times stand below each other.
    let title_width = TITLE.saturating_sub(node.id.as_str().chars().count().saturating_sub(ID));
    lines.push(format!(
        "{indent}{mark}{:<ID$} {:<title_width$} {minutes:>11}{owner}{cost}",
        node.id.as_str(),
        node.title
    ));
    if !node.done_when.is_empty() && node.node_type == NodeType::Task {
        lines.push(format!("{indent}         done when {}", node.done_when));
    }
    // A command stands as it will run; what hides in it is spelled out.
    if let Some(RunKind::Shell(command)) = &node.run {
        lines.push(format!("{indent}         runs exactly:"));
        let revealed = planwright_text::reveal_hidden(command);
        lines.extend(revealed.split('\n').map(|line| format!("{indent}           {line}")));
    }
    for criterion in &node.exit_criteria {
        let ExitCriterion::Command { command, .. } = criterion else { continue };
        lines.push(format!("{indent}         is checked with exactly:"));
        let revealed = planwright_text::reveal_hidden(command);
        lines.extend(revealed.split('\n').map(|line| format!("{indent}           {line}")));
    }
    for child in tree.children(id) {
        add_branch(tree, &child.id, depth + 1, roadmap, lines);
    }
}

fn add_options(
    roadmap: &Roadmap,
    schedule: Option<&Schedule>,
    by_model: bool,
    lines: &mut Vec<String>,
) {
    if roadmap.options_tried.is_empty() {
        return;
    }
    // A model's figures are its own; the dates below say how long its choice takes.
    let planned = schedule.and_then(planned_weeks).filter(|_| !by_model);
    let estimated = roadmap.chosen_option().map(|option| option.span_weeks);
    lines.push(String::new());
    lines.push("Options".to_owned());
    for option in &roadmap.options_tried {
        let mark = if option.chosen { '>' } else { ' ' };
        // Only what was chosen is scheduled; the others are as long as they were estimated beside it.
        let weeks = match (planned, estimated) {
            (Some(planned), Some(estimated)) if option.span_weeks == estimated => planned,
            _ => option.span_weeks,
        };
        lines.push(format!("  {mark} {:<10} {}", option.label, option_line(option, weeks)));
        if option.chosen && !option.rationale.is_empty() {
            lines.push(format!("               {}", option.rationale));
        }
    }
}

/// Hours, span and what differs, each once. The summary of the built-in planner holds all of it; a model's does not.
fn option_line(option: &RoadmapOption, weeks: u16) -> String {
    let effort = units::format_planned(option.effort_minutes.into());
    let [estimated, weeks] =
        [option.span_weeks, weeks].map(|weeks| units::format_counted(weeks.into(), "week"));
    if option.summary.starts_with(&effort) {
        let estimated = format!(" over {estimated},");
        return option.summary.replacen(&estimated, &format!(" over {weeks},"), 1);
    }
    let gap = if option.summary.is_empty() { "" } else { "; " };
    format!("{effort} over {weeks}{gap}{}", option.summary)
}

/// Returns the weeks from the first to the last block of a schedule.
fn planned_weeks(schedule: &Schedule) -> Option<u16> {
    let days = schedule.blocks.iter().map(|block| block.start.local_date());
    let (first, last) = (days.clone().min()?, days.max()?);
    let days = first.until(last).ok()?.get_days() + 1;
    u16::try_from(days.max(1).unsigned_abs().div_ceil(7)).ok()
}

fn add_schedule(schedule: &Schedule, roadmap: &Roadmap, today: Date, lines: &mut Vec<String>) {
    lines.push(String::new());
    lines.push(format!("Schedule   {}", schedule.tz));
    let mut weeks: BTreeMap<IsoWeek, Vec<&ScheduledBlock>> = BTreeMap::new();
    for block in &schedule.blocks {
        weeks.entry(IsoWeek::from_date(block.start.local_date())).or_default().push(block);
    }
    let tree = roadmap.node_tree();
    for (week, blocks) in weeks {
        let minutes: u64 = blocks.iter().map(|block| u64::from(block.estimated_minutes)).sum();
        let name = match week.monday() {
            Some(monday) => format!("Week of {}", dates::format_date(monday, today)),
            None => week.to_string(),
        };
        lines.push(format!("  {name}  {}", units::format_planned(minutes)));
        for block in blocks {
            let start = block.start.offset.to_datetime(block.start.at);
            let owner = tree.get(&block.plan_node_id).and_then(PlanNode::other_owner);
            let owner = owner.map(|name| format!(" ({name})")).unwrap_or_default();
            lines.push(format!(
                "    {:<20}  {:>11}  {}{owner}",
                dates::format_date_time(start, today),
                units::format_planned(block.estimated_minutes.into()),
                block.title
            ));
        }
    }
    let title_of =
        |id: &TaskId| tree.get(id).map_or_else(|| id.to_string(), |node| node.title.clone());
    let moved = planwright_schedule::describe_moved_times(roadmap, schedule, &[], &[]);
    lines.extend(moved.into_iter().map(|text| format!("  moved: {text}")));
    for missing in &schedule.unplaced {
        lines.push(format!(
            "  does not fit: {} of {}",
            units::format_planned(missing.minutes.into()),
            title_of(&missing.plan_node_id)
        ));
    }
    for (number, relaxation) in schedule.relaxations.iter().enumerate() {
        lines.push(format!("  {} (answer: use {})", relaxation.summary, number + 1));
    }
}

/// What the goal says that could not be used, first of all.
fn add_notes(talk: &PlanningSlice, lines: &mut Vec<String>) {
    for note in &talk.notes {
        lines.push(format!("Note: {}.", note.trim_end_matches('.')));
    }
}

/// What the person keeps in their settings, then what nobody said, with the command that settles the hours for good.
fn add_assumptions(talk: &PlanningSlice, lines: &mut Vec<String>) {
    let Some(context) = talk.context.as_deref() else { return };
    let of = |origin: AssumptionOrigin| {
        context.assumptions.iter().filter(move |found| found.origin == origin)
    };
    let today = context.constraints.start;
    for (title, origin) in
        [("Yours", AssumptionOrigin::Memory), ("Assumed", AssumptionOrigin::Template)]
    {
        let rests_on = match origin {
            AssumptionOrigin::Template => talk.plan_assumptions(),
            _ => &[],
        };
        if of(origin).next().is_none() && rests_on.is_empty() {
            continue;
        }
        lines.extend([String::new(), title.to_owned()]);
        for found in of(origin) {
            let words = found.describe(today);
            let remedy = match (origin, found.key.as_str()) {
                (AssumptionOrigin::Template, "working") => {
                    "; planwright config set me.hours \"evenings and Saturdays\" changes them for all plans"
                }
                _ => "",
            };
            lines.push(format!("  {words}{remedy}"));
        }
        lines.extend(rests_on.iter().map(|text| format!("  {}", text.trim_end_matches('.'))));
    }
}

fn add_confidence(talk: &PlanningSlice, lines: &mut Vec<String>) {
    lines.push(String::new());
    lines.push("Confidence".to_owned());
    lines.extend(talk.confidence_sentence().map(|sentence| format!("  {sentence}")));
    for stage in talk.judgements.values() {
        let name = stage.confidence.stage.as_str();
        lines.push(format!("  {name:<9} {}", describe_confidence(&stage.confidence)));
        let told = |found: &&Violation| !is_refuted(found, &talk.judgements);
        for violation in stage.violations.iter().filter(told) {
            lines.push(format!("    {} {}", violation.message, violation.suggested_fix));
        }
    }
}

/// Why the model that was to draft did not, where the offline planner drafted in its place.
pub(super) fn replaced_model_failure(talk: &PlanningSlice) -> Option<&str> {
    let replaced =
        talk.offline && !matches!(talk.drafter, PlanDrafter::Offline | PlanDrafter::Unset);
    talk.last_trouble.as_deref().filter(|_| replaced)
}

/// One object with all artifacts.
/// Why planning waits, by its name: a proposed subtype or pattern follows a colon.
fn escalation_name(reason: &EscalationReason) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(serde_json::Value::Object(fields)) => {
            let named = fields.iter().next();
            named.map_or_else(String::new, |(name, of)| {
                format!("{name}:{}", of.as_str().unwrap_or_default())
            })
        }
        _ => String::new(),
    }
}

/// The plan as one object. While something is open there may be no plan yet: the object then says what is waited for.
pub(super) fn render_plan_json(
    session: &SessionId,
    state: &SessionState,
) -> Result<String, serde_json::Error> {
    let talk = &state.planning;
    let requests: Vec<_> = state.requests.open.values().map(|open| &open.request).collect();
    let stages: Vec<_> = talk.judgements.values().collect();
    let feasible = !stages.iter().flat_map(|stage| &stage.violations).any(is_infeasible);
    let object = json!({
        "session": session,
        "outline": talk.outline,
        "roadmap": talk.roadmap,
        "schedule": talk.schedule,
        "adaptation_log": talk.adaptation_log,
        "stages": stages,
        "questions": talk.questions,
        "notes": talk.notes,
        "state": talk.place.state.as_str(),
        "planning_status": talk.place.state.planning_status(),
        "response_text": talk.response_text,
        "escalate_reason": talk.reason.as_ref().map(escalation_name),
        "requests": requests,
        "pattern_rfc_required": talk.pattern_rfc_required,
        "pattern_rfc_text": talk.pattern_rfc_text,
        "feasible": feasible,
        "drafted_by": if talk.offline { "offline" } else { talk.drafter.as_str() },
        "model_failure": replaced_model_failure(talk),
    });
    Ok(format!("{}\n", serde_json::to_string(&object)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use planwright_model::{OffsetDateTime, PlanContext, PlanOutline, Risk};

    fn option(label: &str, weeks: u16, chosen: bool) -> RoadmapOption {
        RoadmapOption {
            id: label.to_lowercase(),
            label: label.to_owned(),
            summary: "as it is".to_owned(),
            tasks: String::new(),
            effort_minutes: 120,
            span_weeks: weeks,
            risk: Risk::Low,
            score: 1.0,
            chosen,
            rationale: String::new(),
        }
    }

    /// One task of Ben's and one of the person's, eight weeks apart.
    fn drafted() -> (Roadmap, Schedule) {
        let context = PlanContext::new("Build it", date(2026, 6, 8), "UTC");
        let mut outline = PlanOutline::new("g", context);
        for (id, owner) in [("a", "Ben"), ("b", "")] {
            let title = format!("Task {id}");
            let mut task = PlanNode::new_child(&outline.nodes[0], id, NodeType::Task, title);
            task.estimate_minutes = Some(60);
            task.owner = owner.to_owned();
            outline.nodes.push(task);
        }
        let mut roadmap = Roadmap::new(&outline, Vec::new());
        roadmap.options_tried = vec![option("Plain", 9, true), option("Fancy", 9, false)];
        let at =
            |text: &str| OffsetDateTime::in_zone(text.parse().unwrap(), &jiff::tz::TimeZone::UTC);
        let (first, last) = (at("2026-06-08T09:00:00Z"), at("2026-08-02T09:00:00Z"));
        let mut schedule = Schedule::new("UTC", first, last);
        schedule.blocks = [("a", first), ("b", last)]
            .map(|(id, start)| {
                let end = start.plus_minutes(60);
                ScheduledBlock::new(id, format!("Task {id}"), start, end, "UTC")
            })
            .to_vec();
        (roadmap, schedule)
    }

    #[test]
    fn others_are_named_in_the_outline_and_in_the_schedule() {
        let (roadmap, schedule) = drafted();
        let mut lines = Vec::new();
        add_outline(&roadmap, &mut lines);
        add_schedule(&schedule, &roadmap, date(2026, 6, 8), &mut lines);
        let about = |id: &str| -> Vec<&String> {
            lines.iter().filter(|line| line.contains(&format!("Task {id}"))).collect()
        };
        assert!(about("a")[0].ends_with("1 h  Ben"), "{lines:#?}");
        assert!(about("a")[1].ends_with("Task a (Ben)"), "{lines:#?}");
        assert!(about("b")[0].ends_with("1 h") && about("b")[1].ends_with("Task b"), "{lines:#?}");
    }

    #[test]
    fn options_of_a_model_have_the_weeks_that_it_gave_them() {
        let (roadmap, schedule) = drafted();
        for (by_model, weeks) in [(true, "over 9 weeks"), (false, "over 8 weeks")] {
            let mut lines = Vec::new();
            add_options(&roadmap, Some(&schedule), by_model, &mut lines);
            assert_eq!(lines.iter().filter(|line| line.contains(weeks)).count(), 2, "{lines:#?}");
        }
    }
}
