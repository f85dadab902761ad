//! The task under the cursor, beside a plan that is decided on: who, when, what it needs and unlocks, when it is done.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::keymap::KeyAction;
use crate::pane_context::{Pane, PaneContext};
use crate::panes::trace::draw_task_steps;
use crate::plan_text::{PlanTextRow, agent_facts};
use crate::theme::ThemeRole;
use crate::widgets::{RuleKind, ScreenLine, draw_pane_rule, styled_piece};
use planwright_text::{clean_text, wrap_words};

/// Where values begin.
const LABEL: usize = 13;

/// The pane of the selected task.
pub(crate) struct SelectedTaskPane;

impl Pane for SelectedTaskPane {
    fn render(&self, area: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let selected = cx.ui.graph.selected.as_ref();
        let row = selected.and_then(|id| cx.plan.rows.position(id));
        let Some(text) = row.and_then(|row| cx.plan.text.get(row)).filter(|_| !area.is_empty())
        else {
            return;
        };
        let style = cx.style(ThemeRole::Rule);
        let kind = RuleKind { focus: false, past: cx.mode.is_past() };
        let opens = format!("{} opens", cx.keymap.key_hint(KeyAction::Open));
        let name = format!("task · {}", text.title);
        let room = usize::from(area.width).saturating_sub(opens.len() + 14);
        let name = planwright_text::truncate_end(&name, room).into_owned();
        draw_pane_rule(
            buf,
            area,
            kind,
            style,
            &[styled_piece(name, style)],
            &[styled_piece(opens, style)],
        );
        let mut y = area.y + 1;
        for (label, value, role) in task_lines(text, cx) {
            let width = usize::from(area.width).saturating_sub(LABEL + 5).max(8);
            for (index, part) in wrap_words(&value, width, 0).into_iter().enumerate() {
                if y >= area.bottom() {
                    return;
                }
                let mut line = ScreenLine::new(buf, Rect { y, height: 1, ..area });
                let lead = if index == 0 { label } else { "" };
                line.skip(3).put_column(lead, LABEL, cx.style(ThemeRole::Dim));
                line.put(&part, cx.style(role));
                y += 1;
            }
        }
        // Before a plan runs there is nothing that a task did.
        if !cx.planning && y + 1 < area.bottom() {
            let below = Rect { y: y + 1, height: area.bottom() - y - 1, ..area };
            draw_task_steps(below, buf, cx);
        }
    }
}

/// What is known of a task, label and value.
fn task_lines(text: &PlanTextRow, cx: &PaneContext<'_>) -> Vec<(&'static str, String, ThemeRole)> {
    let today = cx.now.to_zoned(cx.time_zone.clone()).date();
    let who = [text.who.clone(), text.time_text()];
    let who: Vec<String> = who.into_iter().filter(|part| !part.is_empty()).collect();
    let unlocks: Vec<&str> = cx
        .plan
        .text
        .iter()
        .filter(|other| other.after.contains(&text.title))
        .map(|other| other.title.as_str())
        .collect();
    let command = text.command.as_deref().map(planwright_text::reveal_hidden).unwrap_or_default();
    let checks = planwright_text::reveal_hidden(&text.checks.join("\n"));
    let mut lines = vec![
        ("Who", who.join(" · "), ThemeRole::Text),
        ("When", text.when_text(today), ThemeRole::Text),
        ("After", text.after.join(", "), ThemeRole::Text),
        ("Unlocks", unlocks.join(", "), ThemeRole::Text),
        ("Runs", command, ThemeRole::RiskExecute),
        ("", planwright_text::reveal_hidden(&text.settings.join("\n")), ThemeRole::RiskExecute),
        ("Checks", checks, ThemeRole::RiskExecute),
        ("Done when", text.done_when.clone(), ThemeRole::Text),
        ("Failed when", text.failed_when.clone(), ThemeRole::Text),
    ];
    lines.extend(cx.state.agents.get(&text.id).map(agent_facts).unwrap_or_default());
    let description = node_description(text, cx);
    lines.push(("", description, ThemeRole::Untrusted));
    lines.retain(|(_, value, _)| !value.trim().is_empty());
    lines
}

fn node_description(text: &PlanTextRow, cx: &PaneContext<'_>) -> String {
    let planning = &cx.state.planning;
    let outline = planning.outline.as_deref().and_then(|outline| outline.find_node(&text.id));
    outline.map(|node| clean_text(&node.description).into_owned()).unwrap_or_default()
}
