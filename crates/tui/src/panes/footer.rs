//! The keys that work right now, generated from the key map, or one line the person should read.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::approval::{self, AnswerRow, answer_rows, current_request, request_judgment};
use super::finished::{finished_rows, is_finished_shown};
use super::graph::selected_task;
use super::plan::PlanView;
use super::running;
use crate::keymap::KeyAction;
use crate::overlays::Overlay;
use crate::pane_context::{Pane, PaneContext, SessionViewMode};
use crate::screen_areas::SizeClass;
use crate::theme::ThemeRole;
use crate::ui_state::{PaneFocus, SearchLine};
use crate::widgets::{ScreenLine, StyledPiece, pieces_width, styled_piece};
use planwright_model::{ChoiceAction, Request, RequestKind, TaskId};
use planwright_state::{RunPhase, TaskStatus};
use planwright_text::display_width;

/// The footer.
pub(crate) struct Footer;

/// Keys and what they do.
type KeyHint = (String, Cow<'static, str>);

impl Pane for Footer {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let mut line = ScreenLine::new(buf, area);
        if cx.ui.composer.is_some() {
            // No key but those named in the box means anything here.
            let (text, role) = match &cx.ui.message {
                Some(message) => (message.as_str(), ThemeRole::Warn),
                None => ("all letters are text here", ThemeRole::Dim),
            };
            line.skip(1).put(text, cx.style(role));
            return;
        }
        if let Some(editor) = &cx.ui.row_editor {
            return crate::row_editor::draw_editor_footer(editor, area, buf, cx);
        }
        if let Some(search) = &cx.ui.search_line {
            draw_search_line(search, area, buf, cx);
            return;
        }
        if matches!(&cx.ui.overlay, Some(Overlay::Task(card)) if card.is_typing()) {
            let keys: [KeyHint; 2] = [
                (cx.keymap.key_hint(KeyAction::Open), "keep".into()),
                (cx.keymap.key_hint(KeyAction::Back), "close the line".into()),
            ];
            line.skip(1).put_pieces(&hint_pieces(&keys, cx));
            return;
        }
        let mut line = ScreenLine::new(buf, area);
        let mut keys = hint_pieces(&right_hints(area, cx), cx);
        keys.push(styled_piece(" ", cx.style(ThemeRole::Dim)));
        // A message is read once and then gone; the keys are there again after it.
        if let Some(message) = &cx.ui.message {
            let room = line.cells_left().saturating_sub(pieces_width(&keys) + 3);
            if display_width(message) <= room {
                line.put_right(&keys);
            }
            line.skip(1).put(message, cx.style(ThemeRole::Warn));
            return;
        }
        line.put_right(&keys).skip(1);
        if let Some(sent) = &cx.ui.sent {
            line.put("sent: ", cx.style(ThemeRole::Dim)).put(sent, cx.style(ThemeRole::Text));
            return;
        }
        for hint in left_hints(cx) {
            let shown = hint_pieces(std::slice::from_ref(&hint), cx);
            // An entry is shown whole or not at all.
            if pieces_width(&shown) > line.cells_left() {
                break;
            }
            line.put_pieces(&shown).skip(2);
        }
    }
}

/// The line of a search while it is typed: what was found stands beside it.
fn draw_search_line(search: &SearchLine, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
    let dim = cx.style(ThemeRole::Dim);
    let mut line = ScreenLine::new(buf, area);
    let other = if cx.ui.focus == PaneFocus::Trace { "tasks" } else { "steps" };
    let keys = [("Enter", "keep"), ("Tab", other), ("Esc", "close")];
    let keys: Vec<KeyHint> =
        keys.iter().map(|(key, words)| ((*key).to_owned(), (*words).into())).collect();
    let mut keys = hint_pieces(&keys, cx);
    keys.push(styled_piece(" ", dim));
    let missing = search.status.starts_with("No match");
    let role = if missing { ThemeRole::Warn } else { ThemeRole::Text };
    keys.insert(0, styled_piece(format!("{}  ", search.status), cx.style(role)));
    line.put_right(&keys).skip(1).put("/", cx.style(ThemeRole::Key));
    let width = line.cells_left() as u16;
    let field = Rect { x: area.x + 2, width, ..area };
    search.field.draw(field, cx.style(ThemeRole::Text), buf);
}

