//! The first start: examples that are real plans, how it works, which planner is in use.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::HomeScreen;
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, styled_piece};
use planwright_text::{clean_text, wrap_words};

/// Goals that the offline planner knows well.
pub(super) const EXAMPLES: [&str; 3] =
    ["launch a newsletter in 6 weeks", "learn Rust, 5 hours a week", "marathon training 16 weeks"];
const DEMO: (&str, &str) = ("watch a finished example run", "planwright demo");

impl HomeScreen {
    pub(super) fn draw_first_start(&self, area: Rect, buf: &mut Buffer) {
        let mut y = area.y;
        let mut row = || {
            let at = Rect { y, height: u16::from(y < area.bottom()), ..area };
            y = y.saturating_add(1);
            at
        };
        let dim = self.style(ThemeRole::Dim);
        ScreenLine::new(buf, row()).skip(3).put("Or take one of these: Down, then Enter", dim);
        row();
        for index in 0..=EXAMPLES.len() {
            let area = row();
            let under = self.example == Some(index);
            if under {
                buf.set_style(area, self.style(ThemeRole::Selection));
            }
            let mut line = ScreenLine::new(buf, area);
            line.skip(4).put(if under { "► " } else { "  " }, self.style(ThemeRole::Focus));
            match EXAMPLES.get(index) {
                Some(example) => line.put(example, self.style(ThemeRole::Text)),
                None => line.put_column(DEMO.0, 40, self.style(ThemeRole::Text)).put(DEMO.1, dim),
            };
        }
        row();
        self.draw_section("how it works", row(), buf);
        for line in [
            "You give a goal. Planwright drafts an outline, a roadmap and a schedule,",
            "and shows what it will cost. Nothing runs before you approve it.",
            "Everything that happens is kept and can be played back.",
        ] {
            ScreenLine::new(buf, row()).skip(3).put(line, self.style(ThemeRole::Text));
        }
        row();
        self.draw_section("provider", row(), buf);
        let width = usize::from(area.width.saturating_sub(6)).max(20);
        for sentence in &self.view.provider_help {
            for line in wrap_words(&clean_text(sentence), width, 0) {
                ScreenLine::new(buf, row()).skip(3).put(&line, self.style(ThemeRole::Text));
            }
        }
    }

    pub(super) fn draw_section(&self, name: &str, area: Rect, buf: &mut Buffer) {
        let style = self.style(ThemeRole::Rule);
        let kind = RuleKind { focus: false, past: false };
        draw_pane_rule(buf, area, kind, style, &[styled_piece(name, style)], &[]);
    }
}
