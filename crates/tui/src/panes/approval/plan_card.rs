//! The card of a plan: the question is its rule, then the facts with their labels on the left, then the keys with what
//! follows from each. The plan itself stands above it.

use jiff::civil::Date;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::agent_message::{AgentMessagePart, MOST_MESSAGE_LINES, message_lines};
use super::answers::{AnswerRow, answer_rows};
use super::content::{CardCache, CardLine, CardSource};
use super::parts::confidence;
use super::request_judgment;
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::plan_text::{
    FactHint, PlanFact, PlanFactSource, approval_question, first_tasks, plan_facts,
};
use crate::policy_dials::{file_policy_line, policy_line};
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::PaneFocus;
use crate::widgets::{ScreenLine, draw_pane_rule, fit_clauses, styled_piece};
use planwright_model::{ApprovalTarget, Request, RequestKind, RunKind};
use planwright_state::SessionState;
use planwright_text::dates::format_date;
use planwright_text::{clean_line, display_width, units, wrap_words};

/// The column in which facts begin.
const LABEL: usize = 13;
/// From this width on keys stand in two columns with what follows from them.
const TWO_COLUMNS: u16 = 100;
/// The column of what follows from a key, where there is room for it.
const KEY_LABEL: usize = 19;
/// The most weeks whose use is listed among the details.
const MOST_WEEKS: usize = 12;
/// The most lines of facts before they scroll.
const MOST_FACTS: u16 = 9;

/// Whether a request is about a plan that stands above it.
pub(crate) fn is_plan_card(kind: &RequestKind) -> bool {
    match kind {
        RequestKind::FinalPlan { .. } => true,
        RequestKind::Draft { target, .. } => *target != ApprovalTarget::Pattern,
        _ => false,
    }
}

/// Where facts and keys of a card go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanCardAreas {
    pub(crate) facts: Rect,
    pub(crate) keys: Rect,
}

/// The facts above, the keys always whole below them. A revised draft has its keys in one line.
pub(crate) fn plan_card_areas(area: Rect, request: &Request, revised: bool) -> PlanCardAreas {
    let top = 1.min(area.height);
    let body = Rect { y: area.y + top, height: area.height - top, ..area };
    let keys = key_rows(body.width, request, revised).min(body.height);
    let facts = Rect {
        x: body.x + 3.min(body.width),
        width: body.width.saturating_sub(4),
        height: body.height - keys,
        ..body
    };
    let keys = Rect { y: body.y + facts.height, height: keys, ..body };
    PlanCardAreas { facts, keys }
}

/// Rows that all of a card takes, for so many lines of facts.
pub(crate) fn plan_card_rows(width: u16, card: &CardCache, request: &Request) -> u16 {
    let air = u16::from(width >= TWO_COLUMNS);
    let lines = (card.lines.len() as u16).min(MOST_FACTS + card.message.min(MOST_MESSAGE_LINES));
    1 + lines + air + key_rows(width, request, card.is_revised)
}

fn key_rows(width: u16, request: &Request, revised: bool) -> u16 {
    if width < TWO_COLUMNS || revised {
        return 1;
    }
    let (left, right) = key_columns(request);
    left.len().max(right.len()) as u16
}

/// The lines of the facts, wrapped; with details the figures behind them.
pub(super) fn plan_fact_lines(
    request: &Request,
    shown: CardSource<'_>,
    width: usize,
) -> Vec<CardLine> {
    let state = shown.state;
    let policy = if state.planning.begun {
        policy_line(&state.planning)
    } else {
        file_policy_line(&state.planning)
    };
    let facts = plan_facts(PlanFactSource {
        state,
        rows: shown.rows,
        changes: shown.changes,
        policy: &policy,
        today: shown.today,
    });
    let mut lines = message_lines(shown, AgentMessagePart::Whole, width);
    // On a narrow screen what changed goes before what stays as it was.
    let is_narrow = width < usize::from(TWO_COLUMNS) - 4;
    let is_left_out = |fact: &&PlanFact| {
        let changed = is_narrow && shown.changes.is_some() && !shown.terms;
        changed && matches!(fact.label, "Policy" | "You asked")
    };
    for fact in facts.iter().filter(|fact| !is_left_out(fact)) {
        push_fact(&mut lines, fact, shown, width);
    }
    if let Some((label, text)) = late_fact(request, state) {
        let fact = PlanFact { label, text, shorter: Vec::new(), hint: FactHint::Nothing };
        push_fact(&mut lines, &fact, shown, width);
    }
    if shown.terms {
        lines.extend(detail_lines(request, shown, width));
    }
    lines
}

