//! The rules as data: their meaning, their messages and their fixes.

use planwright_model::{Severity, TaskId, Violation};

/// What a broken rule prevents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleSeverity {
    /// Only a person can resolve it.
    Fatal,
    /// The plan must be fixed before it continues.
    Repairable,
    /// Shown, but it blocks nothing.
    Warning,
    /// The plan is valid but does not fit; relaxations are offered.
    Infeasible,
}

impl RuleSeverity {
    /// Returns the severity of a violation. Infeasible is reported as fatal; [`is_infeasible`] distinguishes them.
    pub fn severity(self) -> Severity {
        match self {
            Self::Fatal | Self::Infeasible => Severity::Fatal,
            Self::Repairable => Severity::Repairable,
            Self::Warning => Severity::Warning,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fatal => "fatal",
            Self::Repairable => "repairable",
            Self::Warning => "warning",
            Self::Infeasible => "infeasible",
        }
    }
}

/// One rule of the grammar. Placeholders in braces are filled in when it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrammarRule {
    pub id: &'static str,
    pub severity: RuleSeverity,
    /// When it is broken.
    pub broken_when: &'static str,
    pub message: &'static str,
    pub fix: &'static str,
}

/// Returns whether a violation means that the plan does not fit, rather than that it is invalid.
pub fn is_infeasible(violation: &Violation) -> bool {
    find_rule(&violation.rule).is_some_and(|rule| rule.severity == RuleSeverity::Infeasible)
}

/// Returns the rule with this id, ignoring case.
pub fn find_rule(id: &str) -> Option<&'static GrammarRule> {
    RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id.trim()))
}

/// Explains a rule in lines for a person.
pub fn explain_rule(id: &str) -> Option<String> {
    let rule = find_rule(id)?;
    Some(format!(
        "{} ({})\n  broken when  {}\n  message      {}\n  fix          {}",
        rule.id,
        rule.severity.as_str(),
        rule.broken_when,
        rule.message,
        rule.fix
    ))
}

/// Creates a violation of rule `id` with its placeholders filled in.
pub(super) fn rule_violation(
    id: &str,
    node_ids: impl IntoIterator<Item = TaskId>,
    values: &[(&str, &str)],
) -> Violation {
    let rule = find_rule(id).expect("every rule that is checked is in the table");
    Violation::new(
        id,
        rule.severity.severity(),
        fill_placeholders(rule.message, values),
        fill_placeholders(rule.fix, values),
    )
    .with_nodes(node_ids)
}

/// Fills the placeholders in one pass, so that a title with braces stays unchanged.
pub(super) fn fill_placeholders(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((key, tail)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            continue;
        };
        match values.iter().find(|(name, _)| *name == key) {
            Some((_, value)) => out.push_str(value),
            None => out.extend(["{", key, "}"]),
        }
        rest = tail;
    }
    out + rest
}

const fn rule_row(
    id: &'static str,
    severity: RuleSeverity,
    broken_when: &'static str,
    message: &'static str,
    fix: &'static str,
) -> GrammarRule {
    GrammarRule { id, severity, broken_when, message, fix }
}

use RuleSeverity::{Fatal as F, Infeasible as X, Repairable as R, Warning as W};

