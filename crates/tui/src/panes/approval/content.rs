//! The lines of a card: question, why, corrections, forecast, what must be seen byte for byte, evidence.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::keymap::Keymap;
use crate::plan_text::{DraftComparison, PlanTextRow};
use crate::theme::ThemeRole;
use planwright_model::request::RequestDetail;
use planwright_model::requests::describe_assumption;
use planwright_model::{
    ApprovalTarget, PlanQuestion, Request, RequestId, RequestKind, Stage, StageAssessment,
};
use planwright_state::SessionState;
use planwright_text::{
    RevealedText, clean_text, display_width, reveal_segments, wrap_exact, wrap_words,
};

use super::agent_message::{AgentMessagePart, message_lines};
use super::choice_card;
use super::parts::{confidence, drafts};
use super::plan_card::{self, is_plan_card};
use super::run_cards;

/// A line in pieces of one role each. The text is clean.
pub(crate) type CardLine = Vec<(String, ThemeRole)>;

/// The column in which values begin.
const LABEL: usize = 17;

/// What a card is drawn from beside the request itself.
#[derive(Clone, Copy)]
pub(crate) struct CardSource<'a> {
    pub(crate) state: &'a SessionState,
    /// The rows of the plan that is asked about.
    pub(crate) rows: &'a [PlanTextRow],
    /// How they differ from the draft before, where there is one.
    pub(crate) changes: Option<&'a DraftComparison>,
    pub(crate) keymap: &'a Keymap,
    /// The reader's day.
    pub(crate) today: Date,
    /// Whether what the confidence is made of is listed.
    pub(crate) terms: bool,
    /// How far a limit is raised, where the person changed that.
    pub(crate) amount: Option<u64>,
}

/// What the lines were made for.
type CardCacheKey =
    (RequestId, usize, Option<u32>, Option<Timestamp>, bool, Option<u64>, (usize, usize));

/// The lines of the card in the panel, wrapped to its width.
#[derive(Debug, Default)]
pub(crate) struct CardCache {
    key: Option<CardCacheKey>,
    pub(crate) lines: Vec<CardLine>,
    /// The lines with answers to pick from.
    pub(crate) choices: Vec<usize>,
    /// What was read of the goal, below a question about it.
    pub(crate) reading: Vec<CardLine>,
    /// How the nodes of the plan that is asked about differ from the revision before: `+`, `~` or `>`.
    signs: BTreeMap<String, char>,
    /// Whether the plan that is asked about differs from a draft before it.
    pub(crate) is_revised: bool,
    /// Rows that the lines have on the screen.
    pub(crate) room: usize,
    /// How many of the lines are what the agent says.
    pub(crate) message: u16,
}

impl CardCache {
    /// Builds the lines unless they are at hand.
    pub(crate) fn update_lines(
        &mut self,
        request: &Request,
        shown: CardSource<'_>,
        width: usize,
        room: usize,
    ) {
        let revision = shown.state.plan.current.as_ref().map(|plan| plan.revision);
        let visible = shown.state.planning.last_visible;
        let (terms, amount) = (shown.terms, shown.amount);
        // Comments on lines of a submitted plan are counted on its card.
        let comments = shown.state.desk.line_comments.len();
        let overlaps = shown.state.planning.overlaps.as_deref();
        let overlaps = overlaps.map_or(0, |report| report.overlaps.len() + report.shifts.len());
        let key = Some((request.id, width, revision, visible, terms, amount, (comments, overlaps)));
        if self.key != key {
            self.key = key;
            self.choices.clear();
            self.lines = card_lines(request, shown, width.max(10), &mut self.choices);
            self.reading = choice_card::goal_reading_lines(request, shown, width.max(10));
            self.signs = change_signs(shown);
            let said = message_lines(shown, AgentMessagePart::Whole, width.max(10));
            self.message = u16::try_from(said.len()).unwrap_or(u16::MAX);
        }
        self.is_revised = shown.changes.is_some_and(|changes| changes.total() > 0);
        self.room = room;
    }