/// What the request itself states and the facts do not: a deadline that is missed, a revision that may do more.
fn late_fact(request: &Request, state: &SessionState) -> Option<(&'static str, String)> {
    let schedule = state.planning.schedule.as_deref();
    let late = schedule.filter(|schedule| schedule.lateness_minutes > 0);
    let wider = request.details.iter().find(|detail| {
        // Requests of 0.3.0 named the revision in the label.
        detail.label == "May do more" || detail.label.starts_with("wider")
    });
    if let Some(detail) = wider {
        return Some(("May do more", clean_line(&detail.text).into_owned()));
    }
    late.map(|schedule| {
        let first = schedule.horizon_start.local_date();
        let end = schedule.finish_time().map(|end| format_date(end.local_date(), first));
        let end = end.map_or_else(|| "ends".to_owned(), |end| format!("ends {end}"));
        ("Late", format!("{end}, after the deadline"))
    })
}

fn push_fact(lines: &mut Vec<CardLine>, fact: &PlanFact, shown: CardSource<'_>, width: usize) {
    let hint = hint_text(fact.hint, shown);
    // A sentence without a label begins where labels do.
    let label_width = if fact.label.is_empty() { 0 } else { LABEL };
    let room = width.saturating_sub(label_width + 1).max(8);
    let role = match fact.label {
        "" | "Late" | "May do more" | "Corrected" | "Overlaps" => ThemeRole::Warn,
        _ => ThemeRole::Text,
    };
    // On narrow screens every fact has one line; all of it is among the details. What a model answers is read whole.
    let told = matches!(fact.label, "Answer" | "Outcome" | "Request");
    let narrow = width < usize::from(TWO_COLUMNS) - 4 && !shown.terms && !told;
    let parts = if narrow {
        vec![fit_clauses(fact.text_within(room), room).into()]
    } else {
        wrap_words(&fact.text, room, 0)
    };
    let count = parts.len();
    for (index, part) in parts.into_iter().enumerate() {
        let label = if index == 0 { fact.label } else { "" };
        let lead = planwright_text::fit_width(label, label_width).into_owned();
        let used = display_width(&part);
        let mut line: CardLine = vec![(lead, ThemeRole::Dim), (part.into_owned(), role)];
        // The key that leads to more stands at the right end, where there is room for it.
        let (key, word) = hint.clone();
        let size = display_width(&key) + display_width(&word) + 1;
        if index + 1 == count && !key.is_empty() && used + size + 3 <= room {
            line.push((" ".repeat(room - used - size), ThemeRole::Dim));
            line.push((key, ThemeRole::Key));
            line.push((format!(" {word}"), ThemeRole::Dim));
        }
        lines.push(line);
    }
}

fn hint_text(hint: FactHint, shown: CardSource<'_>) -> (String, String) {
    let (action, word) = match hint {
        FactHint::Nothing => return (String::new(), String::new()),
        FactHint::RequestChanges => (KeyAction::RequestChanges, "changes them"),
        FactHint::Details => (KeyAction::Terms, "figures"),
        FactHint::Fields => (KeyAction::Terms, "each field"),
        FactHint::Policy => (KeyAction::Policy, "policy"),
        FactHint::Facts => (KeyAction::Facts, "what you said"),
    };
    (shown.keymap.key_hint(action), word.to_owned())
}

