//! The facts of a plan's card, in one order: your time, dates, what runs and costs, what was assumed, confidence,
//! policy. What breaks something that was said stands before all of it. Of a revised draft what was asked and what changed come first. A fact that says nothing is left out.

use jiff::civil::Date;

use super::changes::{DraftComparison, own_minutes};
use super::rows::PlanTextRow;
use super::{confidence, fact_texts, goal_lines, stated_costs};
use planwright_model::agent_conversation::{ReportedOutcome, RequestReport};
use planwright_state::SessionState;
use planwright_text::units;

/// How many broken facts a card names in full.
const MAX_BROKEN: usize = 2;

/// How many cells of a request stand on a narrow card.
const LONGEST_QUOTE: usize = 38;

/// The key that leads from a fact to more about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactHint {
    Nothing,
    RequestChanges,
    Details,
    /// What changed, field by field.
    Fields,
    Policy,
    /// What the person said.
    Facts,
}

/// One line of the card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFact {
    pub label: &'static str,
    pub text: String,
    /// The same in fewer and fewer words, for lines that are too narrow for the text.
    pub shorter: Vec<String>,
    pub hint: FactHint,
}

impl PlanFact {
    fn new(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, text: text.into(), shorter: Vec::new(), hint: FactHint::Nothing }
    }

    fn with_shorter(self, shorter: Vec<String>) -> Self {
        Self { shorter, ..self }
    }

    /// The longest of its texts that fits so many columns; the shortest if none does.
    pub fn text_within(&self, columns: usize) -> &str {
        let mut texts = std::iter::once(&self.text).chain(&self.shorter);
        let fits = texts.find(|text| planwright_text::display_width(text) <= columns);
        fits.or(self.shorter.last()).unwrap_or(&self.text)
    }

    fn with_hint(self, hint: FactHint) -> Self {
        Self { hint, ..self }
    }
}

/// What the facts are made from.
#[derive(Clone, Copy, Debug)]
pub struct PlanFactSource<'a> {
    pub state: &'a SessionState,
    pub rows: &'a [PlanTextRow],
    /// Set where the draft revises another.
    pub changes: Option<&'a DraftComparison>,
    /// How often the person is asked and what runs unasked, in one line.
    pub policy: &'a str,
    /// The reader's day.
    pub today: Date,
}

/// The question of the card: `approve this plan?`, `approve draft 2?`, `run this plan?`.
pub fn approval_question(state: &SessionState, revised: bool) -> String {
    let draft = state.draft_number().max(1);
    // What an agent of another program submitted is approved; whether it runs here is another answer.
    match (revised, state.planning.begun || state.desk.is_ticket()) {
        (true, _) => format!("approve draft {draft}?"),
        (false, true) => "approve this plan?".to_owned(),
        (false, false) => "run this plan?".to_owned(),
    }
}

/// The facts in their order.
pub fn plan_facts(source: PlanFactSource<'_>) -> Vec<PlanFact> {
    let changes = source.changes.filter(|changes| changes.total() > 0);
    if source.state.desk.is_ticket() {
        return ticket_facts(source.state, changes);
    }
    let mut facts = match (changes, source.state.planning.begun) {
        (Some(changes), true) => revised_facts(source, changes),
        (None, true) => drafted_facts(source),
        (changes, false) => file_facts(source, changes),
    };
    facts.splice(0..0, reported_facts(source.state));
    facts.splice(0..0, overlap_fact(source.state));
    let broken = broken_facts(source.state);
    facts.splice(0..0, broken);
    let open = &source.state.planning.open_changes;
    if !open.is_empty() {
        let quoted: Vec<String> =
            open.iter().map(|text| format!("\"{}\"", planwright_text::clean_line(text))).collect();
        let (is, kept, it) = match open.len() {
            1 => ("is", "kept as a comment", "it"),
            _ => ("are", "kept as comments", "them"),
        };
        let quoted = quoted.join(", ");
        let text = format!("{quoted}: {kept}, the planner can't act on {it}");
        let count = units::format_counted(open.len(), "request");
        let mut shorter = vec![format!("{quoted} {is} {kept}")];
        if let [only] = open.as_slice() {
            let words = planwright_text::clean_line(only);
            let words = planwright_text::truncate_end(&words, LONGEST_QUOTE);
            shorter.push(format!("\"{words}\" is {kept}"));
        }
        shorter.push(format!("{count}: {kept}"));
        facts.push(PlanFact::new("Left open", text).with_shorter(shorter));
    }
    if let Some(text) = confidence::describe_confidence(source.state) {
        let shorter = fact_texts::shorter_confidence(&text);
        let fact = PlanFact::new("Confidence", text).with_shorter(shorter);
        facts.push(fact.with_hint(FactHint::Details));
    }
    if !source.policy.is_empty() {
        let shorter = fact_texts::shorter_policy(source.policy);
        let fact = PlanFact::new("Policy", source.policy).with_shorter(shorter);
        facts.push(fact.with_hint(FactHint::Policy));
    }
    facts.retain(|fact| !fact.text.is_empty());
    facts
}

