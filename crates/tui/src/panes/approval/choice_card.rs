//! A question with a list of answers: what each leads to stands beside it, any other answer is typed under it. A plan
//! that ends too late is such a question: what gives way, and when the plan then ends.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::answers::{AnswerRow, answer_rows};
use super::content::{CardCache, CardLine, CardSource, assumed_text, push_labeled, push_paragraph};
use super::current_request;
use crate::composer::{Composer, FormPurpose};
use crate::keymap::KeyAction;
use crate::pane_context::PaneContext;
use crate::plan_text::goal_lines;
use crate::theme::ThemeRole;
use crate::ui_state::{PaneFocus, UiState};
use crate::widgets::{
    ScreenLine, capitalize_title, draw_frame, draw_heavy_frame, draw_pane_rule, fit_clauses,
    styled_piece,
};
use planwright_drafting::goal_reading::{GoalReading, read_goal};
use planwright_model::requests::KIND_QUESTION;
use planwright_model::{
    Choice, ChoiceAction, LeverChange, PlanQuestion, Request, RequestKind, ScheduleRelaxation,
};
use planwright_state::SessionState;
use planwright_text::dates::format_date;
use planwright_text::{clean_line, display_width, fit_width, units, wrap_words};

/// Columns in which what follows from an answer begins.
const EFFECT: usize = 14;
/// From so many columns on what follows from an answer has as many lines as it needs.
const WRAPPED_EFFECTS: usize = 98;
/// Columns before what follows from a key.
const KEY_EFFECT: usize = 24;

/// The longest assumption, in columns, that is said once more beside its key.
const LONGEST_ASSUMED: usize = 60;

/// Rows that a question keeps of a small card: the question, its reason, the answers around the cursor.
const LEAST_LINES: u16 = 4;

/// How many dates that can't hold are named.
const MOST_BROKEN: usize = 2;

/// What picking a row answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CardAnswer {
    /// Words, for the question with this key.
    Words {
        key: String,
        text: String,
    },
    Action(ChoiceAction),
}

