//! The policy panel: choose a control, turn it, see what it does to this plan and how the next message would read.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{OverlayOutcome, frame};
use crate::keymap::{KeyAction, KeyChord, KeyContext, Keymap};
use crate::pane_context::PaneContext;
use crate::plan_text::PlanRowKind;
use crate::policy_dials::{policy_dials, policy_sample, turn_dial, whole_policy};
use crate::theme::ThemeRole;
use crate::widgets::{ScreenLine, fit_clauses};
use planwright_drafting::gate::{self, GatePolicy};
use planwright_model::event::Command;
use planwright_model::gate::{GateDecision, GateSignals};
use planwright_model::{Actor, InteractionPolicy, ScoutGateMode};
use planwright_state::PlanningSlice;
use planwright_text::dates::format_date;
use planwright_text::{display_width, wrap_words};

/// The controls of the policy; the row after them is about small goals.
const DIALS: usize = 7;
/// Where values and effects begin.
const VALUE: usize = 19;
const EFFECT: usize = 28;
/// Below so many columns names have fewer cells and effects no column of their own.
const WIDE: u16 = 90;
const SHORT_NAME: usize = 15;

/// The open panel.
#[derive(Clone, Debug)]
pub(crate) struct PolicyPanel {
    /// What is set, with what was turned and is not journaled yet.
    pub(crate) policy: InteractionPolicy,
    /// What was set when the panel opened.
    opened: InteractionPolicy,
    dial: usize,
    /// What the gate decided, with what was turned and is not journaled yet.
    gate: GateDecision,
    /// What the controls are read against.
    planning: Box<PlanningSlice>,
}

impl PolicyPanel {
    pub(crate) fn new(planning: &PlanningSlice) -> Self {
        let gate = planning.gate.clone().unwrap_or_else(|| {
            gate::decide_gate(&GatePolicy::default(), GateSignals::default(), gate::LOOPS, None)
        });
        let policy = planning.interaction_policy();
        let planning = Box::new(planning.clone());
        Self { opened: policy.clone(), policy, dial: 0, gate, planning }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent, keymap: &Keymap) -> OverlayOutcome {
        let key = KeyChord::from_event(event);
        match keymap.action_for(key, &[KeyContext::Screen]) {
            Some(KeyAction::Down) => self.dial = (self.dial + 1).min(DIALS),
            Some(KeyAction::Up) => self.dial = self.dial.saturating_sub(1),
            Some(KeyAction::Left) => return self.change_dial(false),
            Some(KeyAction::Right) => return self.change_dial(true),
            Some(KeyAction::Undo) => return self.undo_changes(),
            Some(KeyAction::Back | KeyAction::Quit | KeyAction::Policy | KeyAction::Open) => {
                return OverlayOutcome::Close;
            }
            _ if key.code == KeyCode::Char('d') => return self.save_defaults(),
            _ => {}
        }
        OverlayOutcome::Stay
    }

    fn change_dial(&mut self, up: bool) -> OverlayOutcome {
        if self.dial == DIALS {
            return self.change_gate(up);
        }
        let dials = policy_dials(&self.policy, &self.planning);
        let Some(set) = dials.get(self.dial).and_then(|dial| turn_dial(&self.policy, dial, up))
        else {
            return OverlayOutcome::Stay;
        };
        self.policy = self.policy.clone().with_overrides(&set);
        let dials = policy_dials(&self.policy, &self.planning);
        let words = format!("{}: {}", dials[self.dial].name, dials[self.dial].value);
        let command = Command::SetPolicy { set, save: false, by: Actor::Person };
        OverlayOutcome::SendAndStay { command, words }
    }

    fn change_gate(&mut self, up: bool) -> OverlayOutcome {
        let Some(when) = adjacent_gate(self.gate.gate_mode(), up) else {
            return OverlayOutcome::Stay;
        };
        self.gate = gate::redecide_gate(&self.gate, when);
        let words = format!("small goals: {}", gate_name(when));
        OverlayOutcome::SendAndStay { command: Command::SetGate { when }, words }
    }

    /// Sets what was set when the panel opened.
    fn undo_changes(&mut self) -> OverlayOutcome {
        if self.policy == self.opened {
            return OverlayOutcome::Stay;
        }
        self.policy = self.opened.clone();
        let set = whole_policy(&self.policy);
        let command = Command::SetPolicy { set, save: false, by: Actor::Person };
        OverlayOutcome::SendAndStay { command, words: "the policy as it was".to_owned() }
    }

