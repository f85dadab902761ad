//! The keys that work right now, generated from the key map, or one line the person should read.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::approval::{self, AnswerRow, answer_rows, current, judgement};
use super::graph::selected;
use super::plan::View;
use super::running;
use crate::areas::SizeClass;
use crate::context::{Mode, Pane, PaneContext};
use crate::keymap::Action;
use crate::theme::Role;
use crate::ui_state::Focus;
use crate::widgets::{Line, Piece, piece, width_of};
use planwright_model::{Request, RequestKind, TaskId};
use planwright_state::{RunPhase, TaskStatus};

/// The footer.
pub(crate) struct Footer;

/// Keys and what they do.
type Hint = (String, Cow<'static, str>);

impl Pane for Footer {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let mut line = Line::new(buf, area);
        if cx.ui.composer.is_some() {
            // No key but those named in the box means anything here.
            let (text, role) = match &cx.ui.message {
                Some(message) => (message.as_str(), Role::Warn),
                None => ("all letters are text here", Role::Dim),
            };
            line.skip(1).put(text, cx.style(role));
            return;
        }
        let mut keys = pieces(&right(cx), cx);
        keys.push(piece(" ", cx.style(Role::Dim)));
        line.right(&keys).skip(1);
        if let Some(message) = &cx.ui.message {
            line.put(message, cx.style(Role::Warn));
            return;
        }
        if let Some(sent) = &cx.ui.sent {
            line.put("sent: ", cx.style(Role::Dim)).put(sent, cx.style(Role::Text));
            return;
        }
        for hint in left(cx) {
            let shown = pieces(std::slice::from_ref(&hint), cx);
            // An entry is shown whole or not at all.
            if width_of(&shown) > line.left() {
                break;
            }
            line.pieces(&shown).skip(2);
        }
    }
}

fn right(cx: &PaneContext<'_>) -> Vec<Hint> {
    let mut hints = Vec::new();
    if cx.class < SizeClass::Full {
        hints.push((cx.keymap.key(Action::FocusNext), "pane".into()));
    } else if !cx.mode.is_past() {
        // In the past the keys that move in time take the room.
        if cx.ui.focus == Focus::Graph {
            let keys = [Action::ViewGraph, Action::ViewTable].map(|action| cx.keymap.key(action));
            hints.push((keys.join("-"), "view".into()));
        }
        hints.push((cx.keymap.key(Action::FocusNext), "focus".into()));
    }
    hints.push((cx.keymap.key(Action::Help), "help".into()));
    hints.push((
        cx.keymap.key(Action::Quit),
        if cx.mode == Mode::Saved { "back" } else { "quit" }.into(),
    ));
    hints
}

fn left(cx: &PaneContext<'_>) -> Vec<Hint> {
    if cx.ui.focus == Focus::Approval && current(cx.state, cx.ui).is_some() && !cx.mode.is_past() {
        return card(cx);
    }
    let task = approval::failed(cx.state, cx.ui).filter(|_| cx.ui.focus == Focus::Approval);
    if let Some(task) = task.filter(|_| !cx.mode.is_past()) {
        return failed(task, cx);
    }
    if cx.mode.is_past() {
        let time = replay(cx);
        return time.into_iter().chain(focus(cx, None)).collect();
    }
    let mut hints = if cx.state.run.phase == RunPhase::Running {
        focus(cx, run(cx))
    } else {
        // A run that waits for the person waits for this key.
        run(cx).into_iter().chain(focus(cx, None)).collect()
    };
    hints.push((cx.keymap.key(Action::PreviousEvent), "scrub back".into()));
    hints
}