/// What is always there: the way to everything else. `? help` is the last to go.
fn right_hints(area: Rect, cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let mut hints = Vec::new();
    let views = cx.ui.focus == PaneFocus::Graph && !is_planning(cx) && !cx.mode.is_past();
    if views && area.width >= 100 {
        let keys =
            [KeyAction::ViewOutline, KeyAction::ViewTable].map(|action| cx.keymap.key_hint(action));
        hints.push((keys.join("-"), "view".into()));
    }
    if area.width >= 80 && !cx.mode.is_past() {
        hints.push((cx.keymap.key_hint(KeyAction::Palette), "commands".into()));
    }
    hints.push((cx.keymap.key_hint(KeyAction::Help), "help".into()));
    if area.width >= 100 || cx.mode.is_past() {
        let words = match (cx.mode, cx.ui.opened_from_home) {
            (SessionViewMode::Saved, _) => "back",
            (_, true) => "home",
            (_, false) => "quit",
        };
        hints.push((cx.keymap.key_hint(KeyAction::Quit), words.into()));
    }
    hints
}

/// Whether a plan is being made: its rows are there to be changed.
fn is_planning(cx: &PaneContext<'_>) -> bool {
    !cx.mode.is_past() && !cx.state.run.is_active() && !cx.state.plan.is_approved()
}

/// Where undoing stands among those keys while there is something to undo.
const UNDO_PLACE: usize = 4;

/// What can be done with the rows of a plan before it is approved, most used first.
const PLAN_KEYS: [(&[KeyAction], &str); 15] = [
    (&[KeyAction::Open], "open"),
    (&[KeyAction::Edit], "edit"),
    (&[KeyAction::AddNode], "add"),
    (&[KeyAction::RemoveNode], "remove"),
    (&[KeyAction::MoveDown, KeyAction::MoveUp], "move"),
    (&[KeyAction::SplitRow], "split"),
    (&[KeyAction::Comment], "comment"),
    (&[KeyAction::Lock], "lock"),
    (&[KeyAction::Mark], "mark"),
    (&[KeyAction::Undo], "undo"),
    (&[KeyAction::Redo], "redo"),
    (&[KeyAction::ViewGraph], "graph"),
    (&[KeyAction::ViewGantt], "calendar"),
    (&[KeyAction::FullScreen], "full screen"),
    (&[KeyAction::Editor], "as a file"),
];

fn plan_hints(cx: &PaneContext<'_>) -> Vec<KeyHint> {
    // Before there are rows nothing can be done with them.
    if cx.plan.rows.all.is_empty() {
        return vec![(cx.keymap.key_hint(KeyAction::FocusNext), "activity".into())];
    }
    let situation = cx.situation();
    let works = |actions: &[KeyAction]| {
        let mut actions = actions.iter();
        actions.all(|action| situation.is_available(*action) && has_kept_change(*action, cx))
    };
    let mut rows: Vec<_> = PLAN_KEYS.iter().filter(|(actions, _)| works(actions)).collect();
    // Whoever changes something wants to know the way back.
    if let Some(at) = rows.iter().position(|(actions, _)| *actions == [KeyAction::Undo]) {
        let undo = rows.remove(at);
        rows.insert(at.min(UNDO_PLACE), undo);
    }
    let rows = rows.into_iter();
    let keys = rows.map(|(actions, words)| (cx.keymap.keys_hint(actions), (*words).into()));
    let mut hints: Vec<KeyHint> = next_page_hint(cx).into_iter().chain(keys).collect();
    if cx.ui.view.kind == PlanView::Gantt {
        let aside = cx.keymap.keys_hint(&[KeyAction::Left, KeyAction::Right]);
        let scale = cx.keymap.key_hint(KeyAction::Zoom);
        let at = hints.len().min(2);
        hints.splice(at..at, [(aside, "time".into()), (scale, "day, week, month".into())]);
    }
    hints
}