/// Behind the key for details: where the controller is, what the confidence is made of, rules by their codes, limits.
fn detail_lines(request: &Request, shown: CardSource<'_>, width: usize) -> Vec<CardLine> {
    let planning = &shown.state.planning;
    let mut lines: Vec<CardLine> = vec![Vec::new()];
    let mut push = |label: &str, text: String| {
        for (index, part) in
            wrap_words(&clean_line(&text), width.saturating_sub(LABEL + 1).max(8), 0)
                .into_iter()
                .enumerate()
        {
            let lead = if index == 0 { label } else { "" };
            lines.push(vec![
                (planwright_text::fit_width(lead, LABEL).into_owned(), ThemeRole::Dim),
                (part.into_owned(), ThemeRole::Text),
            ]);
        }
    };
    if let Some(changes) = shown.changes {
        for row in shown.rows {
            let fields = changes.field_changes(row, shown.today);
            if changes.kinds.contains_key(&row.id) && !fields.is_empty() {
                push(row.number.as_str(), format!("{}: {}", row.title, fields.join("; ")));
            }
        }
    }
    if planning.begun {
        push(
            "Controller",
            format!("{:?}, {} turns", planning.place.state, planning.counters.turns),
        );
        for judged in planning.judgements.values() {
            for found in &judged.violations {
                push("Rule", format!("{} {}", found.rule, found.message));
            }
        }
    }
    let current = shown.state.plan.current.as_deref();
    if let Some(rationale) = current.and_then(|current| current.plan.rationale.clone()) {
        push("Rationale", rationale);
    }
    for week in planning.schedule.iter().flat_map(|schedule| &schedule.capacity).take(MOST_WEEKS) {
        let others = match week.other_minutes {
            0 => String::new(),
            other => format!(" and {} of other plans", units::format_planned(other.into())),
        };
        let text = format!(
            "{}: {}{others}, of {}",
            week.week,
            units::format_planned(week.planned_minutes.into()),
            units::format_planned(week.available_minutes.into())
        );
        push("Week", text);
    }
    for detail in request.details.iter().filter(|detail| {
        detail.label != "confidence" && !(detail.label == "Week" && planning.schedule.is_some())
    }) {
        push(&clean_line(&detail.label), detail.text.clone());
    }
    if let Some(judged) = request_judgment(request, shown.state) {
        lines.extend(confidence::confidence_lines(judged, width));
    }
    lines
}

/// Draws the whole card.
pub(super) fn draw_plan_card(
    area: Rect,
    request: &Request,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    draw_question_rule(area, request, buf, cx);
    let revised = cx.card.is_revised;
    let parts = plan_card_areas(area, request, revised);
    super::draw::draw_lines(parts.facts, buf, cx);
    // What was asked then cannot be answered now; the rule says how it was.
    if cx.mode.is_past() {
        return;
    }
    if revised {
        draw_change_keys(parts.keys, request, buf, cx);
    } else if parts.keys.width >= TWO_COLUMNS {
        draw_key_columns(parts.keys, request, buf, cx);
    } else {
        draw_key_line(parts.keys, request, buf, cx);
    }
}

fn draw_question_rule(area: Rect, request: &Request, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (kind, style) = cx.rule_style(PaneFocus::Approval);
    let question = match request.kind {
        RequestKind::FinalPlan { .. } => approval_question(cx.state, cx.plan.changes.is_some()),
        _ => clean_line(&request.question).to_lowercase(),
    };
    let asks = if kind.past { style } else { cx.style(ThemeRole::Asks) };
    // What is out of sight is said where it covers nothing.
    let below = cx.card.lines_below(cx.ui.card.scroll);
    let more = (below > 0).then(|| units::format_counted(below, "more line"));
    let facts = match (rule_facts(request, cx), more) {
        (_, Some(more)) if cx.class == SizeClass::Small => more,
        (facts, Some(more)) => format!("{facts} · {more}"),
        (facts, None) => facts,
    };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(question, asks)],
        &[styled_piece(facts, style)],
    );
}

fn rule_facts(request: &Request, cx: &PaneContext<'_>) -> String {
    if cx.mode.is_past() {
        return super::draw::card_remark(request, cx).map(|(text, _)| text).unwrap_or_default();
    }
    let back = cx.state.planning.put_back.len();
    if let Some(changes) = &cx.plan.changes {
        let back = if back > 0 { format!(", {back} put back") } else { String::new() };
        return format!("{}{back}", changes.total_text());
    }
    let (draft, _) = crate::panes::plan::draft_numbers(cx.state);
    let open = cx.state.requests.open.get(&request.id);
    let since = open.map(|open| crate::clock::duration_between(open.asked_at, cx.now));
    let asked = since.filter(|since| since.as_secs() >= 60);
    let asked = asked.map(|since| format!(" · asked {}", units::format_ago(since)));
    let asked = asked.unwrap_or_default();
    if cx.state.planning.begun {
        return format!("draft {draft}{asked}");
    }
    let commands = cx.plan.text.iter().filter(|row| row.has_commands()).count();
    match commands {
        0 => format!("version {draft}"),
        1 => "its command is in the plan, word for word".to_owned(),
        _ => format!("all {commands} commands are in the plan, word for word"),
    }
}