/// All rules, in order of their ids.
#[rustfmt::skip]
pub const RULES: &[GrammarRule] = &[
    rule_row("G101", F, "no goal text or no nodes", "There is nothing to plan yet.", "Ask for the goal in one sentence."),
    rule_row("G102", R, "root_id names no node", "The plan has no starting goal.",
        "Use the only top row as the goal, or add one from the goal text."),
    rule_row("G103", F, "two or more L1 nodes", "Found {n} separate goals; a plan holds one.",
        "Keep \"{title}\" and plan the others separately."),
    rule_row("G104", R, "L1 not a goal, L1 has a parent, or a goal below L1", "\"{title}\" is misplaced as a goal.",
        "Make the top row the goal, and goals below it parts of it."),
    rule_row("G105", R, "duplicate id, or parent missing or unknown", "\"{title}\" is not attached to the plan.",
        "Attach it to the phase before it, or else to the goal."),
    rule_row("G106", F, "parent links form a loop", "{ids} contain each other.", "Ask which one is the parent."),
    rule_row("G107", R, "level is not the parent's level + 1, or a stream position is repeated",
        "\"{title}\" is at level {a}, expected {b} (or shares position {p}).",
        "Recompute levels and positions from the root."),
    rule_row("G108", R, "a child of a kind that its parent may not hold", "A {child} cannot sit under a {parent}.",
        "Convert to the nearest allowed kind or insert the missing container."),
    rule_row("G109", R, "goal or container without a task below", "\"{title}\" has no action in it.",
        "Add the template's default task, or remove the container."),
    rule_row("G110", R, "link to an unknown node, to itself, or between ancestor and descendant",
        "\"{b}\" can't wait for \"{a}\".", "Remove the link."),
    rule_row("G111", R, "dependency loop, containers expanded to leaves (fatal if the person drew every link of it)",
        "{loop} wait for each other.",
        "Remove the link that rests on the least: a guessed one first."),
    rule_row("G112", R, "a task can never start: its predecessor is outside the tree, blocked without plan, or dropped",
        "\"{title}\" can never start because of \"{pred}\".", "Remove the link or restore \"{pred}\"."),
    rule_row("G201", F, "pattern_type not canonical", "\"{x}\" is not a known kind of plan.",
        "Use {nearest}; a new kind of plan needs your approval."),
    rule_row("G202", R, "a proposed subtype without rfc or source_pattern, or proposals switched off",
        "The new kind of plan has no reason.", "Write the reason, or use {source_pattern}."),
    rule_row("G203", R, "context, outline and roadmap patterns differ", "The plan is of two kinds at once.",
        "Use the chosen kind everywhere."),
    rule_row("G204", W, "no review or reflection per cycle, per phase (arcs) or per 13 weeks (strategic)",
        "No point to look back in \"{title}\".", "Add a 15-minute review at the end."),
    rule_row("G211", R, "milestone_project: fewer than 2 phases, or a cycle at L2",
        "A one-off project needs ordered phases.", "Split at the first deliverable; move the cycle under a phase."),
    rule_row("G212", R, "milestone_project: no final milestone depending on the last phase, or neither deadline nor horizon",
        "The finish is not defined.", "{missing}."),
    rule_row("G221", R, "recurring_cycle: no cycle with recurrence, a phase present, or a cycle without task",
        "A routine needs one repeating cycle.", "Say how often it repeats; turn phases into tasks."),
    rule_row("G231", R, "arc: fewer than 2 phases, phases not chained, or intensity falls before the last phase",
        "The steps do not build on each other.", "Put the phases one after another, from light to hard."),
    rule_row("G232", R, "arc phase without a practice task", "\"{phase}\" has no practice.",
        "Add a practice task with 40 % of the phase's time."),
    rule_row("G233", W, "training_arc: week load > 1.10 × previous non-recovery week, rounded up to 5 min",
        "Week {n} grows by {p} %.", "Cap growth at 10 %, recovery every 4th week."),
    rule_row("G241", R, "hybrid: no cycle holding 2 or more phases and one deliverable per cycle",
        "Each round needs stages and a result.",
        "Insert Plan/Build/Ship/Reflect phases and a deliverable milestone."),
    rule_row("G251", R, "strategic: fewer than 2 streams at L2, or a stream without sub_goal",
        "A transformation needs parallel streams.",
        "Add a stream for skills and one for the change, with a goal each."),
    rule_row("G301", R, "leaf without positive estimate (milestones exempt)", "No time estimate for \"{title}\".",
        "Use the share of the template, the middle of the tasks beside it, or 1 h."),
    rule_row("G302", R, "node added or lost since the outline without a log entry",
        "The estimates no longer match the outline.", "Restore the row, or note the change."),
    rule_row("G303", R, "lag out of range; FS lead longer than the predecessor; FF/SF onto a container without a closing leaf",
        "The time between \"{a}\" and \"{b}\" is not possible.", "Shorten the overlap, or link to the last task."),
    rule_row("G304", R, "options_tried not 2 or 3, or not exactly one chosen with rationale",
        "Alternatives were not compared.", "Compare two or three ways and choose one."),
    rule_row("G305", W, "total effort > capacity over the horizon", "The work takes {h} h, and there are {c} h for it.",
        "Choose what to change: more hours, a later end, or less work."),
    rule_row("G306", W, "a leaf of more than 960 min", "\"{title}\" is too big to track.",
        "Split into parts of at most 8 h."),
    rule_row("G401", X, "last finish after the deadline, unless accepted late", "The plan ends {d} after the deadline.",
        "Choose what to change, or keep it as it is."),
    rule_row("G402", X, "minutes that fit nowhere in the horizon", "{n} of \"{title}\" fits nowhere before the end.",
        "Choose what to change, or keep it as it is."),
    rule_row("G403", R, "a dependency inequality fails", "\"{b}\" can't start before \"{a}\" is done.",
        "Move \"{b}\" to its earliest possible time."),
    rule_row("G404", R, "block overlaps another block of the plan, a locked block or a fixed event",
        "\"{a}\" collides with \"{b}\" at {t}.", "Move the one that may move to the next free time."),
    rule_row("G405", R, "block outside working time, on a day off, or above a daily or weekly cap",
        "\"{title}\" is placed outside your hours.", "Move the excess to the next free day."),
    rule_row("G406", R, "tz not IANA, offset wrong for tz, or end not after start",
        "The times of \"{title}\" are not valid.", "Compute them again from local time and zone."),
    rule_row("G407", R, "blocks of a leaf do not add up to its estimate, or a block < min_block (unless the whole leaf is)",
        "Only {x} of {y} of \"{title}\" has a time.", "Divide its work over days again."),
    rule_row("G408", R, "occurrence missing or its local time drifts across a clock change",
        "\"{title}\" does not repeat at {t}.", "Set the times again from how often it repeats."),
    rule_row("G409", W, "week utilization > target, or free time before the deadline < buffer_ratio × horizon",
        "Week {w} is {p} % full.", "Move the latest optional task."),
    rule_row("G410", W, "overlap with another plan's movable block", "Clashes with \"{other}\".",
        "Move one of the two."),
    rule_row("G411", R, "a task does not start or end on the date that was fixed by hand",
        "\"{title}\" {words} {date}, but is planned for {got}.", "Move it to that date, or clear the date."),
    rule_row("G412", R, "a task starts before its \"not before\" or ends after it is due",
        "\"{title}\" is planned for {got}, but is {words} {date}.", "Make room before that date, or choose another."),
    rule_row("G501", R, "a plan or schedule breaks a fact that applies: a date, an absence, hours, a person, a budget, an order, a number, a place",
        "This breaks what you said, \"{fact}\": {what}.", "Change the plan, or correct or withdraw what you said."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_found_in_any_case() {
        assert!(RULES.is_sorted_by(|a, b| a.id < b.id));
        assert_eq!(RULES.len(), 43);
        assert!(
            explain_rule("g111")
                .unwrap()
                .starts_with("G111 (repairable)\n  broken when  dependency loop")
        );
        assert_eq!(explain_rule("G999"), None);
    }

    #[test]
    fn placeholders_are_filled_once() {
        let values = [("a", "{b}"), ("b", "no")];
        assert_eq!(fill_placeholders("{a} and {unknown} {", &values), "{b} and {unknown} {");
    }
}