/// Whether there is a change of the draft to undo or to redo; true for every other action.
fn has_kept_change(action: KeyAction, cx: &PaneContext<'_>) -> bool {
    let talk = &cx.state.planning;
    match action {
        KeyAction::Undo if talk.begun => !talk.undo.is_empty(),
        KeyAction::Redo if talk.begun => !talk.redo.is_empty(),
        KeyAction::Undo | KeyAction::Redo => cx.state.plan.revisions.len() > 1,
        _ => true,
    }
}

/// The way through a plan that has not been on the screen whole, while it is asked about.
fn next_page_hint(cx: &PaneContext<'_>) -> Option<KeyHint> {
    let request = current_request(cx.state, cx.ui).filter(|_| cx.can_act)?;
    let unseen = approval::unseen_commands(cx.plan, &cx.ui.card.seen_commands);
    (approval::is_plan_card(&request.kind) && unseen > 0)
        .then(|| (cx.keymap.key_hint(KeyAction::PageDown), "next page".into()))
}

fn left_hints(cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let mut hints = pane_hints(cx);
    let key = cx.keymap.key_hint(KeyAction::FullScreen);
    if cx.ui.full_screen {
        hints.retain(|(known, _)| *known != key);
        hints.insert(hints.len().min(1), (key, "leave full screen".into()));
    }
    hints
}

/// What the pane with the focus is for, most used first.
fn pane_hints(cx: &PaneContext<'_>) -> Vec<KeyHint> {
    if cx.ui.focus == PaneFocus::Approval
        && current_request(cx.state, cx.ui).is_some()
        && !cx.mode.is_past()
    {
        return request_hints(cx);
    }
    let task =
        approval::shown_failed_task(cx.state, cx.ui).filter(|_| cx.ui.focus == PaneFocus::Approval);
    if let Some(task) = task.filter(|_| !cx.mode.is_past()) {
        return failed_hints(task, cx);
    }
    if cx.ui.focus == PaneFocus::Approval && is_finished_shown(cx.state, cx.ui) {
        // The way to the commands is at the right end already.
        let rows =
            finished_rows(cx.state).into_iter().filter(|row| row.action != KeyAction::Palette);
        return rows.map(|row| (cx.keymap.key_hint(row.action), row.label.into())).collect();
    }
    if is_planning(cx) && cx.ui.focus == PaneFocus::Graph {
        return plan_hints(cx);
    }
    if cx.mode.is_past() {
        let time = replay_hints(cx);
        return time.into_iter().chain(focus_hints(cx, None)).collect();
    }
    let mut hints = if cx.state.run.phase == RunPhase::Running {
        focus_hints(cx, run_hint(cx))
    } else {
        // A run that waits for the person waits for this key.
        run_hint(cx).into_iter().chain(focus_hints(cx, None)).collect()
    };
    if cx.situation().is_available(KeyAction::Detach) {
        let key = cx.keymap.key_hint(KeyAction::Pause);
        let after_pause = hints.iter().position(|(known, _)| *known == key);
        let place = after_pause.map_or(hints.len(), |place| place + 1);
        hints.insert(place, (cx.keymap.key_hint(KeyAction::Detach), "detach".into()));
    }
    hints.push((cx.keymap.key_hint(KeyAction::PreviousEvent), "back in time".into()));
    if cx.ui.focus != PaneFocus::Output {
        hints.push((cx.keymap.key_hint(KeyAction::FullScreen), "full screen".into()));
    }
    hints
}