/// The keys that decide on the left, those that change the plan on the right.
fn key_columns(request: &Request) -> (Vec<AnswerRow>, Vec<AnswerRow>) {
    let decides = |row: &AnswerRow| {
        matches!(row.action, KeyAction::Yes | KeyAction::YesWider | KeyAction::No)
    };
    let (mut left, right): (Vec<_>, Vec<_>) = answer_rows(request).into_iter().partition(decides);
    let order = |row: &AnswerRow| match row.action {
        KeyAction::Yes => 0,
        KeyAction::YesWider => 1,
        _ => 2,
    };
    left.sort_by_key(order);
    (left, right)
}

/// One key of the card: what it is called, what follows from it, and whether it can't be used now.
type CardKey = (KeyAction, String, String, bool);

fn draw_key_columns(area: Rect, request: &Request, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (left, right) = key_columns(request);
    let card_key = |row: AnswerRow| -> CardKey {
        let (label, words) = key_texts(&row, cx);
        (row.action, label, words, is_off(&row, cx))
    };
    let mut columns: [Vec<CardKey>; 2] =
        [left, right].map(|rows| rows.into_iter().map(card_key).collect());
    if columns[1].is_empty() {
        columns[1] = edit_keys(cx);
    } else if cx.can_act && cx.state.desk.submission.is_some() {
        let words = "on a row; Tab: on a line of the text".to_owned();
        columns[1].push((KeyAction::Comment, "comment".to_owned(), words, false));
    }
    let half = area.width / 2;
    let areas =
        [Rect { width: half, ..area }, Rect { x: area.x + half, width: area.width - half, ..area }];
    for (column, keys) in areas.into_iter().zip(columns) {
        // Labels take what they need, so that what follows from them is not cut.
        let labels = keys.iter().map(|(_, label, ..)| display_width(label)).max().unwrap_or(0);
        let longest = keys.iter().map(|(.., words, _)| display_width(words)).max().unwrap_or(0);
        let room = usize::from(column.width).saturating_sub(7 + longest);
        let label_width = KEY_LABEL.min(room).max(labels + 2);
        for ((action, label, words, off), y) in keys.iter().zip(column.y..column.bottom()) {
            let dim = cx.style(ThemeRole::Dim);
            let on = |role| if *off { dim } else { cx.style(role) };
            let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..column });
            line.skip(3).put_column(&cx.keymap.key_hint(*action), 3, on(ThemeRole::Key));
            line.put_column(label, label_width, on(ThemeRole::Text));
            let fitting = fit_clauses(words, line.cells_left().saturating_sub(1));
            line.put(&fitting, dim);
        }
    }
}

/// The keys that change a plan whose request offers none itself: one that came from a file.
fn edit_keys(cx: &PaneContext<'_>) -> Vec<CardKey> {
    let key = |action| cx.keymap.key_hint(action);
    let file = format!("{} edits the file", key(KeyAction::Editor));
    let lock = format!("{} locks a row", key(KeyAction::Lock));
    let rows = [
        (KeyAction::Edit, "edit the row", file),
        (KeyAction::Comment, "comment", lock),
        (KeyAction::Policy, "policy", "what is asked before it runs".to_owned()),
    ];
    let situation = cx.situation();
    let works = |action: &KeyAction| cx.can_act && situation.is_available(*action);
    rows.into_iter()
        .filter(|(action, ..)| works(action))
        .map(|(action, label, words)| (action, label.to_owned(), words, false))
        .collect()
}

/// Whether a key of a revised draft also means something for a plan from a file.
fn is_for_any_plan(action: KeyAction) -> bool {
    matches!(action, KeyAction::NextHit | KeyAction::Undo)
}