/// The only question of a request.
fn only_question(request: &Request) -> Option<&PlanQuestion> {
    match &request.kind {
        RequestKind::Questions { questions } => match questions.as_slice() {
            [only] => Some(only),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a request is answered from a list.
pub(crate) fn is_choice_card(request: &Request) -> bool {
    only_question(request).is_some() || matches!(request.kind, RequestKind::Escalation)
}

/// The rows of the list, in order.
pub(crate) fn card_answers(request: &Request) -> Vec<CardAnswer> {
    if let Some(question) = only_question(request) {
        let words =
            |text: &String| CardAnswer::Words { key: question.key.clone(), text: text.clone() };
        let answers = question.choices.iter().map(|choice| words(&choice.answer));
        let ideas = open_ideas(request).map(|choice| CardAnswer::Action(choice.action));
        return answers.chain(ideas).collect();
    }
    lever_choices(request).map(|choice| CardAnswer::Action(choice.action)).collect()
}

/// The row that skipping would come to, or the first way out; the cursor starts there.
pub(crate) fn usual_answer(request: &Request) -> Option<usize> {
    if lever_choices(request).next().is_some() {
        return Some(0);
    }
    let question = only_question(request)?;
    let assumed = question.choices.iter().position(|choice| choice.effect.contains("assumed"));
    assumed.or_else(|| (!question.choices.is_empty()).then_some(0))
}

/// The ideas that can still be taken.
fn open_ideas(request: &Request) -> impl Iterator<Item = &Choice> {
    let is_idea = |choice: &&Choice| {
        matches!(choice.action, ChoiceAction::TakeIdea(_)) && choice.unavailable.is_none()
    };
    request.choices.iter().filter(is_idea)
}

fn lever_choices(request: &Request) -> impl Iterator<Item = &Choice> {
    let levers = matches!(request.kind, RequestKind::Escalation);
    request.choices.iter().filter(move |choice| {
        let gives =
            matches!(choice.action, ChoiceAction::UseRelaxation(_) | ChoiceAction::AcceptLate);
        levers && gives && choice.unavailable.is_none()
    })
}

/// The way out of a late plan under the cursor, where it would date the plan anew.
pub(crate) fn chosen_lever<'s>(
    state: &'s SessionState,
    ui: &UiState,
) -> Option<(u8, &'s ScheduleRelaxation)> {
    let choice = lever_choices(current_request(state, ui)?).nth(ui.card.choice?)?;
    let ChoiceAction::UseRelaxation(number) = choice.action else { return None };
    let levers = &state.planning.schedule.as_deref()?.relaxations;
    let lever = levers.get(usize::from(number).checked_sub(1)?)?;
    (!lever.dates.is_empty()).then_some((number, lever))
}

/// The lines of the question and its list.
pub(super) fn choice_card_lines(
    request: &Request,
    shown: CardSource<'_>,
    width: usize,
    choices: &mut Vec<usize>,
) -> Vec<CardLine> {
    let mut lines = Vec::new();
    if let Some(question) = only_question(request) {
        let asks_kind = question.key == KIND_QUESTION;
        // The kind is asked in the rule of the card.
        if asks_kind {
            push_paragraph(&mut lines, &request.why, ThemeRole::Text, width);
        } else {
            push_paragraph(&mut lines, &request.question, ThemeRole::Key, width);
            push_paragraph(
                &mut lines,
                &question.describe_reason(shown.today),
                ThemeRole::Dim,
                width,
            );
        }
        push_answers(&mut lines, question, width, choices);
        push_ideas(&mut lines, request, width, choices);
        return lines;
    }
    let broken = broken_dates(shown.state);
    if broken.is_empty() || is_late(shown.state) {
        push_paragraph(&mut lines, &request.why, ThemeRole::Text, width);
    }
    for text in broken {
        push_paragraph(&mut lines, &text, ThemeRole::Warn, width);
    }
    lines.push(Vec::new());
    let columns = LeverColumns::fit(width);
    lines.push(columns.line(["what changes", "ends", "a week", "touches"], ThemeRole::Dim));
    for choice in lever_choices(request) {
        choices.push(lines.len());
        let cells = lever_cells(choice, shown);
        lines.push(columns.line(
            [&cells[0], &cells[1], &cells[2], &cells[3]].map(String::as_str),
            ThemeRole::Text,
        ));
    }
    let levers = shown.state.planning.schedule.iter().flat_map(|schedule| &schedule.relaxations);
    if levers.into_iter().any(|lever| !lever.dates.is_empty()) {
        lines.push(Vec::new());
        let text = "The plan shows the dates of the row you are on.";
        push_paragraph(&mut lines, text, ThemeRole::Dim, width);
    }
    lines
}

/// Whether the plan ends after the day that was given.
fn is_late(state: &SessionState) -> bool {
    state.planning.schedule.as_deref().is_some_and(|schedule| schedule.lateness_minutes > 0)
}

/// The rule about the end of the plan, which the request itself states.
const END_RULE: &str = "G401";

/// What about the dates can't hold, in words, beyond that the plan ends too late.
fn broken_dates(state: &SessionState) -> Vec<String> {
    let judged = state.planning.judgements.get(&planwright_model::Stage::Schedule);
    let found = judged.into_iter().flat_map(|judged| &judged.violations);
    let broken = found.filter(|found| found.severity != planwright_model::Severity::Warning);
    let broken = broken.filter(|found| found.rule != END_RULE);
    broken.map(|found| clean_line(&found.message).into_owned()).take(MOST_BROKEN).collect()
}

/// The answers of a list, each with what follows from it. Where nothing is known to follow, an answer has the whole line,
/// and as many as it needs.
fn push_answers(
    lines: &mut Vec<CardLine>,
    question: &PlanQuestion,
    width: usize,
    choices: &mut Vec<usize>,
) {
    let plain = question.choices.iter().all(|choice| choice.effect.is_empty());
    let column = question.choices.iter().map(|choice| display_width(&choice.answer) + 3);
    let column = column.max().unwrap_or(0).max(EFFECT).min(width / 2);
    for choice in &question.choices {
        choices.push(lines.len());
        let answer = clean_line(&choice.answer);
        if plain {
            let parts = wrap_words(&answer, width.saturating_sub(6).max(8), 0);
            lines.extend(
                parts.into_iter().map(|part| vec![(format!("    {part}"), ThemeRole::Text)]),
            );
            continue;
        }
        let mut lead = format!("    {}", fit_width(&answer, column - 2));
        for part in effect_lines(&clean_line(&choice.effect), width, column + 4) {
            let (role, text) = (ThemeRole::Dim, format!("  {part}"));
            lines.push(vec![(std::mem::take(&mut lead), ThemeRole::Text), (text, role)]);
            lead = " ".repeat(column + 2);
        }
    }
}

/// What follows from an answer: on a wide screen all of it, on a narrow one the parts that fit its line.
fn effect_lines(effect: &str, width: usize, column: usize) -> Vec<String> {
    let room = width.saturating_sub(column).max(8);
    if width < WRAPPED_EFFECTS {
        return vec![fit_clauses(effect, room)];
    }
    let lines = wrap_words(effect, room, 0).into_iter().map(std::borrow::Cow::into_owned);
    Some(lines.collect::<Vec<_>>()).filter(|lines| !lines.is_empty()).unwrap_or(vec![String::new()])
}

/// Ideas are rows of the same list: what each would add, then those that were taken.
fn push_ideas(
    lines: &mut Vec<CardLine>,
    request: &Request,
    width: usize,
    choices: &mut Vec<usize>,
) {
    let is_taken = |choice: &&Choice| {
        matches!(choice.action, ChoiceAction::TakeIdea(_)) && choice.unavailable.is_some()
    };
    for choice in open_ideas(request) {
        choices.push(lines.len());
        let text = format!("idea: {}", clean_line(&choice.consequence));
        let parts = wrap_words(&text, width.saturating_sub(6).max(8), 6);
        lines.extend(parts.into_iter().map(|part| vec![(format!("    {part}"), ThemeRole::Text)]));
    }
    for choice in request.choices.iter().filter(is_taken) {
        let idea = clean_line(&choice.consequence);
        let title = idea.split(": ").next().unwrap_or(&idea);
        lines.push(vec![(format!("    taken: {title}"), ThemeRole::Dim)]);
    }
}

/// What was read of the goal and what was not, below a question about it.
pub(super) fn goal_reading_lines(
    request: &Request,
    shown: CardSource<'_>,
    width: usize,
) -> Vec<CardLine> {
    let mut lines = Vec::new();
    let Some(question) = only_question(request) else { return lines };
    let reading = if question.key == KIND_QUESTION {
        // What is asked is not known yet.
        let reading = read_goal(&shown.state.planning.goal, shown.today);
        GoalReading { kind: None, ..reading }.labeled_lines()
    } else {
        goal_lines(shown.state, shown.today)
    };
    for (label, text) in reading {
        let label = match label {
            "" => "Note",
            "Read" => "From the goal",
            label => label,
        };
        push_labeled(&mut lines, label, &text, ThemeRole::Text, width);
    }
    lines
}

/// How wide the columns of the list of levers are.
struct LeverColumns {
    what: usize,
    wide: bool,
}

impl LeverColumns {
    fn fit(width: usize) -> Self {
        let wide = width >= 90;
        let what = if wide { 46.min(width.saturating_sub(54)) } else { width.saturating_sub(22) };
        Self { what: what.max(10), wide }
    }

    fn line(&self, [what, ends, week, touches]: [&str; 4], role: ThemeRole) -> CardLine {
        let mut line: CardLine = vec![
            ("    ".to_owned(), ThemeRole::Dim),
            (fit_width(&clean_line(what), self.what).into_owned(), role),
            (fit_width(ends, 16).into_owned(), role),
        ];
        if self.wide {
            line.push((fit_width(week, 18).into_owned(), role));
            line.push((clean_line(touches).into_owned(), ThemeRole::Dim));
        }
        line
    }
}

fn lever_cells(choice: &Choice, shown: CardSource<'_>) -> [String; 4] {
    let schedule = shown.state.planning.schedule.as_deref();
    let relaxation = match choice.action {
        ChoiceAction::UseRelaxation(number) => schedule
            .and_then(|schedule| schedule.relaxations.get(usize::from(number).saturating_sub(1))),
        _ => None,
    };
    let day = |at: jiff::Timestamp| {
        let zone = shown.state.planning.context.as_ref().map(|context| context.calendar.tz.clone());
        let zone = zone.and_then(|name| jiff::tz::TimeZone::get(&name).ok());
        let date = at.to_zoned(zone.unwrap_or(jiff::tz::TimeZone::UTC)).date();
        format_date(date, shown.today)
    };
    let last = schedule.and_then(|schedule| schedule.blocks.iter().map(|block| block.end.at).max());
    let finish = relaxation.and_then(|found| found.finish).map(|finish| finish.at).or(last);
    let ends = finish.map(day).unwrap_or_default();
    let limits = shown.state.planning.context.as_ref().map(|context| &context.constraints);
    let weekly = limits.and_then(|limits| limits.weekly_minutes);
    let weekly = weekly.map(|minutes| units::format_planned(minutes.into())).unwrap_or_default();
    let Some(relaxation) = relaxation else {
        let shown_as = if is_late(shown.state) { "shown as late" } else { "shown as broken" };
        return ["keep it as it is".to_owned(), ends, weekly, shown_as.to_owned()];
    };
    let week = weekly_change(relaxation).unwrap_or(weekly);
    [describe_levers(relaxation), ends, week, touched_by(relaxation)]
}

fn weekly_change(relaxation: &ScheduleRelaxation) -> Option<String> {
    relaxation.changes.iter().find_map(|change| match change {
        LeverChange::MoreWeeklyMinutes { from, to } => {
            let (from, to) = (u64::from(*from), u64::from(*to));
            Some(format!("{} → {}", units::format_planned(from), units::format_planned(to)))
        }
        _ => None,
    })
}

fn describe_levers(relaxation: &ScheduleRelaxation) -> String {
    let one = |change: &LeverChange| match change {
        LeverChange::LaterDeadline { .. } => "end later".to_owned(),
        LeverChange::MoreWeeklyMinutes { .. } => "more hours".to_owned(),
        LeverChange::DropOptional { node_ids, minutes } => {
            let tasks = units::format_counted(node_ids.len(), "optional task");
            format!("drop {tasks}, {}", units::format_planned((*minutes).into()))
        }
        LeverChange::OverlapPhases { .. } => "let two phases overlap".to_owned(),
        LeverChange::MoveOtherBlocks { block_ids } => {
            format!("move {} of other plans", units::format_counted(block_ids.len(), "block"))
        }
    };
    let words: Vec<String> = relaxation.changes.iter().map(one).collect();
    words.join(" and ")
}

fn touched_by(relaxation: &ScheduleRelaxation) -> String {
    let other = |change: &LeverChange| matches!(change, LeverChange::MoveOtherBlocks { .. });
    let tasks = |change: &LeverChange| {
        matches!(change, LeverChange::DropOptional { .. } | LeverChange::OverlapPhases { .. })
    };
    if relaxation.changes.iter().any(other) {
        "another plan".to_owned()
    } else if relaxation.changes.iter().all(tasks) {
        "this plan only".to_owned()
    } else {
        "what you said".to_owned()
    }
}

/// Where the list, the box for other words and the keys go.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChoiceCardAreas {
    pub(super) lines: Rect,
    /// Three rows for the box and one for what was read.
    text: Rect,
    pub(super) keys: Rect,
}

/// A card of the past, which nobody answers: the question has all of it.
fn past_card_areas(area: Rect) -> ChoiceCardAreas {
    let top = 1.min(area.height);
    let lines = Rect {
        x: area.x + 1.min(area.width),
        y: area.y + top,
        width: area.width.saturating_sub(2),
        height: area.height - top,
    };
    let nothing = Rect { y: area.bottom(), height: 0, ..area };
    ChoiceCardAreas { lines, text: nothing, keys: nothing }
}

/// The keys are always whole; what does not fit of the list scrolls.
pub(super) fn choice_card_areas(area: Rect, request: &Request, lines: usize) -> ChoiceCardAreas {
    let top = 1.min(area.height);
    let body = Rect { y: area.y + top, height: area.height - top, ..area };
    let keys = key_rows(body.width, request).min(body.height);
    let text = if takes_words(request) { 4 } else { 0 };
    let text = text.min(body.height - keys);
    // The question goes before the line for own words, which opens when it is typed into.
    let least = LEAST_LINES.min(lines as u16);
    let text = if body.height - keys - text < least { 0 } else { text };
    let room = body.height - keys - text;
    let height = room.min((lines as u16).max(1));
    let lines =
        Rect { x: body.x + 1.min(body.width), width: body.width.saturating_sub(2), height, ..body };
    let text = Rect { y: lines.bottom(), height: text, ..body };
    // One row of air, where there is one.
    let air = u16::from(room > height);
    ChoiceCardAreas { lines, text, keys: Rect { y: text.bottom() + air, height: keys, ..body } }
}

/// Rows that all of the card takes, what was read of the goal included.
pub(crate) fn choice_card_rows(width: u16, card: &CardCache, request: &Request) -> u16 {
    let text = if takes_words(request) { 4 } else { 0 };
    let reading = if card.reading.is_empty() { 0 } else { card.reading.len() as u16 + 1 };
    1 + card.lines.len() as u16 + text + 1 + key_rows(width, request) + reading
}

fn takes_words(request: &Request) -> bool {
    only_question(request).is_some()
}

fn key_rows(width: u16, request: &Request) -> u16 {
    (other_keys(request).len() as u16).div_ceil(key_columns(width, request))
}

/// Two columns of keys where nothing that follows from them is cut.
fn key_columns(width: u16, request: &Request) -> u16 {
    let half = usize::from(width / 2);
    let fits = |row: &AnswerRow| {
        let words = match (row.action, only_question(request)) {
            (KeyAction::PassOver, Some(question)) => skip_words(&question.assumed_words()),
            _ => row.consequence.clone(),
        };
        KEY_EFFECT + display_width(&words) < half
    };
    if width >= 90 && other_keys(request).iter().all(fits) { 2 } else { 1 }
}

/// What skipping comes to. An assumption of several clauses stands above, in full.
fn skip_words(assumed: &str) -> String {
    if display_width(assumed) > LONGEST_ASSUMED {
        return "uses what is written above, listed as assumed".to_owned();
    }
    format!("uses {assumed}, listed as assumed")
}

/// The keys beside picking and typing.
fn other_keys(request: &Request) -> Vec<AnswerRow> {
    use ChoiceAction as Choice;
    let in_list = |choice: &Choice| {
        matches!(choice, Choice::UseRelaxation(_) | Choice::AcceptLate | Choice::TakeIdea(_))
    };
    let listed =
        |row: &AnswerRow| row.action == KeyAction::Reply || row.choices.iter().any(in_list);
    let mut rows: Vec<AnswerRow> =
        answer_rows(request).into_iter().filter(|row| !listed(row)).collect();
    if only_question(request).is_some() {
        rows.push(AnswerRow {
            action: KeyAction::Quit,
            choices: Vec::new(),
            label: "later".to_owned(),
            consequence: "it stays in the inbox".to_owned(),
            unavailable: None,
            parts: Vec::new(),
        });
    }
    rows
}

pub(super) fn draw_choice_card(
    area: Rect,
    request: &Request,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let (kind, style) = cx.rule_style(PaneFocus::Approval);
    let name = match request.kind {
        RequestKind::Escalation if is_late(cx.state) || broken_dates(cx.state).is_empty() => {
            "the plan ends too late. what should change?"
        }
        RequestKind::Escalation => "these dates don't work. what should change?",
        _ if only_question(request).is_some_and(|asked| asked.key == KIND_QUESTION) => {
            "what kind of plan is this?"
        }
        _ => "one question",
    };
    let title = capitalize_title(&clean_line(&cx.state.session.title));
    // The header has it; here it stands only where it is whole.
    let room = usize::from(area.width).saturating_sub(display_width(name) + 12);
    let title = if display_width(&title) <= room { title } else { String::new() };
    let asks = if kind.past { style } else { cx.style(ThemeRole::Asks) };
    draw_pane_rule(
        buf,
        area,
        kind,
        style,
        &[styled_piece(name, asks)],
        &[styled_piece(title, style)],
    );
    let parts = if kind.past {
        past_card_areas(area)
    } else {
        choice_card_areas(area, request, cx.card.lines.len())
    };
    super::draw::draw_lines(parts.lines, buf, cx);
    draw_text_box(parts.text, request, buf, cx);
    draw_keys(parts.keys, request, buf, cx);
    let below = Rect {
        x: parts.lines.x,
        y: parts.keys.bottom() + 1,
        width: parts.lines.width,
        height: area.bottom().saturating_sub(parts.keys.bottom() + 1),
    };
    for (pieces, y) in cx.card.reading.iter().zip(below.y..below.bottom()) {
        let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..below });
        for (text, role) in pieces {
            line.put(text, cx.style(*role));
        }
    }
}

