//! Glyphs of the screens, their ASCII stand-ins, and the last look at a frame before it is shown.

use ratatui::buffer::Buffer;

use super::theme::ThemeRole;
use planwright_state::trace::TraceEntryKind;
use planwright_state::{SessionState, SessionStatus, TaskStatus};

/// What stands for the status of a task: its glyph and its role. Shapes differ, so that colour is never needed.
pub(crate) fn task_glyph(state: &SessionState, task: usize) -> (char, ThemeRole) {
    let id = state.tasks.id(task);
    let asks = |open: &planwright_state::OpenRequest| open.request.task.as_ref() == Some(id);
    if state.requests.open.values().any(asks) {
        return ('?', ThemeRole::Asks);
    }
    match state.tasks.row(task).status {
        TaskStatus::Pending => ('·', ThemeRole::Waiting),
        TaskStatus::Running => ('►', ThemeRole::Running),
        TaskStatus::Yours => ('@', ThemeRole::Yours),
        TaskStatus::Done => ('✓', ThemeRole::Done),
        TaskStatus::Failed => ('✗', ThemeRole::Failed),
        TaskStatus::Skipped(_) => ('»', ThemeRole::Skipped),
    }
}

/// What stands for a session in a list.
pub(crate) fn session_glyph(status: SessionStatus) -> (char, ThemeRole) {
    match status {
        SessionStatus::Planning => ('·', ThemeRole::Waiting),
        SessionStatus::NeedsYou => ('?', ThemeRole::Asks),
        SessionStatus::Held | SessionStatus::Paused => ('■', ThemeRole::Warn),
        SessionStatus::Running | SessionStatus::Elsewhere => ('►', ThemeRole::Running),
        SessionStatus::Interrupted => ('■', ThemeRole::Failed),
        SessionStatus::Yours => ('@', ThemeRole::Yours),
        SessionStatus::Done => ('✓', ThemeRole::Done),
        SessionStatus::Failed | SessionStatus::Dismissed => ('✗', ThemeRole::Failed),
        SessionStatus::Abandoned => ('»', ThemeRole::Skipped),
    }
}

/// What stands for a step of the trace.
pub(crate) fn step_glyph(kind: TraceEntryKind) -> (char, ThemeRole) {
    match kind {
        TraceEntryKind::Thought => ('~', ThemeRole::Thought),
        TraceEntryKind::Action => ('>', ThemeRole::Action),
        TraceEntryKind::Observed => ('<', ThemeRole::Observed),
        TraceEntryKind::Started | TraceEntryKind::Waiting => ('·', ThemeRole::Waiting),
        TraceEntryKind::Done => ('✓', ThemeRole::Done),
        TraceEntryKind::Failed => ('✗', ThemeRole::Failed),
        TraceEntryKind::Skipped => ('»', ThemeRole::Skipped),
        TraceEntryKind::Yours => ('@', ThemeRole::Yours),
        TraceEntryKind::Asked => ('?', ThemeRole::Asks),
        TraceEntryKind::Answered => ('✓', ThemeRole::Text),
        TraceEntryKind::Refused => ('✗', ThemeRole::Warn),
        TraceEntryKind::Plan | TraceEntryKind::Run | TraceEntryKind::Session => {
            ('·', ThemeRole::Dim)
        }
        TraceEntryKind::Unknown => ('?', ThemeRole::Warn),
    }
}

/// Looks at every cell of a finished frame: nothing that could act on the terminal leaves, and with `ascii` none of our
/// own glyphs does either.
pub(crate) fn sanitize_frame(buf: &mut Buffer, ascii: bool) {
    for cell in &mut buf.content {
        let symbol = cell.symbol();
        if let [byte] = symbol.as_bytes() {
            if byte.is_ascii_control() {
                cell.set_char('\u{fffd}');
            }
            continue;
        }
        if symbol.chars().any(is_unsafe_char) {
            cell.set_char('\u{fffd}');
        } else if ascii {
            let mut letters = symbol.chars();
            if let (Some(letter), None) = (letters.next(), letters.next()) {
                cell.set_char(ascii_substitute(letter));
            }
        }
    }
}

fn is_unsafe_char(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}')
}

/// The ASCII character for one of our glyphs; other characters stay.
fn ascii_substitute(glyph: char) -> char {
    match glyph {
        '✓' | '↓' => 'v',
        '✗' | '×' => 'x',
        '»' => '/',
        '■' => '=',
        '›' | '→' => '>',
        '‹' => '<',
        '…' => '~',
        '┄' | '┅' => '.',
        '┊' => ':',
        '◊' => 'M',
        '↑' => '^',
        '▾' | '–' => '-',
        '▸' => '+',
        // A selected box must not look like any other.
        '═' | '║' | '╔' | '╗' | '╚' | '╝' => '*',
        other => planwright_layout::drawing::ascii_glyph(other),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn a_swept_frame_holds_nothing_that_acts_on_a_terminal() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 4, 1));
        buf[(0, 0)].set_symbol("\u{1b}");
        buf[(1, 0)].set_symbol("a\u{202e}");
        buf[(2, 0)].set_symbol("\u{9b}");
        buf[(3, 0)].set_symbol("é");
        sanitize_frame(&mut buf, false);
        let text: String = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(text, "\u{fffd}\u{fffd}\u{fffd}é");
    }

    #[test]
    fn every_glyph_of_ours_has_a_stand_in() {
        let glyphs = "✓✗»■›‹×…→↑↓┄┅┊◊▾▸–►·━─│┃┌┐└┘╔╗╚╝═║█▓▒░▲▼┫┼";
        let mut buf = Buffer::empty(Rect::new(0, 0, 60, 1));
        buf.set_string(0, 0, glyphs, Style::default());
        sanitize_frame(&mut buf, true);
        assert!(buf.content.iter().all(|cell| cell.symbol().is_ascii()));
    }
}
