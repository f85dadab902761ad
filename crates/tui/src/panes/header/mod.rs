//! The row at the top: which kind of time this is, what the session is, who runs it, how far it got and what it took.

mod badge;
mod facts;
mod next_task;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::pane_context::{Pane, PaneContext};
use crate::theme::ThemeRole;
use crate::widgets::{
    ScreenLine, StyledPiece, capitalize_title, fit_clauses, short_plan_name, styled_piece,
};
use planwright_text::{clean_line, display_width};

pub(crate) use badge::SessionBadge;
use facts::{HeaderFact, header_facts};
pub(crate) use next_task::NextTaskCache;

/// The header.
pub(crate) struct HeaderPane;

/// Cells between two facts.
const GAP: usize = 3;
/// Facts up to this weight give way to a title that would be cut.
const MINOR: u8 = 4;

impl Pane for HeaderPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if area.is_empty() {
            return;
        }
        let badge = SessionBadge::from_state(cx.state, cx.mode, cx.note.is_some());
        let title = session_title(cx);
        let mut line = ScreenLine::new(buf, Rect { height: 1, ..area });
        line.put(&format!(" {} ", badge.label()), cx.style(badge.role())).skip(2);
        let facts = fit_facts(header_facts(badge, cx), display_width(&title), line.cells_left());
        line.put_right(&join_facts(&facts, cx));
        let room = line.cells_left();
        let title = if display_width(&title) <= room {
            title
        } else {
            fit_clauses(&short_plan_name(&title), room)
        };
        line.put(&title, cx.theme.bold_style(ThemeRole::Text));
    }
}

/// The title; at moments before it was known, the one it has now.
fn session_title(cx: &PaneContext<'_>) -> String {
    let title = &cx.state.session.title;
    let title = if title.is_empty() { &cx.latest.session.title } else { title };
    capitalize_title(&clean_line(title))
}

/// Takes what fits beside the title: all facts as they are, then in their short form, then without the least important.
fn fit_facts(mut facts: Vec<HeaderFact>, title: usize, room: usize) -> Vec<HeaderFact> {
    facts.retain(|fact| !fact.text.is_empty());
    // Two cells of air after the title, one at the right edge. A long title keeps two fifths of the row.
    let kept = |least: usize| room.saturating_sub(title.min(least) + 3);
    if facts_width(&facts) <= kept(usize::MAX) {
        return facts;
    }
    for fact in &mut facts {
        if let Some(short) = fact.short.take() {
            fact.text = short;
        }
    }
    // What the title is worth more than goes before a letter of it does.
    while facts_width(&facts) > kept(usize::MAX) {
        let minor = facts.iter().map(|fact| fact.weight).filter(|weight| *weight <= MINOR).min();
        let Some(at) = facts.iter().position(|fact| Some(fact.weight) == minor) else { break };
        facts.remove(at);
    }
    let least = room * 2 / 5;
    while facts_width(&facts) > kept(least.max(title.min(room / 2))) && !facts.is_empty() {
        let least_important = facts.iter().map(|fact| fact.weight).min();
        let Some(at) = facts.iter().position(|fact| Some(fact.weight) == least_important) else {
            break;
        };
        facts.remove(at);
    }
    facts
}

fn facts_width(facts: &[HeaderFact]) -> usize {
    let words: usize = facts.iter().map(|fact| display_width(&fact.text)).sum();
    words + GAP * facts.len().saturating_sub(1)
}

/// Facts side by side, with one cell of air at the right edge.
fn join_facts(facts: &[HeaderFact], cx: &PaneContext<'_>) -> Vec<StyledPiece<'static>> {
    let mut pieces = Vec::new();
    for fact in facts {
        if !pieces.is_empty() {
            pieces.push(styled_piece(" ".repeat(GAP), cx.style(ThemeRole::Dim)));
        }
        pieces.push(styled_piece(fact.text.clone(), cx.style(fact.role)));
    }
    if !pieces.is_empty() {
        pieces.push(styled_piece(" ", cx.style(ThemeRole::Dim)));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Vec<HeaderFact> {
        vec![
            HeaderFact::new("runs in this terminal", 3).or_short("this terminal"),
            HeaderFact::new("3 of 11 done", 8).or_short("3/11"),
            HeaderFact::new("9 min", 5),
            HeaderFact::new("148k tokens", 1),
            HeaderFact::new("$0.62 of $2.00", 7).or_short("$0.62"),
        ]
    }

    fn shown(title: usize, room: usize) -> String {
        let fitted = fit_facts(facts(), title, room);
        fitted.into_iter().map(|fact| fact.text).collect::<Vec<_>>().join("   ")
    }

    #[test]
    fn facts_become_short_and_then_go_whole_from_the_middle() {
        assert_eq!(
            shown(25, 112),
            "runs in this terminal   3 of 11 done   9 min   148k tokens   $0.62 of $2.00"
        );
        assert_eq!(shown(25, 72), "this terminal   3/11   9 min   $0.62");
        assert_eq!(shown(25, 52), "3/11   9 min   $0.62");
        assert_eq!(shown(58, 80), "3/11   9 min   $0.62");
        assert_eq!(shown(200, 50), "3/11   9 min   $0.62");
        assert_eq!(shown(200, 4), "");
    }
}
