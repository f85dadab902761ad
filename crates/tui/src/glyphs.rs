//! Glyphs of the screens, their ASCII stand-ins, and the last look at a frame before it is shown.

use ratatui::buffer::Buffer;

use super::theme::Role;
use planwright_state::trace::EntryKind;
use planwright_state::{SessionState, SessionStatus, TaskStatus};

/// What stands for the status of a task: its glyph and its role. Shapes differ, so that colour is never needed.
pub(crate) fn task_glyph(state: &SessionState, task: usize) -> (char, Role) {
    let id = state.tasks.id(task);
    let asks = |open: &planwright_state::OpenRequest| open.request.task.as_ref() == Some(id);
    if state.requests.open.values().any(asks) {
        return ('?', Role::Asks);
    }
    match state.tasks.row(task).status {
        TaskStatus::Pending if state.run.is_active() && state.tasks.is_ready(task) => {
            ('◦', Role::Waiting)
        }
        TaskStatus::Pending => ('·', Role::Waiting),
        TaskStatus::Running => ('►', Role::Running),
        TaskStatus::Yours => ('@', Role::Yours),
        TaskStatus::Done => ('✓', Role::Done),
        TaskStatus::Failed => ('✗', Role::Failed),
        TaskStatus::Skipped(_) => ('»', Role::Skipped),
    }
}

/// What stands for a session in a list.
pub(crate) fn session_glyph(status: SessionStatus) -> (char, Role) {
    match status {
        SessionStatus::Planning => ('·', Role::Waiting),
        SessionStatus::NeedsYou => ('?', Role::Asks),
        SessionStatus::Held | SessionStatus::Paused => ('■', Role::Warn),
        SessionStatus::Running => ('►', Role::Running),
        SessionStatus::Interrupted => ('■', Role::Failed),
        SessionStatus::Yours => ('@', Role::Yours),
        SessionStatus::Done => ('✓', Role::Done),
        SessionStatus::Failed => ('✗', Role::Failed),
        SessionStatus::Abandoned => ('»', Role::Skipped),
    }
}

/// What stands for a step of the trace.
pub(crate) fn step_glyph(kind: EntryKind) -> (char, Role) {
    match kind {
        EntryKind::Thought => ('~', Role::Thought),
        EntryKind::Action => ('>', Role::Action),
        EntryKind::Observed => ('<', Role::Observed),
        EntryKind::Started => ('·', Role::Waiting),
        EntryKind::Done => ('✓', Role::Done),
        EntryKind::Failed => ('✗', Role::Failed),
        EntryKind::Skipped => ('»', Role::Skipped),
        EntryKind::Yours => ('@', Role::Yours),
        EntryKind::Asked => ('?', Role::Asks),
        EntryKind::Answered => ('✓', Role::Text),
        EntryKind::Refused => ('✗', Role::Warn),
        EntryKind::Plan | EntryKind::Run | EntryKind::Session => ('·', Role::Dim),
        EntryKind::Unknown => ('?', Role::Warn),
    }
}

/// Looks at every cell of a finished frame: nothing that could act on the terminal leaves, and with `ascii` none of our
/// own glyphs does either.
pub(crate) fn sweep(buf: &mut Buffer, ascii: bool) {
    for cell in &mut buf.content {
        let symbol = cell.symbol();
        if let [byte] = symbol.as_bytes() {
            if byte.is_ascii_control() {
                cell.set_char('\u{fffd}');
            }
            continue;
        }
        if symbol.chars().any(is_unsafe) {
            cell.set_char('\u{fffd}');
        } else if ascii {
            let mut letters = symbol.chars();
            if let (Some(letter), None) = (letters.next(), letters.next()) {
                cell.set_char(stand_in(letter));
            }
        }
    }
}

fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}')
}

/// The ASCII character for one of our glyphs; other characters stay.
fn stand_in(glyph: char) -> char {
    match glyph {
        '✓' => 'v',
        '✗' | '×' => 'x',
        '◦' => 'o',
        '»' => '/',
        '■' => '=',
        '›' | '→' => '>',
        '‹' => '<',
        '…' => '~',
        '┄' | '┅' => '.',
        '┊' => ':',
        '◊' => 'M',
        // A selected box must not look like any other.
        '═' | '║' | '╔' | '╗' | '╚' | '╝' => '*',
        other => planwright_layout::drawing::ascii(other),
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
        sweep(&mut buf, false);
        let text: String = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(text, "\u{fffd}\u{fffd}\u{fffd}é");
    }

    #[test]
    fn every_glyph_of_ours_has_a_stand_in() {
        let glyphs = "✓✗◦»■›‹×…┄┅┊◊►·━─│┃┌┐└┘╔╗╚╝═║█▓▒░▲▼┫┼";
        let mut buf = Buffer::empty(Rect::new(0, 0, 60, 1));
        buf.set_string(0, 0, glyphs, Style::default());
        sweep(&mut buf, true);
        assert!(buf.content.iter().all(|cell| cell.symbol().is_ascii()));
    }
}
