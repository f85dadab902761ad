//! The policy panel: choose a control, turn it, see what it means.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{OverlayOutcome, frame};
use crate::keymap::{KeyAction, KeyChord, KeyContext, Keymap};
use crate::pane_context::PaneContext;
use crate::panes::approval::{POLICY_ROWS, draw_policy};
use crate::policy_dials::DIALS;
use crate::theme::ThemeRole;
use crate::widgets::ScreenLine;
use planwright_drafting::gate::{self, GatePolicy};
use planwright_model::event::Command;
use planwright_model::gate::{GateDecision, GateSignals};
use planwright_model::{Actor, InteractionPolicy, PolicyOverride, ScoutGateMode};

/// The open panel.
#[derive(Clone, Debug)]
pub(crate) struct PolicyPanel {
    /// What is set, with what was turned and is not journaled yet.
    pub(crate) policy: InteractionPolicy,
    /// What was turned since the panel opened.
    set: PolicyOverride,
    dial: usize,
    /// What the gate decided, with what was turned and is not journaled yet.
    gate: GateDecision,
}

impl PolicyPanel {
    pub(crate) fn new(policy: InteractionPolicy, gate: Option<&GateDecision>) -> Self {
        let gate = gate.cloned().unwrap_or_else(|| {
            gate::decide_gate(&GatePolicy::default(), GateSignals::default(), gate::LOOPS, None)
        });
        Self { policy, set: PolicyOverride::default(), dial: 0, gate }
    }

    pub(super) fn on_key(&mut self, event: &KeyEvent, keymap: &Keymap) -> OverlayOutcome {
        let key = KeyChord::from_event(event);
        match keymap.action_for(key, &[KeyContext::Screen]) {
            Some(KeyAction::Down) => self.dial = (self.dial + 1).min(DIALS.len()),
            Some(KeyAction::Up) => self.dial = self.dial.saturating_sub(1),
            Some(KeyAction::Left) => return self.change_dial(false),
            Some(KeyAction::Right) => return self.change_dial(true),
            Some(KeyAction::Back | KeyAction::Quit | KeyAction::Policy | KeyAction::Open) => {
                return OverlayOutcome::Close;
            }
            _ if key.code == KeyCode::Char('d') => return self.save_defaults(),
            _ => {}
        }
        OverlayOutcome::Stay
    }

    fn change_dial(&mut self, up: bool) -> OverlayOutcome {
        if self.dial == DIALS.len() {
            return self.change_gate(up);
        }
        let Some(set) = DIALS[self.dial].override_for_step(&self.policy, up) else {
            return OverlayOutcome::Stay;
        };
        self.policy = self.policy.clone().with_overrides(&set);
        self.set = self.set.merged_with(&set);
        let words =
            format!("{}: {}", DIALS[self.dial].name(), DIALS[self.dial].value(&self.policy));
        let command = Command::SetPolicy { set, save: false, by: Actor::Person };
        OverlayOutcome::SendAndStay { command, words }
    }

    fn change_gate(&mut self, up: bool) -> OverlayOutcome {
        let Some(when) = adjacent_gate(self.gate.gate_mode(), up) else {
            return OverlayOutcome::Stay;
        };
        self.gate = gate::redecide_gate(&self.gate, when);
        let words = format!("ceremony: {}", gate_name(when));
        OverlayOutcome::SendAndStay { command: Command::SetGate { when }, words }
    }

    /// Keeps all seven values for later sessions.
    fn save_defaults(&self) -> OverlayOutcome {
        let policy = &self.policy;
        let set = PolicyOverride {
            conversation_style: Some(policy.conversation_style),
            talkativeness: Some(policy.talkativeness),
            autonomy: Some(policy.autonomy),
            brainstorming_preference: Some(policy.brainstorming_preference),
            approval_policy: Some(policy.approval_policy),
            probing_depth: Some(policy.probing_depth),
            tone: Some(policy.tone),
        };
        let command = Command::SetPolicy { set, save: true, by: Actor::Person };
        OverlayOutcome::SendAndStay { command, words: "keep the policy as your default".to_owned() }
    }