/// What became of the person's requests and questions, in the words of the model that took them up.
fn reported_facts(state: &SessionState) -> Vec<PlanFact> {
    let fact = |report: &RequestReport| match report.outcome {
        ReportedOutcome::Answered => PlanFact::new("Answer", report.describe_outcome()),
        // A single request stands under it, as what was asked.
        _ if state.planning.reports.len() == 1 => {
            PlanFact::new("Outcome", report.describe_outcome())
        }
        _ => PlanFact::new("Request", report.describe()),
    };
    state.planning.reports.iter().map(fact).collect()
}

/// What takes the time of other plans too. Every overlap, and where blocks could go, is among the details.
fn overlap_fact(state: &SessionState) -> Option<PlanFact> {
    let report = state.planning.overlaps.as_deref()?;
    let first = report.overlaps.first()?;
    let line = |text: &str| planwright_text::clean_line(text).into_owned();
    let count = units::format_counted(report.overlaps.len(), "block");
    let others: Vec<String> =
        report.other_plans().iter().map(|plan| format!("\"{}\"", line(plan))).collect();
    let short = format!("{count} at the time of {}", others.join(", "));
    // Why a yes did not count yet, right after it was said.
    let unread = state.requests.open.values().find_map(|open| open.request.unread.as_ref());
    let text = match unread {
        Some(unread) => format!("not approved yet: {}", line(&unread.why)),
        None => format!("{short}, first \"{}\"", line(&first.title)),
    };
    Some(PlanFact::new("Overlaps", text).with_shorter(vec![short]).with_hint(FactHint::Details))
}

/// What the plan breaks of what was said, in a sentence without a label; it comes before everything else.
fn broken_facts(state: &SessionState) -> Vec<PlanFact> {
    let broken: Vec<String> = state
        .planning
        .broken_facts()
        .map(|found| planwright_text::clean_line(&found.message).into_owned())
        .collect();
    let more = broken.len().saturating_sub(MAX_BROKEN);
    let mut facts: Vec<PlanFact> = broken
        .into_iter()
        .take(MAX_BROKEN)
        .map(|text| PlanFact::new("", text).with_hint(FactHint::Facts))
        .collect();
    if more > 0 {
        let text =
            format!("It breaks {} more that you said.", units::format_counted(more, "thing"));
        facts.push(PlanFact::new("", text));
    }
    facts
}

fn drafted_facts(source: PlanFactSource<'_>) -> Vec<PlanFact> {
    let PlanFactSource { state, rows, today, .. } = source;
    let own = own_minutes(rows);
    let mut facts = Vec::new();
    if own > 0 {
        let fact = PlanFact::new("Your time", fact_texts::own_time_text(state, own));
        facts.push(fact.with_shorter(fact_texts::shorter_own_time(state, own)));
    }
    facts.push(PlanFact::new("Costs", stated_costs::costs_text(state, rows)));
    facts.push(PlanFact::new("Dates", fact_texts::dates_text(state, rows, today)));
    facts.push(PlanFact::new("Moved", fact_texts::moved_times_text(state)));
    facts.push(PlanFact::new("Runs", fact_texts::runs_text(state, rows)));
    if let Some((_, unread)) =
        goal_lines(state, today).into_iter().find(|(label, _)| *label == "Not read")
    {
        facts.push(PlanFact::new("Not read", planwright_text::clean_line(&unread)));
    }
    if let Some(context) = &state.planning.context {
        let assumed = super::describe_assumptions(&state.planning, context, today);
        // Sentences of a drafter's have commas of their own.
        let gap = if state.planning.plan_assumptions().is_empty() { ", " } else { "; " };
        let fact = PlanFact::new("Assumed", assumed.join(gap));
        let fact = fact.with_shorter(fact_texts::shorter_lists(&assumed));
        facts.push(fact.with_hint(FactHint::RequestChanges));
    }
    facts
}