    /// Takes lines that are not those of a request.
    pub(crate) fn set_lines(&mut self, lines: Vec<CardLine>, room: usize) {
        *self = Self { lines, room, ..Self::default() };
    }

    /// What changed about a node since the revision before.
    pub(crate) fn change_sign(&self, node: &str) -> Option<char> {
        self.signs.get(node).copied()
    }

    /// The line with which the confidence begins.
    pub(crate) fn confidence_line(&self) -> Option<usize> {
        self.lines.iter().position(|line| {
            line.first().is_some_and(|(text, _)| text.starts_with(confidence::HEADING))
        })
    }

    /// How many lines are below the ones on the screen.
    pub(crate) fn lines_below(&self, scroll: usize) -> usize {
        self.lines.len().saturating_sub(scroll + self.room)
    }

    /// The furthest one can scroll.
    pub(crate) fn max_scroll(&self) -> usize {
        self.lines.len().saturating_sub(self.room)
    }
}

/// Whether a question can stand in the rule of a card whose lines are so wide.
pub(super) fn fits_rule(question: &str, width: usize) -> bool {
    display_width(question) + 6 <= width
}

fn card_lines(
    request: &Request,
    shown: CardSource<'_>,
    width: usize,
    choices: &mut Vec<usize>,
) -> Vec<CardLine> {
    if run_cards::is_run_card(&request.kind) {
        let mut lines = run_cards::run_card_lines(request, width);
        lines.extend(run_cards::amount_line(request, shown.amount, shown.keymap));
        return lines;
    }
    let state = shown.state;
    if is_plan_card(&request.kind) {
        return plan_card::plan_fact_lines(request, shown, width);
    }
    if choice_card::is_choice_card(request) {
        return choice_card_content(request, shown, width, choices);
    }
    let mut lines = Vec::new();
    // The rule of the card is the question, unless that is longer.
    if !fits_rule(&request.question, width) {
        push_paragraph(&mut lines, &request.question, ThemeRole::Key, width);
    }
    push_paragraph(&mut lines, &request.why, ThemeRole::Dim, width);
    push_draft(&mut lines, request, shown, width);
    if let Some(judgement) = request_judgment(request, state) {
        let listed = request.details.iter().any(|detail| detail.label == "Error");
        lines.extend(if shown.terms {
            confidence::confidence_lines(judgement, width)
        } else {
            confidence::confidence_words(judgement, listed, width)
        });
    }
    push_commands(&mut lines, request, state, width);
    for detail in
        request.details.iter().filter(|detail| !is_redundant_detail(request, detail, state))
    {
        let text = detail_text(detail, shown.today);
        push_labeled(&mut lines, &detail.label, &text, ThemeRole::Text, width);
    }
    lines
}

/// A detail in words; what was assumed is recorded as a name and a value.
fn detail_text(detail: &RequestDetail, today: Date) -> Cow<'_, str> {
    match detail.text.split_once(": ") {
        Some((key, value)) if detail.label.eq_ignore_ascii_case("assumed") => {
            describe_assumption(key, value, today).into()
        }
        _ => match detail.text.strip_prefix("it starts ") {
            Some(day) => describe_assumption("start", day, today).into(),
            None => detail.text.as_str().into(),
        },
    }
}

/// Whether a detail, written for those who read requests as lines, says again what the card shows in full.
fn is_redundant_detail(request: &Request, detail: &RequestDetail, state: &SessionState) -> bool {
    let questions = matches!(request.kind, RequestKind::Questions { .. });
    match detail.label.to_lowercase().as_str() {
        "assumed" | "if skipped" => questions,
        "kind" => state.planning.pattern.is_some(),
        number if questions && number.parse::<usize>().is_ok() => true,
        "confidence" => request_judgment(request, state).is_some(),
        _ => false,
    }
}

