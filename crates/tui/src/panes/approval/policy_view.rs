//! The policy beside a card: seven controls, each with its effect in words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::pane_context::PaneContext;
use crate::policy_dials::{DIALS, PolicyDial};
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_model::InteractionPolicy;

/// Rows that all controls take.
pub(crate) const POLICY_ROWS: u16 = 14;

/// Draws the controls; the one under the cursor, if any, is marked.
pub(crate) fn draw_policy(
    policy: &InteractionPolicy,
    under: Option<usize>,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    // On a small screen the one under the cursor comes into view.
    let room = usize::from(area.height / 2).max(1);
    let top = under.map_or(0, |at| (at + 1).saturating_sub(room));
    for (index, dial) in DIALS.iter().enumerate().skip(top).take(room) {
        let y = area.y + 2 * (index - top) as u16;
        if y + 1 >= area.bottom() {
            return;
        }
        let row = |y: u16| Rect { y, height: 1, ..area };
        let chosen = under == Some(index);
        if chosen {
            buf.set_style(row(y), cx.style(ThemeRole::Selection));
        }
        draw_dial(*dial, chosen, policy, row(y), buf, cx);
        let effect = dial.effect_text(policy, &cx.state.planning);
        ScreenLine::new(buf, row(y + 1)).skip(5).put(&effect, cx.style(ThemeRole::Dim));
    }
}

fn draw_dial(
    dial: PolicyDial,
    chosen: bool,
    policy: &InteractionPolicy,
    area: Rect,
    buf: &mut Buffer,
    cx: &PaneContext<'_>,
) {
    let mut line = ScreenLine::new(buf, area);
    line.skip(1).put(if chosen { "► " } else { "  " }, cx.style(ThemeRole::Focus));
    line.put_column(dial.name(), 15, cx.style(ThemeRole::Text));
    let end = |up| dial.override_for_step(policy, up).is_none();
    let style = |off| if off { cx.style(ThemeRole::Dim) } else { cx.style(ThemeRole::Key) };
    line.put("‹ ", style(end(false)));
    line.put(&dial.value(policy), cx.theme.bold_style(ThemeRole::Text));
    line.put(" ›", style(end(true)));
}