/// The line for an answer in the person's own words, and what was read from it.
fn draw_text_box(area: Rect, request: &Request, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if area.height < 3 {
        return;
    }
    let frame = Rect {
        x: area.x + 5.min(area.width),
        width: area.width.saturating_sub(8).min(92),
        height: 3,
        ..area
    };
    let typed = match &cx.ui.composer {
        Some(Composer::Form(form)) => {
            let FormPurpose::Questions { request: id } = form.purpose;
            form.rows.first().filter(|_| id == request.id)
        }
        _ => None,
    };
    if typed.is_some() {
        draw_heavy_frame(buf, frame, cx.style(ThemeRole::Focus));
    } else {
        draw_frame(buf, frame, cx.style(ThemeRole::Rule));
    }
    let inner =
        Rect { x: frame.x + 2, y: frame.y + 1, width: frame.width.saturating_sub(4), height: 1 };
    let mut read = (String::new(), ThemeRole::Dim);
    if let Some(row) = typed {
        row.field.draw(inner, cx.style(ThemeRole::Text), buf);
        read = read_typed(request, row.field.text(), cx);
    } else {
        let key = cx.keymap.key_hint(KeyAction::Reply);
        let words = format!("{key}, then your own words");
        ScreenLine::new(buf, inner).put(&words, cx.style(ThemeRole::Dim));
    }
    if read.0.is_empty()
        && let Some(unread) = &request.unread
    {
        read = (clean_line(&unread.why).into_owned(), ThemeRole::Failed);
    }
    if area.height > 3 && !read.0.is_empty() {
        let row = Rect { y: area.y + 3, height: 1, ..area };
        let mut line = ScreenLine::new(buf, row);
        line.skip(5);
        if read.1 != ThemeRole::Failed {
            line.put_column("Read", 10, cx.style(ThemeRole::Dim));
        }
        line.put(&read.0, cx.style(read.1));
    }
}