fn hint_pieces(hints: &[KeyHint], cx: &PaneContext<'_>) -> Vec<StyledPiece<'static>> {
    let mut pieces = Vec::new();
    for (index, (keys, words)) in hints.iter().enumerate() {
        let gap = if index > 0 { "  " } else { "" };
        pieces.push(styled_piece(format!("{gap}{keys}"), cx.style(ThemeRole::Key)));
        pieces.push(styled_piece(format!(" {words}"), cx.style(ThemeRole::Dim)));
    }
    pieces
}

fn request_hints(cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let Some(request) = current_request(cx.state, cx.ui) else { return Vec::new() };
    let mut hints: Vec<KeyHint> = Vec::new();
    if cx.can_act {
        hints.extend(
            answer_rows(request)
                .iter()
                .filter(|row| row.unavailable.is_none())
                // Where answers can be picked, the key to type one is named with them.
                .filter(|row| row.action != KeyAction::Reply || cx.card.choices.is_empty())
                .filter(|row| !approval::is_choice_card(request) || !is_idea_row(row))
                .map(|row| (cx.keymap.key_hint(row.action), answer_label(row, request, cx.class))),
        );
    }
    if !cx.card.choices.is_empty() && cx.can_act {
        let words = if cx.ui.card.choice.is_some() { "answer" } else { "type" };
        let moves = cx.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]);
        hints.insert(0, (moves, "choose".into()));
        hints.insert(1, (cx.keymap.key_hint(KeyAction::Open), words.into()));
        // On a small screen the box for it says so.
        let replies = answer_rows(request).iter().any(|row| row.action == KeyAction::Reply);
        if replies && cx.class >= SizeClass::Full {
            hints.insert(2, (cx.keymap.key_hint(KeyAction::Reply), "type your own".into()));
        }
    } else if cx.card.max_scroll() > 0 {
        let both = [KeyAction::Down, KeyAction::Up];
        let keys = if cx.class >= SizeClass::Full { &both[..] } else { &both[..1] };
        hints.push((cx.keymap.keys_hint(keys), "scroll".into()));
    }
    hints.splice(0..0, next_page_hint(cx));
    if approval::card_count(cx.state) > 1 {
        hints.push((cx.keymap.key_hint(KeyAction::NextRequest), "next request".into()));
    }
    if request_judgment(request, cx.state).is_some() {
        let words = if cx.ui.card.terms { "hide details" } else { "details" };
        hints.push((cx.keymap.key_hint(KeyAction::Terms), words.into()));
    }
    hints
}

/// Whether a row stands for ideas, which a question lists among its answers.
fn is_idea_row(row: &AnswerRow) -> bool {
    row.choices.iter().all(|choice| matches!(choice, ChoiceAction::TakeIdea(_)))
}

fn failed_hints(task: &TaskId, cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let mut hints: Vec<KeyHint> = Vec::new();
    if cx.can_act {
        let rows = approval::failed_rows(cx.state, task);
        let rows = rows.into_iter().filter(|row| row.unavailable.is_none());
        hints.extend(rows.map(|row| (cx.keymap.key_hint(row.action), row.label.into())));
    }
    hints.push((cx.keymap.key_hint(KeyAction::Output), "output".into()));
    hints.push((cx.keymap.key_hint(KeyAction::CopyFailed), "copy".into()));
    if approval::card_count(cx.state) > 1 {
        hints.push((cx.keymap.key_hint(KeyAction::NextRequest), "next".into()));
    }
    hints
}

/// An answer in a few words; fewer on a small screen, so that the no is on it as well.
fn answer_label(row: &AnswerRow, request: &Request, class: SizeClass) -> Cow<'static, str> {
    let short = match (&request.kind, row.action) {
        (RequestKind::FinalPlan { .. }, KeyAction::Yes) => match class {
            SizeClass::Wide | SizeClass::Full => "approve and run",
            SizeClass::Tabs => "approve, run",
            SizeClass::Small | SizeClass::TooSmall => "run",
        },
        (RequestKind::FinalPlan { .. }, KeyAction::YesWider) => match class {
            SizeClass::Wide | SizeClass::Full | SizeClass::Tabs => "approve, but",
            SizeClass::Small | SizeClass::TooSmall => "run, but",
        },
        (RequestKind::Cap { .. }, KeyAction::Yes) => "raise once",
        (RequestKind::Cap { .. }, KeyAction::YesWider) => match class {
            SizeClass::Wide | SizeClass::Full => "raise further",
            SizeClass::Tabs => "raise more",
            SizeClass::Small | SizeClass::TooSmall => "more",
        },
        (RequestKind::Cap { .. }, KeyAction::Options) if class < SizeClass::Full => "offline",
        (RequestKind::Cap { .. }, KeyAction::No) if class < SizeClass::Full => "stop",
        _ if class < SizeClass::Wide && row.choices == [ChoiceAction::RaiseForSession] => {
            "for this plan"
        }
        _ if class < SizeClass::Wide && row.choices == [ChoiceAction::GoOffline] => {
            if row.label.contains("planner") { "built-in planner" } else { "no paid calls" }
        }
        (RequestKind::PartlyDone { .. }, KeyAction::RequestChanges) if class < SizeClass::Full => {
            "hint"
        }
        (_, KeyAction::RequestChanges) if class < SizeClass::Full => "changes",
        _ => return row.label.clone().into(),
    };
    short.into()
}