    pub(super) fn draw(&self, screen: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        let hint = "j k choose  h l turn  d save as default  Esc close";
        let inner =
            frame::draw_overlay_frame(screen, (72, POLICY_ROWS + 6), "policy", hint, buf, cx);
        let dials = Rect { height: inner.height.saturating_sub(2), ..inner };
        draw_policy(&self.policy, Some(self.dial).filter(|at| *at < DIALS.len()), dials, buf, cx);
        self.draw_gate(inner.y + dials.height.min(POLICY_ROWS), inner, buf, cx);
        let y = inner.y + POLICY_ROWS + 3;
        if y < inner.bottom() {
            let text = "changes count at once, for this session";
            ScreenLine::new(buf, Rect { y, height: 1, ..inner })
                .skip(3)
                .put(text, cx.style(ThemeRole::Dim));
        }
    }

    fn draw_gate(&self, y: u16, inner: Rect, buf: &mut Buffer, cx: &PaneContext<'_>) {
        if y + 1 >= inner.bottom() {
            return;
        }
        let row = |y: u16| Rect { y, height: 1, ..inner };
        let chosen = self.dial == DIALS.len();
        if chosen {
            buf.set_style(row(y), cx.style(ThemeRole::Selection));
        }
        let when = self.gate.gate_mode();
        let arrow = |up| {
            let off = adjacent_gate(when, up).is_none();
            cx.style(if off { ThemeRole::Dim } else { ThemeRole::Key })
        };
        let mut line = ScreenLine::new(buf, row(y));
        line.skip(1).put(if chosen { "► " } else { "  " }, cx.style(ThemeRole::Focus));
        line.put_column("ceremony", 15, cx.style(ThemeRole::Text));
        line.put("‹ ", arrow(false));
        line.put(gate_name(when), cx.theme.bold_style(ThemeRole::Text));
        line.put(" ›", arrow(true));
        ScreenLine::new(buf, row(y + 1))
            .skip(5)
            .put(&gate_effect(&self.gate), cx.style(ThemeRole::Dim));
    }
}

fn adjacent_gate(now: ScoutGateMode, up: bool) -> Option<ScoutGateMode> {
    let at = ScoutGateMode::ALL.iter().position(|when| *when == now)?;
    let to = if up { at + 1 } else { at.checked_sub(1)? };
    ScoutGateMode::ALL.get(to).copied()
}

fn gate_name(when: ScoutGateMode) -> &'static str {
    match when {
        ScoutGateMode::Auto => "as the signals say",
        ScoutGateMode::ForceExit => "skip it",
        ScoutGateMode::ForceFull => "the full run",
        ScoutGateMode::Off => "no gate",
    }
}

/// What follows from the gate for this session, with the signals that ask for more.
fn gate_effect(gate: &GateDecision) -> String {
    let triggered: Vec<String> = gate
        .rationales
        .iter()
        .filter(|(_, why)| why.triggered)
        .filter_map(|(name, why)| {
            Some(format!("{name} {:.2} {} {:.2}", why.value?, why.comparator, why.threshold))
        })
        .collect();
    match (gate.gate_mode(), gate.should_escalate) {
        (ScoutGateMode::Auto, true) => format!("the full run: {}", triggered.join(", ")),
        (ScoutGateMode::Auto, false) => {
            "small goals and tasks are done in a single pass".to_owned()
        }
        (ScoutGateMode::ForceExit, _) => "a single pass, whatever the signals say".to_owned(),
        (ScoutGateMode::ForceFull, _) => {
            "drafts and tasks are debated, whatever the signals say".to_owned()
        }
        (ScoutGateMode::Off, _) => "nothing is gated: always the full run".to_owned(),
    }
}