/// What a typed answer means, as far as it can be told before it is sent.
fn read_typed(request: &Request, text: &str, cx: &PaneContext<'_>) -> (String, ThemeRole) {
    let key = only_question(request).map_or("", |question| question.key.as_str());
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    let minutes = planwright_drafting::change_requests::read_minutes(text.trim());
    if let (Some(minutes), true) = (minutes, key.ends_with("minutes")) {
        let value = minutes.to_string();
        return (
            planwright_model::requests::describe_assumption(key, &value, today),
            ThemeRole::Text,
        );
    }
    let times = planwright_drafting::change_requests::parse_working_times(text, today);
    let words = times.map(|times| {
        let words: Vec<String> = times.iter().map(|change| change.describe(today)).collect();
        words.join(", ")
    });
    (words.filter(|_| key == "weekly_minutes").unwrap_or_default(), ThemeRole::Text)
}

fn draw_keys(area: Rect, request: &Request, buf: &mut Buffer, cx: &PaneContext<'_>) {
    if cx.mode.is_past() {
        return;
    }
    let rows = other_keys(request);
    let columns = key_columns(area.width, request);
    let width = area.width / columns;
    let columns = usize::from(columns);
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    for (index, row) in rows.iter().enumerate() {
        let y = area.y + (index / columns) as u16;
        if y >= area.bottom() {
            return;
        }
        let x = area.x + width * (index % columns) as u16;
        let off = super::draw::unavailable_text(row, cx).is_some();
        let dim = cx.style(ThemeRole::Dim);
        let on = |role| if off { dim } else { cx.style(role) };
        let mut line = ScreenLine::new(buf, Rect { x, y, width, height: 1 });
        line.skip(3).put_column(&cx.keymap.key_hint(row.action), 3, on(ThemeRole::Key));
        line.put_column(&row.label, 16, on(ThemeRole::Text)).skip(1);
        let words = match (row.action, only_question(request)) {
            (KeyAction::PassOver, Some(question)) => skip_words(&assumed_text(question, today)),
            _ => row.consequence.clone(),
        };
        let fitting = fit_clauses(&words, line.cells_left().saturating_sub(1));
        line.put(&fitting, dim);
    }
}