/// The question with its list; with details what the confidence is made of.
fn choice_card_content(
    request: &Request,
    shown: CardSource<'_>,
    width: usize,
    choices: &mut Vec<usize>,
) -> Vec<CardLine> {
    let mut lines = choice_card::choice_card_lines(request, shown, width, choices);
    let said = message_lines(shown, AgentMessagePart::WithoutList, width);
    if !said.is_empty() {
        lines.push(Vec::new());
        lines.extend(said);
    }
    if shown.terms {
        let judged = request_judgment(request, shown.state);
        lines.extend(
            judged.into_iter().flat_map(|judged| confidence::confidence_lines(judged, width)),
        );
        for detail in &request.details {
            push_labeled(&mut lines, &detail.label, &detail.text, ThemeRole::Text, width);
        }
    }
    lines
}

/// The draft that a request is about.
fn push_draft(lines: &mut Vec<CardLine>, request: &Request, shown: CardSource<'_>, width: usize) {
    let planning = &shown.state.planning;
    match &request.kind {
        RequestKind::Draft { target: ApprovalTarget::Pattern, .. } | RequestKind::Rfc { .. } => {
            if let Some(choice) = &planning.pattern {
                lines.extend(drafts::pattern_lines(choice, width));
            }
            if let Some(text) = &planning.pattern_rfc_text {
                lines.push(Vec::new());
                push_paragraph(lines, text, ThemeRole::Untrusted, width);
            }
        }
        RequestKind::Questions { questions } => {
            lines.push(Vec::new());
            for question in questions {
                // A single question stands at the top of the card.
                if question.text != request.question {
                    push_paragraph(lines, &question.text, ThemeRole::Text, width);
                }
                if questions.len() > 1 && !question.choices.is_empty() {
                    let all: Vec<&str> =
                        question.choices.iter().map(|choice| choice.answer.as_str()).collect();
                    push_labeled(lines, "for instance", &all.join(", "), ThemeRole::Text, width);
                }
                let assumed = format!("{}, listed as assumed", assumed_text(question, shown.today));
                push_labeled(lines, "if skipped", &assumed, ThemeRole::Text, width);
            }
        }
        _ => {}
    }
}

/// How the stage that a request hangs on was judged.
pub(crate) fn request_judgment<'a>(
    request: &Request,
    state: &'a SessionState,
) -> Option<&'a StageAssessment> {
    judged_stage(&request.kind).and_then(|stage| state.planning.judgements.get(&stage))
}

/// The stage whose confidence a request hangs on.
fn judged_stage(kind: &RequestKind) -> Option<Stage> {
    match kind {
        RequestKind::FinalPlan { .. }
        | RequestKind::Draft { target: ApprovalTarget::Final, .. }
        | RequestKind::Escalation => Some(Stage::Schedule),
        RequestKind::Draft { target: ApprovalTarget::Outline, .. } => Some(Stage::Outline),
        RequestKind::Draft { target: ApprovalTarget::Roadmap, .. } => Some(Stage::Roadmap),
        RequestKind::LowConfidence { stage }
        | RequestKind::Validation { stage }
        | RequestKind::ModelTrouble { stage } => Some(*stage),
        _ => None,
    }
}

/// The sign of every node of a plan that is not as it was.
fn change_signs(shown: CardSource<'_>) -> BTreeMap<String, char> {
    let kinds = shown.changes.map(|changes| &changes.kinds);
    kinds.into_iter().flatten().map(|(id, kind)| (id.to_string(), kind.sign())).collect()
}

/// Everything that must be seen byte for byte: what the request quotes.
fn push_commands(lines: &mut Vec<CardLine>, request: &Request, state: &SessionState, width: usize) {
    for quoted in &request.verbatim {
        lines.push(Vec::new());
        lines.push(vec![(
            format!("  {}", clean_text(&quoted.label).replace('\n', " ")),
            ThemeRole::Dim,
        )]);
        push_verbatim(lines, &quoted.text, width);
    }
    if request.details.iter().any(|detail| !is_redundant_detail(request, detail, state)) {
        lines.push(Vec::new());
    }
}