fn pieces(hints: &[Hint], cx: &PaneContext<'_>) -> Vec<Piece<'static>> {
    let mut pieces = Vec::new();
    for (index, (keys, words)) in hints.iter().enumerate() {
        let gap = if index > 0 { "  " } else { "" };
        pieces.push(piece(format!("{gap}{keys}"), cx.style(Role::Key)));
        pieces.push(piece(format!(" {words}"), cx.style(Role::Dim)));
    }
    pieces
}

fn card(cx: &PaneContext<'_>) -> Vec<Hint> {
    let Some(request) = current(cx.state, cx.ui) else { return Vec::new() };
    let mut hints: Vec<Hint> = Vec::new();
    if cx.can_act {
        hints.extend(
            answer_rows(request)
                .iter()
                .filter(|row| row.unavailable.is_none())
                // Where answers can be picked, the key to type one is named with them.
                .filter(|row| row.action != Action::Reply || cx.card.choices.is_empty())
                .map(|row| (cx.keymap.key(row.action), answer_words(row, request, cx.class))),
        );
    }
    if !cx.card.choices.is_empty() && cx.can_act {
        let words = if cx.ui.card.choice.is_some() { "answer" } else { "type" };
        let moves = cx.keymap.keys(&[Action::Down, Action::Up]);
        hints.insert(0, (moves, "choose".into()));
        hints.insert(1, (cx.keymap.key(Action::Open), words.into()));
    } else if cx.card.most() > 0 {
        let both = [Action::Down, Action::Up];
        let keys = if cx.class >= SizeClass::Full { &both[..] } else { &both[..1] };
        hints.push((cx.keymap.keys(keys), "scroll".into()));
    }
    if approval::cards(cx.state) > 1 {
        hints.push((cx.keymap.key(Action::NextRequest), "next request".into()));
    }
    if judgement(request, cx.state).is_some() {
        let words = if cx.ui.card.terms { "hide terms" } else { "terms" };
        hints.push((cx.keymap.key(Action::Terms), words.into()));
    }
    hints
}

fn failed(task: &TaskId, cx: &PaneContext<'_>) -> Vec<Hint> {
    let mut hints: Vec<Hint> = Vec::new();
    if cx.can_act {
        let rows = approval::failed_rows(cx.state, task);
        let rows = rows.into_iter().filter(|row| row.unavailable.is_none());
        hints.extend(rows.map(|row| (cx.keymap.key(row.action), row.label.into())));
    }
    if approval::cards(cx.state) > 1 {
        hints.push((cx.keymap.key(Action::NextRequest), "next".into()));
    }
    hints
}

/// An answer in a few words; fewer on a small screen, so that the no is on it as well.
fn answer_words(row: &AnswerRow, request: &Request, class: SizeClass) -> Cow<'static, str> {
    let short = match (&request.kind, row.action) {
        (RequestKind::FinalPlan { .. }, Action::Yes) => match class {
            SizeClass::Wide | SizeClass::Full => "approve and run",
            SizeClass::Tabs => "approve, run",
            SizeClass::Small | SizeClass::TooSmall => "run",
        },
        (RequestKind::FinalPlan { .. }, Action::YesWider) => match class {
            SizeClass::Wide | SizeClass::Full => "approve and stop",
            SizeClass::Tabs => "approve, stop",
            SizeClass::Small | SizeClass::TooSmall => "keep",
        },
        (RequestKind::Cap { .. }, Action::Yes) => "raise once",
        (RequestKind::Cap { .. }, Action::YesWider) => match class {
            SizeClass::Wide | SizeClass::Full => "for the session",
            SizeClass::Tabs => "session",
            SizeClass::Small | SizeClass::TooSmall => "always",
        },
        (RequestKind::Cap { .. }, Action::Options) if class < SizeClass::Full => "offline",
        (RequestKind::Cap { .. }, Action::No) if class < SizeClass::Full => "stop",
        (_, Action::RequestChanges) if class < SizeClass::Full => "changes",
        _ => return row.label.clone().into(),
    };
    short.into()
}

/// What the pane with the focus offers, and `run` among it.
fn focus(cx: &PaneContext<'_>, run: Option<Hint>) -> Vec<Hint> {
    let key = |action| cx.keymap.key(action);
    let mut hints = match cx.ui.focus {
        Focus::Graph => {
            let mut hints = moves(cx);
            hints.push((key(Action::Open), "open".into()));
            hints.extend(on_task(selected(cx), cx));
            // It goes before what only changes the view.
            hints.extend(run);
            match cx.ui.view.kind {
                View::Graph => hints.push((key(Action::Zoom), "zoom".into())),
                View::Gantt => hints.push((key(Action::Zoom), "scale".into())),
                View::Outline => {}
                View::Table => {
                    let keys = cx.keymap.keys(&[Action::SortPrevious, Action::SortNext]);
                    hints.push((keys, "sort".into()));
                }
            }
            if !cx.ui.graph.following && !cx.mode.is_past() {
                hints.push((key(Action::Follow), "follow".into()));
            }
            return hints;
        }
        Focus::Trace => {
            let moves = cx.keymap.keys(&[Action::Down, Action::Up]);
            let only = if cx.ui.trace.only.is_some() { "all tasks" } else { "this task only" };
            let mut hints = vec![
                (moves, "move".into()),
                (key(Action::Open), "unfold".into()),
                (key(Action::OnlyTask), only.into()),
            ];
            hints.push((key(Action::OnlyKind), "by kind".into()));
            if !cx.ui.trace.following {
                hints.push((key(Action::Follow), "follow".into()));
            }
            hints.push((key(Action::Why), "why".into()));
            hints.push((key(Action::OnlyRole), "by part".into()));
            hints
        }
        Focus::Running => {
            let moves = cx.keymap.keys(&[Action::Down, Action::Up]);
            let mut hints = vec![(moves, "move".into()), (key(Action::Open), "open".into())];
            hints.extend(on_task(running::selected(cx.state, cx.ui), cx));
            hints
        }
        Focus::Approval => Vec::new(),
    };
    hints.extend(run);
    hints
}