/// What the pane with the focus offers, and `run` among it.
fn focus_hints(cx: &PaneContext<'_>, run: Option<KeyHint>) -> Vec<KeyHint> {
    let key = |action| cx.keymap.key_hint(action);
    let mut hints = match cx.ui.focus {
        PaneFocus::Graph => {
            let mut hints = move_hints(cx);
            hints.push((key(KeyAction::Open), "open".into()));
            hints.push((key(KeyAction::Output), "output".into()));
            hints.extend(task_hints(selected_task(cx), cx));
            // It goes before what only changes the view.
            hints.extend(run);
            match cx.ui.view.kind {
                PlanView::Graph | PlanView::Gantt => {
                    hints.push((key(KeyAction::Zoom), "scale".into()));
                }
                PlanView::Outline | PlanView::Timeline => {}
                PlanView::Table => {
                    hints.push((key(KeyAction::SortNext), "sort".into()));
                }
            }
            if !cx.ui.graph.following && !cx.mode.is_past() {
                hints.push((key(KeyAction::Follow), "follow".into()));
            }
            return hints;
        }
        PaneFocus::Trace => {
            let moves = cx.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]);
            let only = if cx.ui.trace.only.is_some() { "all tasks" } else { "only this task" };
            let mut hints = vec![
                (moves, "move".into()),
                (key(KeyAction::Open), "unfold".into()),
                (key(KeyAction::OnlyTask), only.into()),
            ];
            if !cx.ui.trace.following {
                hints.push((key(KeyAction::Follow), "follow".into()));
            }
            hints.push((key(KeyAction::Why), "details".into()));
            hints.push((key(KeyAction::Output), "output".into()));
            hints.push((key(KeyAction::Copy), "copy".into()));
            hints
        }
        PaneFocus::Running => {
            let moves = cx.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]);
            let mut hints = vec![(moves, "move".into()), (key(KeyAction::Open), "open".into())];
            hints.extend(task_hints(running::selected_active_task(cx.state, cx.ui), cx));
            hints
        }
        PaneFocus::Output => {
            let moves = cx.keymap.keys_hint(&[KeyAction::Down, KeyAction::Up]);
            let mut hints = vec![(moves, "move".into()), (key(KeyAction::Search), "search".into())];
            hints.extend(output_hints(cx));
            return hints;
        }
        PaneFocus::Approval | PaneFocus::Files | PaneFocus::Scrub => Vec::new(),
    };
    hints.extend(run);
    hints
}

/// What can be done with a log, most used first; what was searched for changes what `n` and `=` do.
fn output_hints(cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let key = |action| cx.keymap.key_hint(action);
    let ui = &cx.ui.output;
    let mut hints: Vec<KeyHint> = match (&ui.search, ui.only_matches) {
        (None, _) => vec![(key(KeyAction::NextHit), "error".into())],
        (Some(_), only) => vec![
            (key(KeyAction::NextHit), "next match".into()),
            (key(KeyAction::OnlyMatches), if only { "all lines" } else { "only matches" }.into()),
        ],
    };
    if !ui.following {
        hints.push((key(KeyAction::Follow), "follow".into()));
    }
    hints.push((key(KeyAction::FullScreen), "full screen".into()));
    let wrap = if ui.unwrapped_from.is_some() { "wrap" } else { "don't wrap" };
    hints.push((key(KeyAction::WrapOutput), wrap.into()));
    hints.push((key(KeyAction::PageOutput), "pager".into()));
    hints.push((key(KeyAction::CopyOutput), "copy".into()));
    let all = if ui.all_tasks { "this task" } else { "all tasks" };
    hints.push((key(KeyAction::AllOutput), all.into()));
    hints.push((key(KeyAction::Back), "back".into()));
    hints
}

