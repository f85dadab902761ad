//! The minimum a ratatui program does: sets up the terminal, fills a frame, redraws it for every key.

use ratatui::crossterm::event::{self, Event, KeyCode};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// The text of its last row.
pub const READY: &str = "minimal, q quits";
/// Set for the process that acts as the minimal program.
pub const VARIABLE: &str = "PLANWRIGHT_PROBE_MINIMAL";

pub fn is_meant() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

pub fn run() {
    let mut terminal = ratatui::init();
    let mut view = "graph";
    loop {
        terminal
            .draw(|frame| {
                let area = frame.area();
                let rows = (1..area.height.saturating_sub(1)).map(|row| {
                    Line::from(format!("{view} · {row:>3} ").repeat(usize::from(area.width) / 12))
                });
                let all = std::iter::once(Line::from(view)).chain(rows).chain([Line::from(READY)]);
                frame.render_widget(Paragraph::new(all.collect::<Vec<_>>()), area);
            })
            .unwrap();
        if let Event::Key(key) = event::read().unwrap() {
            match key.code {
                KeyCode::Char('1') => view = "graph",
                KeyCode::Char('4') => view = "table",
                KeyCode::Char('q') => break,
                _ => {}
            }
        }
    }
    ratatui::restore();
}