fn revised_facts(source: PlanFactSource<'_>, changes: &DraftComparison) -> Vec<PlanFact> {
    let PlanFactSource { state, rows, today, .. } = source;
    let mut facts = Vec::new();
    let asked = state.planning.undo.last().map(|draft| draft.what.as_str());
    let told_above = state.planning.reports.len() > 1;
    if let Some(asked) = asked.filter(|what| what.starts_with('"') && !told_above) {
        facts.push(PlanFact::new("You asked", planwright_text::clean_line(asked)));
    }
    facts.push(PlanFact::new("Changed", changes.counts_text()).with_hint(FactHint::Fields));
    facts.push(PlanFact::new("Dates", fact_texts::moved_dates_text(state, rows, changes, today)));
    facts.push(PlanFact::new("Moved", fact_texts::moved_times_text(state)));
    let own = own_minutes(rows);
    if own > 0 || changes.own_minutes_before > 0 {
        let text = fact_texts::changed_own_time_text(state, changes.own_minutes_before, own);
        let before = changes.own_minutes_before;
        let shorter = fact_texts::shorter_changed_own_time(state, before, own);
        facts.push(PlanFact::new("Your time", text).with_shorter(shorter));
    }
    facts.push(PlanFact::new("Costs", stated_costs::costs_text(state, rows)));
    facts.push(PlanFact::new("Runs", fact_texts::runs_text(state, rows)));
    let rests_on: Vec<String> = state
        .planning
        .plan_assumptions()
        .iter()
        .map(|text| planwright_text::clean_line(text.trim().trim_end_matches('.')).into_owned())
        .collect();
    let fact = PlanFact::new("Assumed", rests_on.join("; "));
    let fact = fact.with_shorter(fact_texts::shorter_lists(&rests_on));
    facts.push(fact.with_hint(FactHint::RequestChanges));
    facts
}

/// How many comments wait for the agent; nothing without any.
fn open_comments_text(state: &SessionState, agent: &str) -> String {
    let on_rows = state.planning.comments.iter().filter(|comment| comment.outcome.is_none());
    let on_lines = state.desk.line_comments.iter().filter(|comment| comment.outcome.is_none());
    match on_rows.count() + on_lines.count() {
        0 => String::new(),
        1 => format!("1 comment; {agent} gets it when you request changes"),
        many => format!("{many} comments; {agent} gets them when you request changes"),
    }
}

/// Of a plan that an agent of another program submitted: who wants it, what changed, what was found, and what an approval
/// leads to. Planwright runs nothing of it, so it costs and starts nothing here.
fn ticket_facts(state: &SessionState, changes: Option<&DraftComparison>) -> Vec<PlanFact> {
    let mut facts = Vec::new();
    let line = |text: &str| planwright_text::clean_line(text).into_owned();
    if let Some(agent) = &state.desk.agent {
        let who = format!("{} {}", line(&agent.name), line(&agent.version));
        let (who, place) = (who.trim_end().to_owned(), line(&state.session.workspace));
        let fact = PlanFact::new("From", format!("{who}, for {place}"));
        facts.push(fact.with_shorter(vec![who]));
    }
    if let Some(changes) = changes {
        facts.push(PlanFact::new("Changed", changes.counts_text()).with_hint(FactHint::Fields));
    }
    if let Some(submission) = state.desk.submission.as_deref() {
        let lines = units::format_counted(submission.text.lines().count(), "line");
        let text = format!("{lines} of text, read into the rows above");
        facts.push(PlanFact::new("Text", text).with_shorter(vec![lines]));
        let found = submission.findings.iter().map(|found| line(&found.message));
        facts.push(PlanFact::new("Found", found.collect::<Vec<_>>().join("; ")));
    }
    let agent = line(state.desk.agent_name());
    facts.push(PlanFact::new("Comments", open_comments_text(state, &agent)));
    let then = format!("{agent} carries it out and reports here; Planwright runs nothing of it");
    let shorter = vec![format!("{agent} carries it out and reports here")];
    facts.push(PlanFact::new("Then", then).with_shorter(shorter));
    facts.retain(|fact| !fact.text.is_empty());
    facts
}

