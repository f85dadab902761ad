//! The first start: examples that are real plans, how it works, which planner is in use.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Home;
use crate::tui::theme::Role;
use crate::tui::widgets::{Line, RuleKind, piece, rule};

/// Goals that the offline planner knows well.
pub(super) const EXAMPLES: [&str; 3] =
    ["launch a newsletter in 6 weeks", "learn Rust, 5 hours a week", "marathon training 16 weeks"];

impl Home {
    pub(super) fn draw_first(&self, area: Rect, buf: &mut Buffer) {
        let mut y = area.y;
        let mut row = |skip: u16| {
            let at = Rect { y, height: u16::from(y < area.bottom()), ..area };
            y = y.saturating_add(1 + skip);
            at
        };
        let dim = self.style(Role::Dim);
        let lead = "Or take one of these: Down, then Enter";
        Line::new(buf, row(1)).skip(3).put(lead, dim);
        for (index, example) in EXAMPLES.iter().enumerate() {
            let area = row(0);
            let under = self.example == Some(index);
            if under {
                buf.set_style(area, self.style(Role::Selection));
            }
            let mark = if under { "► " } else { "  " };
            Line::new(buf, area)
                .skip(4)
                .put(mark, self.style(Role::Focus))
                .put(example, self.style(Role::Text));
        }
        row(0);
        self.draw_section("how it works", row(0), buf);
        for line in [
            "You give a goal. Planwright drafts an outline, a roadmap and a schedule,",
            "and shows what it will cost. Nothing runs before you approve it.",
            "Everything that happens is kept and can be played back.",
        ] {
            Line::new(buf, row(0)).skip(3).put(line, self.style(Role::Text));
        }
        row(0);
        self.draw_section("provider", row(0), buf);
        for line in [
            "The offline planner needs no key and no network; it plans from templates.",
            "For a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama,",
            "or write provider and model with  planwright config init.",
        ] {
            Line::new(buf, row(0)).skip(3).put(line, self.style(Role::Text));
        }
    }

    pub(super) fn draw_section(&self, name: &str, area: Rect, buf: &mut Buffer) {
        let style = self.style(Role::Rule);
        let kind = RuleKind { focus: false, past: false };
        rule(buf, area, kind, style, &[piece(name, style)], &[]);
    }
}