/// The keys of a revised draft in one line: change by change first, then the plan as a whole.
fn draw_change_keys(area: Rect, request: &Request, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let draft = cx.state.draft_number().max(1);
    let wide = area.width >= TWO_COLUMNS;
    let rows = answer_rows(request);
    let row = |action: KeyAction| rows.iter().find(|row| row.action == action);
    let situation = cx.situation();
    let back = match draft {
        0 | 1 => "undo".to_owned(),
        _ => format!("back to draft {}", draft - 1),
    };
    let yes = if wide { format!("approve draft {draft}") } else { "approve".to_owned() };
    let keys = [
        (KeyAction::KeepChange, "keep change".to_owned()),
        (KeyAction::PutBackChange, "put it back".to_owned()),
        (KeyAction::NextHit, "next change".to_owned()),
        (KeyAction::Yes, yes),
        (KeyAction::RequestChanges, "request more".to_owned()),
        (KeyAction::Undo, back),
        (KeyAction::No, "discard".to_owned()),
    ];
    let mut line = ScreenLine::new(buf, Rect { height: 1.min(area.height), ..area });
    line.skip(3);
    for (action, label) in keys {
        let (label, off) = match row(action) {
            Some(row) => match unseen_text(row, cx) {
                Some(unseen) if action == KeyAction::Yes => (unseen, true),
                _ => (label, is_off(row, cx)),
            },
            None if matches!(action, KeyAction::Yes | KeyAction::No) => continue,
            None if !situation.is_available(action) => continue,
            // Only the changes of a draft are put back one by one.
            None if !cx.state.planning.begun && !is_for_any_plan(action) => continue,
            None => (label, !cx.can_act),
        };
        let key = cx.keymap.key_hint(action);
        let fits = |label: &str, line: &ScreenLine<'_>| {
            line.cells_left() > display_width(&key) + display_width(label)
        };
        // The yes is always there, if only with what it waits for.
        let label = if action == KeyAction::Yes && !fits(&label, &line) {
            "reads on".to_owned()
        } else {
            label
        };
        if !fits(&label, &line) {
            continue;
        }
        let dim = cx.style(ThemeRole::Dim);
        line.put(&key, if off { dim } else { cx.style(ThemeRole::Key) });
        line.put(&format!(" {label}"), if off { dim } else { cx.style(ThemeRole::Text) }).skip(3);
    }
}

fn draw_key_line(area: Rect, request: &Request, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let (left, right) = key_columns(request);
    let is_no = |row: &AnswerRow| row.action == KeyAction::No;
    let (last, first): (Vec<_>, Vec<_>) = left.into_iter().partition(is_no);
    let mut line = ScreenLine::new(buf, Rect { height: 1.min(area.height), ..area });
    line.skip(3);
    let rows = first.into_iter().chain(right).chain(last);
    for row in rows.filter(|row| row.action != KeyAction::Edit) {
        let label = match row.action {
            KeyAction::Yes => "approve".to_owned(),
            _ => key_texts(&row, cx).0,
        };
        let key = cx.keymap.key_hint(row.action);
        let (label, off) = match unseen_text(&row, cx) {
            Some(unseen) if row.action == KeyAction::Yes => (unseen, true),
            _ => (label, is_off(&row, cx)),
        };
        if line.cells_left() < display_width(&key) + display_width(&label) + 1 {
            break;
        }
        let dim = cx.style(ThemeRole::Dim);
        line.put(&key, if off { dim } else { cx.style(ThemeRole::Key) });
        line.put(&format!(" {label}"), if off { dim } else { cx.style(ThemeRole::Text) }).skip(3);
    }
}