/// The facts of a plan that came from a file: what starts, how long it takes, what it runs.
fn file_facts(source: PlanFactSource<'_>, changes: Option<&DraftComparison>) -> Vec<PlanFact> {
    let PlanFactSource { state, rows, .. } = source;
    let Some(revision) = state.plan.current.as_deref() else { return Vec::new() };
    let mut facts = Vec::new();
    if let Some(changes) = changes {
        facts.push(PlanFact::new("Changed", changes.counts_text()).with_hint(FactHint::Fields));
    }
    let starts = PlanFact::new("Starts", fact_texts::starts_text(state, revision));
    facts.push(starts.with_shorter(fact_texts::shorter_starts(state, revision)));
    let time = PlanFact::new("Time", fact_texts::run_time_text(revision));
    facts.push(time.with_shorter(fact_texts::shorter_run_time(revision)));
    facts.push(PlanFact::new("Runs", fact_texts::commands_text(state, rows)));
    facts.push(PlanFact::new("Agents", fact_texts::agents_text(state, rows)));
    facts.push(PlanFact::new("Cost", fact_texts::cost_text(&revision.plan.tasks, state)));
    facts.push(PlanFact::new("Corrected", fact_texts::corrections_text(revision)));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_text::{compare_rows, plan_rows};
    use crate::tests::fixture::Fixture;
    use crate::tests::planned;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    fn lines(state: &SessionState, before: Option<&[PlanTextRow]>) -> Vec<String> {
        let rows = plan_rows(state, &TimeZone::UTC);
        let changes = before.map(|before| compare_rows(before, &rows));
        let facts = plan_facts(PlanFactSource {
            state,
            rows: &rows,
            changes: changes.as_ref(),
            policy: "asks once",
            today: date(2026, 6, 8),
        });
        facts.iter().map(|fact| format!("{}: {}", fact.label, fact.text)).collect()
    }

    #[test]
    fn a_drafted_plan_says_time_dates_assumptions_confidence_and_policy() {
        let facts = lines(&planned::scheduled().state(), None);
        let labels: Vec<&str> =
            facts.iter().filter_map(|fact| fact.split_once(':')).map(|(label, _)| label).collect();
        assert_eq!(labels, ["Your time", "Dates", "Assumed", "Confidence", "Policy"]);
        assert!(facts.iter().all(|fact| !fact.contains('_')), "{facts:#?}");
    }

    #[test]
    fn a_revised_plan_says_first_what_changed_and_which_dates_moved() {
        let state = planned::scheduled().state();
        let mut before = plan_rows(&state, &TimeZone::UTC);
        before[1].minutes = Some(5);
        let facts = lines(&state, Some(&before));
        assert!(facts[0].starts_with("Changed: ~ 1 changed"), "{facts:#?}");
        assert!(facts[1].starts_with("Dates: "), "{facts:#?}");
        assert!(facts[2].contains(" → "), "{facts:#?}");
    }

    #[test]
    fn what_the_drafter_says_the_plan_rests_on_is_on_the_card_of_a_draft_and_of_a_revision() {
        let mut state = planned::scheduled().state();
        let roadmap = std::sync::Arc::make_mut(state.planning.roadmap.as_mut().unwrap());
        let root_id = roadmap.root_id.clone();
        let root = roadmap.nodes.iter_mut().find(|node| node.id == root_id).unwrap();
        root.assumptions =
            vec!["The hall is free, as last year.".into(), "Ben\u{1b}[2J helps".into()];
        let assumed = |facts: &[String]| -> String {
            facts.iter().find(|fact| fact.starts_with("Assumed: ")).cloned().unwrap_or_default()
        };
        let drafted = assumed(&lines(&state, None));
        assert!(drafted.ends_with("; The hall is free, as last year; Ben helps"), "{drafted}");
        let mut before = plan_rows(&state, &TimeZone::UTC);
        before[1].minutes = Some(5);
        let revised = assumed(&lines(&state, Some(&before)));
        assert_eq!(revised, "Assumed: The hall is free, as last year; Ben helps");
    }

    #[test]
    fn a_plan_file_says_what_starts_and_what_it_runs() {
        let facts = lines(&Fixture::release().state(), None);
        assert!(facts[0].starts_with("Starts: "), "{facts:#?}");
        assert!(facts.iter().any(|fact| fact.starts_with("Runs: ") && fact.contains("command")));
        assert_eq!(approval_question(&Fixture::release().state(), false), "run this plan?");
    }
}