    /// Keeps all seven values for later sessions.
    fn save_defaults(&self) -> OverlayOutcome {
        let set = whole_policy(&self.policy);
        let command = Command::SetPolicy { set, save: true, by: Actor::Person };
        OverlayOutcome::SendAndStay { command, words: "keep the policy as your default".to_owned() }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let undo = cx.keymap.key_hint(KeyAction::Undo);
        let keep = if screen.width < WIDE { "keep" } else { "keep for this plan" };
        let hint =
            format!("h l change  Enter {keep}  d keep as my default  {undo} undo  Esc close");
        let inner =
            frame::draw_overlay_frame(screen, (98, 19), "interaction policy", &hint, buf, cx);
        frame::draw_frame_fact(inner, "this plan · applies at once", buf, cx);
        let row = |y: u16| Rect { y: inner.y + y, height: u16::from(y < inner.height), ..inner };
        for (at, dial) in policy_dials(&self.policy, &self.planning).iter().enumerate() {
            let ends = [false, true].map(|up| turn_dial(&self.policy, dial, up).is_none());
            let value = dial.value.as_str();
            self.draw_dial(at, (dial.name, value, &dial.effect), ends, row(at as u16 + 1), buf, cx);
        }
        let mode = self.gate.gate_mode();
        let ends = [false, true].map(|up| adjacent_gate(mode, up).is_none());
        let effect = gate_effect(&self.gate);
        let gate = ("small goals", gate_name(mode), effect.as_str());
        self.draw_dial(DIALS, gate, ends, row(DIALS as u16 + 2), buf, cx);
        self.draw_sample(DIALS as u16 + 4, inner, buf, cx);
    }

    /// One row: the name, the value between arrows that lead on, and what it does.
    fn draw_dial(
        &self,
        at: usize,
        (name, value, effect): (&str, &str, &str),
        ends: [bool; 2],
        row: Rect,
        buf: &mut Buffer,
        cx: &PaneContext<'_>,
    ) {
        let chosen = self.dial == at;
        if chosen {
            buf.set_style(row, cx.style(ThemeRole::Selection));
        }
        let arrow = |off: bool| cx.style(if off { ThemeRole::Dim } else { ThemeRole::Key });
        let mut line = ScreenLine::new(buf, row);
        line.skip(1).put(if chosen { "► " } else { "  " }, cx.style(ThemeRole::Focus));
        // On a narrow screen the effect follows its value at once, so that it is seen whole.
        let narrow = row.width + 2 < WIDE;
        line.put_column(name, if narrow { SHORT_NAME } else { VALUE }, cx.style(ThemeRole::Text));
        let used = value.chars().count() + 4;
        line.put("‹ ", arrow(ends[0]));
        line.put(value, cx.theme.bold_style(ThemeRole::Text));
        let gap = if narrow { 2 } else { EFFECT.saturating_sub(used).max(2) };
        line.put(" ›", arrow(ends[1])).skip(gap);
        let room = line.cells_left().saturating_sub(1);
        // A list that is too long gives way to what it comes to.
        let effect = match effect.split_once(": ") {
            Some((_, sum)) if display_width(effect) > room => sum,
            _ => effect,
        };
        line.put(&fit_clauses(effect, room), cx.style(ThemeRole::Dim));
    }

    fn draw_sample(&self, from: u16, inner: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let is_phase =
            |row: &&crate::plan_text::PlanTextRow| row.kind == PlanRowKind::Phase && row.depth == 0;
        let phases = cx.plan.text.iter().filter(is_phase).count();
        let end = cx.plan.text.iter().filter_map(|row| row.days).map(|days| days.last).max();
        let today = cx.now.to_zoned(cx.time_zone.clone()).date();
        let end = end.map(|end| format_date(end, today));
        let sample = policy_sample(&self.policy, &self.planning, phases, end);
        let width = usize::from(inner.width).saturating_sub(6).max(10);
        let quoted = format!("\"{sample}\"");
        let lines = std::iter::once("A first message would read:".into())
            .chain(wrap_words(&quoted, width, 0));
        for (line, y) in lines.zip(inner.y + from..inner.bottom()) {
            let role = if y == inner.y + from { ThemeRole::Dim } else { ThemeRole::Text };
            ScreenLine::new(buf, Rect { y, height: 1, ..inner }).skip(3).put(&line, cx.style(role));
        }
    }
}

fn adjacent_gate(now: ScoutGateMode, up: bool) -> Option<ScoutGateMode> {
    let at = ScoutGateMode::ALL.iter().position(|when| *when == now)?;
    let to = if up { at + 1 } else { at.checked_sub(1)? };
    ScoutGateMode::ALL.get(to).copied()
}

fn gate_name(when: ScoutGateMode) -> &'static str {
    match when {
        ScoutGateMode::Auto => "automatic",
        ScoutGateMode::ForceExit => "the short way",
        ScoutGateMode::ForceFull => "the long way",
        ScoutGateMode::Off => "not told apart",
    }
}

/// What follows from the gate for this plan.
fn gate_effect(gate: &GateDecision) -> String {
    match (gate.gate_mode(), gate.should_escalate) {
        (ScoutGateMode::Auto, true) => "this goal took the long way: drafts are compared",
        (ScoutGateMode::Auto, false) => "this goal took the short way: one draft",
        (ScoutGateMode::ForceExit, _) => "one draft, whatever the goal",
        (ScoutGateMode::ForceFull, _) => "drafts and tasks are debated, whatever the goal",
        (ScoutGateMode::Off, _) => "every goal takes the long way",
    }
    .to_owned()
}