/// What a key is called on this card, and what follows from it.
fn key_texts(row: &AnswerRow, cx: &PaneContext<'_>) -> (String, String) {
    let label = clean_line(&row.label).into_owned();
    let given = clean_line(&row.consequence).into_owned();
    if let Some(unseen) = unseen_text(row, cx) {
        return (label, unseen);
    }
    match row.action {
        KeyAction::Yes => {
            // Agents and commands do not wait for the day that the calendar has for them.
            let words = first_task_text(cx).filter(|_| !starts_by_itself(cx.state));
            let words = words.or_else(|| starts_now_text(cx.state));
            let words = words.filter(|_| !cx.state.desk.is_ticket());
            (label, words.unwrap_or(given))
        }
        KeyAction::RequestChanges => (label, "in your own words".to_owned()),
        KeyAction::Edit => {
            let key = |action| cx.keymap.key_hint(action);
            let more = format!(
                "also {} add, {} remove, {} comment",
                key(KeyAction::AddNode),
                key(KeyAction::RemoveNode),
                key(KeyAction::Comment)
            );
            ("edit the row".to_owned(), more)
        }
        KeyAction::Options => {
            let label =
                if cx.areas.approval.width >= TWO_COLUMNS { "other versions" } else { "versions" };
            (label.to_owned(), version_texts(cx).unwrap_or(given))
        }
        _ => (label, given),
    }
}

/// The first task of a plan for a person, and when.
fn first_task_text(cx: &PaneContext<'_>) -> Option<String> {
    let today: Date = cx.now.to_zoned(cx.time_zone.clone()).date();
    let first =
        cx.plan.text.iter().filter(|row| row.start.is_some()).min_by_key(|row| row.start)?;
    let when = planwright_text::dates::format_date_time(first.start?, today);
    let whose = match first.who.as_str() {
        "you" => ", yours".to_owned(),
        "" => String::new(),
        who => format!(", {who}"),
    };
    Some(format!("first task {when}{whose}"))
}

/// Whether the approval starts a task that waits for no date and for nobody.
fn starts_by_itself(state: &SessionState) -> bool {
    let Some(revision) = state.plan.current.as_deref() else { return false };
    first_tasks(state, revision).iter().any(|task| {
        let dates = task.dates();
        let waits = dates.fixed_start.or(dates.not_before).is_some();
        !waits && !matches!(task.run, RunKind::Human {})
    })
}

/// How many tasks start with the approval; those that are done already are not among them.
fn starts_now_text(state: &SessionState) -> Option<String> {
    let revision = state.plan.current.as_deref()?;
    Some(match first_tasks(state, revision).len() {
        0 => return None,
        1 => "1 task starts now".to_owned(),
        count => format!("{count} tasks can start now"),
    })
}

/// The versions that were compared and not taken: `lean 20 h, thorough 34 h`.
fn version_texts(cx: &PaneContext<'_>) -> Option<String> {
    let roadmap = cx.state.planning.roadmap.as_ref()?;
    let others: Vec<String> = roadmap
        .options_tried
        .iter()
        .filter(|option| !option.chosen)
        .map(|option| {
            let label = clean_line(&option.label).to_lowercase();
            format!("{label} {}", units::format_planned(option.effort_minutes.into()))
        })
        .collect();
    (!others.is_empty()).then(|| others.join(", "))
}

/// Whether a key can't be used now. The wider yes can, even unread: it asks about that.
fn is_off(row: &AnswerRow, cx: &PaneContext<'_>) -> bool {
    let asks = row.action == KeyAction::YesWider && cx.can_act && row.unavailable.is_none();
    match unseen_text(row, cx) {
        Some(_) => !asks,
        None => super::draw::unavailable_text(row, cx).is_some(),
    }
}

/// Why a yes waits: commands that have not been on the screen.
fn unseen_text(row: &AnswerRow, cx: &PaneContext<'_>) -> Option<String> {
    let unseen = unseen_commands(cx.plan, &cx.ui.card.seen_commands);
    (row.is_consequential() && unseen > 0 && !cx.mode.is_past()).then(|| {
        let key = cx.keymap.key_hint(KeyAction::Yes);
        let commands = units::format_counted(unseen, "command");
        match row.action {
            KeyAction::YesWider => format!("with {commands} unread; asks"),
            _ => format!("{commands} not seen, {key} shows more"),
        }
    })
}

/// How many commands of the plan have not been on the screen.
pub(crate) fn unseen_commands(
    plan: &crate::panes::plan::PlanCache,
    seen: &std::collections::BTreeSet<planwright_model::TaskId>,
) -> usize {
    plan.text.iter().filter(|row| row.has_commands() && !seen.contains(&row.id)).count()
}