/// What a question left to us would be answered with.
pub(crate) fn assumed_text(question: &PlanQuestion, today: Date) -> String {
    question.assumed_words_on(today)
}

pub(super) fn push_paragraph(lines: &mut Vec<CardLine>, text: &str, role: ThemeRole, width: usize) {
    lines.extend(
        wrap_words(&clean_text(text), width, 0)
            .into_iter()
            .map(|line| vec![(line.into_owned(), role)]),
    );
}

/// A label and its text, further lines hanging under the text.
pub(super) fn push_labeled(
    lines: &mut Vec<CardLine>,
    label: &str,
    text: &str,
    role: ThemeRole,
    width: usize,
) {
    let label = planwright_text::clean_line(label);
    let text = clean_text(text);
    let column = LABEL.max(display_width(&label) + 4).min(width / 2);
    let wrapped = wrap_words(&text, width.saturating_sub(column).max(8), 0);
    for (index, part) in wrapped.into_iter().enumerate() {
        let lead = if index == 0 { format!("  {label}") } else { String::new() };
        let lead = planwright_text::fit_width(&lead, column).into_owned();
        lines.push(vec![(lead, ThemeRole::Dim), (part.into_owned(), role)]);
    }
}

/// Text behind a bar, wrapped but never cut, with everything that hides spelled out.
pub(super) fn push_verbatim(lines: &mut Vec<CardLine>, text: &str, width: usize) {
    let room = width.saturating_sub(3).max(8);
    let mut row = VerbatimRow::default();
    for segment in reveal_segments(text) {
        let role = match &segment {
            RevealedText::Plain(_) => ThemeRole::Untrusted,
            RevealedText::Marked(_) => ThemeRole::Warn,
        };
        for (index, part) in segment.as_str().split('\n').enumerate() {
            if index > 0 {
                row.finish(lines);
            }
            row.push(part, role, room, lines);
        }
    }
    row.finish(lines);
}

/// A row of verbatim text that is being filled.
#[derive(Default)]
struct VerbatimRow {
    pieces: CardLine,
    used: usize,
}

impl VerbatimRow {
    fn push(&mut self, text: &str, role: ThemeRole, room: usize, lines: &mut Vec<CardLine>) {
        if text.is_empty() {
            return;
        }
        let width = display_width(text);
        if self.used + width <= room {
            self.used += width;
            self.pieces.push((text.to_owned(), role));
            return;
        }
        if self.used > 0 {
            self.finish(lines);
        }
        let mut parts = wrap_exact(text, room).into_iter().peekable();
        while let Some(part) = parts.next() {
            self.used = display_width(&part);
            self.pieces.push((part.into_owned(), role));
            if parts.peek().is_some() {
                self.finish(lines);
            }
        }
    }

    fn finish(&mut self, lines: &mut Vec<CardLine>) {
        let mut line = vec![(" ┃ ".to_owned(), ThemeRole::RiskExecute)];
        line.append(&mut self.pieces);
        self.used = 0;
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        push_verbatim(&mut lines, text, width);
        lines.iter().map(|line| line[1..].iter().map(|(text, _)| text.as_str()).collect()).collect()
    }

    #[test]
    fn a_command_is_shown_whole_however_narrow_the_card() {
        let command = "cargo test --workspace --no-fail-fast -- --skip slow_";
        for width in [11, 20, 33, 200] {
            assert_eq!(shown(command, width).concat(), command);
        }
    }

    #[test]
    fn what_hides_is_spelled_out() {
        assert_eq!(shown("rm\u{202e} x", 40), ["rm<U+202E> x"]);
        assert_eq!(shown("a\nb", 40), ["a", "b"]);
        assert_eq!(shown("a\u{1b}[2Jb", 40), ["a<U+001B>[2Jb"]);
    }
}