/// How one moves in the view of the plan that is on.
fn moves(cx: &PaneContext<'_>) -> Vec<Hint> {
    let keys = |actions: &[Action]| cx.keymap.keys(actions);
    let all = [Action::Left, Action::Down, Action::Up, Action::Right];
    let (along, aside) = ([Action::Down, Action::Up], [Action::Left, Action::Right]);
    match cx.ui.view.kind {
        View::Graph => vec![(keys(&all), "move".into())],
        View::Outline => vec![(keys(&along), "move".into()), (keys(&aside), "fold".into())],
        View::Gantt => vec![(keys(&along), "task".into()), (keys(&aside), "time".into())],
        View::Table => vec![(keys(&along), "move".into())],
    }
}

/// What can be done with the selected task.
fn on_task(task: Option<usize>, cx: &PaneContext<'_>) -> Vec<Hint> {
    let Some(task) = task.filter(|_| cx.can_act && !cx.mode.is_past()) else {
        return Vec::new();
    };
    let key = |action| cx.keymap.key(action);
    match cx.state.tasks.row(task).status {
        TaskStatus::Running if cx.state.run.is_active() => {
            vec![(key(Action::StopTask), "stop it".into())]
        }
        TaskStatus::Yours => {
            vec![(key(Action::Done), "done".into()), (key(Action::Skip), "skip".into())]
        }
        TaskStatus::Failed | TaskStatus::Skipped(_) => vec![
            (key(Action::Retry), "retry".into()),
            (key(Action::RetryWithDependents), "with dependents".into()),
        ],
        TaskStatus::Pending if cx.state.run.is_active() => vec![(key(Action::Skip), "skip".into())],
        _ => Vec::new(),
    }
}

fn run(cx: &PaneContext<'_>) -> Option<Hint> {
    if !cx.can_act {
        return None;
    }
    let words = match cx.state.run.phase {
        RunPhase::Running => "pause run",
        RunPhase::Paused => "go on",
        RunPhase::Interrupted if cx.state.may_run() => "go on",
        RunPhase::Idle if cx.state.may_run() => "run it",
        _ => return None,
    };
    Some((cx.keymap.key(Action::Pause), words.into()))
}

fn replay(cx: &PaneContext<'_>) -> Vec<Hint> {
    let keys = |actions: &[Action]| cx.keymap.keys(actions);
    let speed: Hint = (keys(&[Action::Slower, Action::Faster]), "speed".into());
    let mut hints: Vec<Hint> = vec![
        (keys(&[Action::PreviousEvent, Action::NextEvent]), "event".into()),
        (keys(&[Action::PreviousLandmark, Action::NextLandmark]), "landmark".into()),
        (keys(&[Action::Play]), if cx.ui.time.playing { "pause" } else { "play" }.into()),
        (keys(&[Action::GoTo]), "go to".into()),
        (keys(&[Action::Search]), "search".into()),
        (keys(&[Action::Bookmark]), "bookmark".into()),
        (keys(&[Action::Fork]), "fork".into()),
        (keys(&[Action::Start, Action::Latest]), "ends".into()),
    ];
    if cx.class >= SizeClass::Full {
        hints.insert(3, speed);
    } else {
        // On a small screen what one comes for goes before what one finds out by trying.
        hints.swap(3, 6);
        hints.push(speed);
    }
    if cx.mode == Mode::ScrubbedBack {
        hints.insert(0, (keys(&[Action::Live]), "live".into()));
    }
    hints
}
