//! The first start: examples that are real plans, a plan file of this folder, a recorded run, when there is time, and
//! who drafts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{HomeFocus, HomeScreen, own_hours_card};
use crate::HomeExit;
use crate::session::ScreenEffect;
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, styled_piece};
use planwright_text::{clean_text, wrap_words};

/// The rows above the question: a hint, a heading, the examples, and space.
const EXAMPLE_ROWS: u16 = 9;

/// Goals that the built-in planner knows well.
const EXAMPLES: [&str; 3] = [
    "launch a newsletter in 6 weeks",
    "move to a new apartment by the end of February",
    "learn Rust, 5 hours a week",
];

/// What can be taken instead of typing.
enum StartExample<'a> {
    Goal(&'static str),
    PlanFile(&'a str),
    RecordedRun,
}

impl HomeScreen {
    fn examples(&self) -> Vec<StartExample<'_>> {
        let mut examples: Vec<StartExample<'_>> = EXAMPLES.map(StartExample::Goal).into();
        examples.extend(self.view.plan_file.as_deref().map(StartExample::PlanFile));
        examples.push(StartExample::RecordedRun);
        examples
    }

    pub(super) fn move_example(&mut self, by: isize) {
        let last = self.examples().len() - 1;
        self.example = match self.example {
            None if by > 0 => Some(0),
            None => None,
            Some(at) => at.checked_add_signed(by).map(|at| at.min(last)),
        };
    }

    pub(super) fn take_example(&mut self, at: usize) -> ScreenEffect {
        let exit = match self.examples().get(at) {
            Some(StartExample::Goal(goal)) => HomeExit::Plan((*goal).to_owned()),
            Some(StartExample::PlanFile(path)) => HomeExit::RunFile((*path).to_owned()),
            Some(StartExample::RecordedRun) | None => HomeExit::Demo,
        };
        self.exit_with(exit)
    }

    pub(super) fn draw_first_start(&mut self, area: Rect, buf: &mut Buffer) {
        // A small screen has room for the examples or for the question that is being answered.
        let short = area.height < EXAMPLE_ROWS + own_hours_card::ROWS + 1;
        let mut rest = area;
        if !(short && self.focus == HomeFocus::OwnHours) {
            rest = self.draw_examples(rest, buf);
        }
        if rest.height > own_hours_card::ROWS {
            self.draw_own_hours(rest, buf);
            let used = own_hours_card::ROWS + 1;
            rest = Rect { y: rest.y + used, height: rest.height - used, ..rest };
        }
        if rest.height > 1 {
            self.draw_drafter(rest, buf);
        }
    }

    /// Draws what can be taken instead of typing, and returns the room below it.
    fn draw_examples(&self, area: Rect, buf: &mut Buffer) -> Rect {
        let mut y = area.y;
        let mut row = || {
            let at = Rect { y, height: u16::from(y < area.bottom()), ..area };
            y = y.saturating_add(1);
            at
        };
        let dim = self.style(ThemeRole::Dim);
        let hint = "In your own words. Dates, hours, budget and people are read as you type.";
        ScreenLine::new(buf, row()).skip(3).put(hint, dim);
        row();
        let mut heading = ScreenLine::new(buf, row());
        heading.put_right(&[styled_piece("↓, then Enter ", dim)]);
        heading.skip(3).put("Or start from one of these", dim);
        for (index, example) in self.examples().iter().enumerate() {
            let area = row();
            let under = self.example == Some(index);
            if under {
                buf.set_style(area, self.style(ThemeRole::Selection));
            }
            let mut line = ScreenLine::new(buf, area);
            line.skip(3).put(if under { "► " } else { "  " }, self.style(ThemeRole::Focus));
            let text = self.style(ThemeRole::Text);
            match example {
                StartExample::Goal(goal) => line.put(goal, text),
                StartExample::PlanFile(path) => line
                    .put_column(&format!("run {path}"), 33, text)
                    .put("a plan file found in this folder", dim),
                StartExample::RecordedRun => line
                    .put_column("watch a recorded run", 33, text)
                    .put("2 minutes, nothing is started", dim),
            };
        }
        row();
        let top = y.min(area.bottom());
        Rect { y: top, height: area.bottom() - top, ..area }
    }

    /// Draws who drafts and which agents were found.
    fn draw_drafter(&self, area: Rect, buf: &mut Buffer) {
        let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
        self.draw_rule_above(below, false, "who drafts, who works", "", buf);
        let width = usize::from(area.width.saturating_sub(3)).max(20);
        let sentences: Vec<_> =
            self.view.provider_help.iter().map(|sentence| clean_text(sentence)).collect();
        let lines = sentences.iter().flat_map(|sentence| wrap_words(sentence, width, 0));
        let mut y = below.y;
        for line in lines.take(usize::from(below.height)) {
            let row = Rect { y, height: 1, ..below };
            ScreenLine::new(buf, row).skip(3).put(&line, self.style(ThemeRole::Text));
            y += 1;
        }
        // The last row is a rule above the footer, where there is room for it.
        if y < below.bottom() {
            let last = Rect { y: below.bottom(), height: 1, ..below };
            self.draw_rule_above(last, false, "", "", buf);
        }
    }
}