/// How one moves in the view of the plan that is on.
fn move_hints(cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let keys = |actions: &[KeyAction]| cx.keymap.keys_hint(actions);
    let all = [KeyAction::Left, KeyAction::Down, KeyAction::Up, KeyAction::Right];
    let (along, aside) = ([KeyAction::Down, KeyAction::Up], [KeyAction::Left, KeyAction::Right]);
    match cx.ui.view.kind {
        PlanView::Graph => vec![(keys(&all), "move".into())],
        PlanView::Outline => vec![(keys(&along), "move".into()), (keys(&aside), "fold".into())],
        PlanView::Gantt => vec![(keys(&along), "task".into()), (keys(&aside), "time".into())],
        PlanView::Table | PlanView::Timeline => vec![(keys(&along), "move".into())],
    }
}

/// What can be done with the selected task.
fn task_hints(task: Option<usize>, cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let Some(task) = task.filter(|_| cx.can_act && !cx.mode.is_past()) else {
        return Vec::new();
    };
    let key = |action| cx.keymap.key_hint(action);
    match cx.state.tasks.row(task).status {
        TaskStatus::Running if cx.state.run.is_active() => {
            let id = cx.state.tasks.id(task);
            let message =
                cx.state.agents.get(id).map(|_| (key(KeyAction::Comment), "message".into()));
            message.into_iter().chain([(key(KeyAction::StopTask), "stop task".into())]).collect()
        }
        TaskStatus::Yours => {
            let mut hints = vec![(key(KeyAction::Done), "done".into())];
            if cx.situation().is_available(KeyAction::When) {
                hints.push((key(KeyAction::When), "when".into()));
            }
            hints.push((key(KeyAction::Skip), "skip".into()));
            hints
        }
        TaskStatus::Failed | TaskStatus::Skipped(_) => {
            vec![(key(KeyAction::Retry), "retry".into())]
        }
        TaskStatus::Pending if cx.state.run.is_active() => {
            vec![(key(KeyAction::Skip), "skip".into())]
        }
        _ => Vec::new(),
    }
}

fn run_hint(cx: &PaneContext<'_>) -> Option<KeyHint> {
    if !cx.can_act {
        return None;
    }
    if !cx.situation().is_available(KeyAction::Pause) {
        return None;
    }
    let words = match cx.state.run.phase {
        RunPhase::Running => "pause",
        RunPhase::Paused => "resume",
        RunPhase::Interrupted if cx.state.is_runnable() => "resume",
        RunPhase::Idle if cx.state.is_runnable() => "run it",
        _ => return None,
    };
    Some((cx.keymap.key_hint(KeyAction::Pause), words.into()))
}

fn replay_hints(cx: &PaneContext<'_>) -> Vec<KeyHint> {
    let keys = |actions: &[KeyAction]| cx.keymap.keys_hint(actions);
    let speed: KeyHint = (keys(&[KeyAction::Slower, KeyAction::Faster]), "speed".into());
    let mut hints: Vec<KeyHint> = vec![
        (keys(&[KeyAction::PreviousEvent, KeyAction::NextEvent]), "event".into()),
        (keys(&[KeyAction::PreviousLandmark, KeyAction::NextLandmark]), "landmark".into()),
        (keys(&[KeyAction::Play]), if cx.ui.time.playing { "pause" } else { "play" }.into()),
        (keys(&[KeyAction::GoTo]), "go to".into()),
        (keys(&[KeyAction::Search]), "search".into()),
        (keys(&[KeyAction::Bookmark]), "bookmark".into()),
        (keys(&[KeyAction::Fork]), "fork".into()),
        (keys(&[KeyAction::CompareWith]), "compare".into()),
    ];
    let situation = cx.situation();
    let missing = [KeyAction::Fork, KeyAction::CompareWith]
        .into_iter()
        .filter(|action| !situation.is_available(*action))
        .map(|action| keys(&[action]))
        .collect::<Vec<_>>();
    if cx.class >= SizeClass::Full {
        hints.insert(3, speed);
    } else {
        // On a small screen what one comes for goes before what one finds out by trying.
        hints.swap(3, 6);
        hints.push(speed);
    }
    hints.retain(|(key, _)| !missing.contains(key));
    if cx.mode == SessionViewMode::ScrubbedBack {
        hints.insert(0, (keys(&[KeyAction::Live]), "live".into()));
    }
    hints
}
