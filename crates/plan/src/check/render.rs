//! A check report as lines for a person.

use super::{CheckReport, ScheduleReport};
use crate::plan_file::format_place;
use planwright_model::{CriticalPathMeasure, OffsetDateTime, RunKind, Severity, TaskId, Violation};
use planwright_text::units;

/// How many entries a line lists before it is truncated.
const MAX_LISTED_IDS: usize = 12;

impl CheckReport {
    /// Renders the report as plain lines. `name` is the name of the file.
    pub fn render_lines(&self, name: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for violation in &self.violations {
            lines.extend(violation_lines(name, violation));
        }
        for entry in self.normalization.iter().filter(|entry| entry.code != "dependency_missing") {
            lines.push(format!("{name}: note[{}]: {}", entry.code, entry.detail));
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(self.verdict_line(name));
        if !self.execution_order.is_empty() {
            lines.push(format!("  starts with    {}", join_ids(&self.root_tasks, ", ")));
            lines.push(format!("  order          {}", join_ids(&self.execution_order, ", ")));
            // Token counts do not apply to commands and people.
            let agents = self.plan.tasks.iter().any(|task| matches!(task.run, RunKind::Agent(_)));
            let by = match self.critical_path_by {
                CriticalPathMeasure::Minutes => " (by minutes)",
                CriticalPathMeasure::Tokens if agents => " (by tokens)",
                CriticalPathMeasure::Tokens => "",
            };
            lines.push(format!("  critical path  {}{by}", join_ids(&self.critical_path, " › ")));
            if agents {
                let tokens = units::format_count(self.estimated_total_tokens);
                lines.push(format!("  tokens         {tokens} estimated"));
            }
            lines.extend(self.schedule.as_ref().map(schedule_line));
        }
        lines
    }

    fn verdict_line(&self, name: &str) -> String {
        let faults =
            self.violations.iter().filter(|found| found.severity != Severity::Warning).count();
        let warnings = self.violations.len() - faults;
        let size = format!(
            "{}, {}",
            count_with_noun(self.plan.tasks.len(), "task"),
            count_with_noun(self.layers as usize, "layer")
        );
        match (self.valid, warnings) {
            (true, 0) => format!("{name} is a valid plan: {size}"),
            (true, _) => {
                format!("{name} is a valid plan: {size}, {}", count_with_noun(warnings, "warning"))
            }
            (false, 0) => {
                format!("{name} is not a valid plan: {}", count_with_noun(faults, "error"))
            }
            (false, _) => format!(
                "{name} is not a valid plan: {}, {}",
                count_with_noun(faults, "error"),
                count_with_noun(warnings, "warning")
            ),
        }
    }
}

fn schedule_line(schedule: &ScheduleReport) -> String {
    let length = units::format_planned(schedule.makespan_minutes);
    let first = schedule.blocks.iter().filter_map(|block| block.start_at).min();
    let last = schedule.blocks.iter().filter_map(|block| block.finish_at).max();
    let bound = match schedule.lower_bound_minutes {
        bound if bound == schedule.makespan_minutes => "which is the least possible".to_owned(),
        bound => format!("at least {} are needed", units::format_planned(bound)),
    };
    match first.zip(last) {
        Some((first, last)) => format!(
            "  schedule       {} to {} ({}), {length} of work, {bound}",
            format_local_time(first),
            format_local_time(last),
            schedule.tz.as_deref().unwrap_or_default(),
        ),
        None => format!("  schedule       {length} of work, {bound}"),
    }
}

fn format_local_time(moment: OffsetDateTime) -> String {
    moment.offset.to_datetime(moment.at).strftime("%a %Y-%m-%d %H:%M").to_string()
}

fn violation_lines(name: &str, violation: &Violation) -> [String; 2] {
    let kind = if violation.severity == Severity::Warning { "warning" } else { "error" };
    [
        format!(
            "{}: {kind}[{}]: {}",
            format_place(name, violation),
            violation.rule,
            violation.message
        ),
        format!("    {}", violation.suggested_fix),
    ]
}

fn count_with_noun(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn join_ids(ids: &[TaskId], separator: &str) -> String {
    let shown: Vec<&str> = ids.iter().take(MAX_LISTED_IDS).map(TaskId::as_str).collect();
    match ids.len().saturating_sub(MAX_LISTED_IDS) {
        0 => shown.join(separator),
        more => format!("{}{separator}… {more} more", shown.join(separator)),
    }
}
