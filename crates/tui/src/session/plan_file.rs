//! The plan as a file in the person's editor. What does not check comes back to them, with the reasons as comments:
//! nothing that was typed is lost.

use super::external_actions::{EditPurpose, ExternalAction};
use super::{ScreenEffect, SessionScreen};
use crate::keymap::KeyAction;
use crate::plan_text::preview_edits;
use planwright_model::Plan;
use planwright_model::event::Command;
use planwright_plan::edit::edits_from_file;
use planwright_plan::graph::resolve_graph;
use planwright_plan::plan_file::{PlanFile, PlanFileFormat, parse_plan_file, write_toml};
use planwright_plan::plan_file_schedule::{LocalContext, add_start_times};
use planwright_text::clean_line;

/// Begins each line that says what is wrong; such lines are taken out again before the file is read.
const ERROR_MARK: &str = "#! ";

impl SessionScreen {
    /// Opens the plan as a file in the editor; text that could not be used before is opened again.
    pub(super) fn edit_plan_externally(&mut self) -> ScreenEffect {
        if let Some(why) = self.why_cannot_act() {
            return self.show_message(why);
        }
        let Some(current) = &self.latest.plan.current else {
            return self.show_message("there is no plan to edit yet");
        };
        let kept = self.ui.drafts.get(&plan_file_key(current.revision)).cloned();
        let text = kept.unwrap_or_else(|| write_toml(&current.plan));
        self.open_plan_file(text)
    }

    fn open_plan_file(&mut self, text: String) -> ScreenEffect {
        // A second press before the editor is there would open the old text over what is typed into the first.
        let waits = |action: &ExternalAction| matches!(action, ExternalAction::Edit { .. });
        if self.external_actions.iter().any(waits) {
            return ScreenEffect::Idle;
        }
        self.request_external_action(ExternalAction::Edit {
            text,
            ending: ".toml",
            purpose: EditPurpose::Plan,
        })
    }

    /// Makes an edited file the next draft. One that does not check opens again with the reasons on top.
    pub(super) fn revise_plan(&mut self, text: &str) -> ScreenEffect {
        let Some(current) = self.latest.plan.current.clone() else { return ScreenEffect::Idle };
        let key = plan_file_key(current.revision);
        let typed = without_errors(text);
        match check_plan_file(&typed) {
            Ok(file) if file.plan == *current.plan => {
                self.ui.drafts.remove(&key);
                self.show_message("nothing was changed")
            }
            Ok(file) => match self.plan_file_command(file, &current.plan) {
                Ok(command) => {
                    self.ui.drafts.remove(&key);
                    self.ui.message = None;
                    self.send_command(command, "the edited plan")
                }
                Err(why) => self.reopen_plan_file(key, &typed, &[why]),
            },
            Err(reasons) => self.reopen_plan_file(key, &typed, &reasons),
        }
    }

    /// A draft is changed by operations, which have to be possible; a plan that came from a file is replaced.
    fn plan_file_command(&self, file: PlanFile, before: &Plan) -> Result<Command, String> {
        if let Some(roadmap) = self.latest.planning.roadmap.as_deref() {
            let edits = edits_from_file(before, &file.plan, roadmap);
            let edits = edits.map_err(|error| error.to_string())?;
            preview_edits(self.preview_source(), &edits)?;
        }
        let resolved =
            resolve_graph(&file.plan.tasks, |_| true).map_err(|cycle| cycle.to_string())?;
        let mut facts = resolved.to_facts(&file.plan.tasks);
        let local = LocalContext::from_clock(&(self.clock)().to_zoned(self.time_zone.clone()));
        add_start_times(&mut facts, &file.plan, &local).map_err(|error| error.to_string())?;
        let (plan, facts) = (file.plan.into(), facts.into());
        Ok(Command::Revise { plan, facts, normalization: file.normalization })
    }

    fn reopen_plan_file(&mut self, key: String, typed: &str, reasons: &[String]) -> ScreenEffect {
        let again = with_errors(typed, reasons);
        // Left as it is, it is there the next time.
        self.ui.drafts.insert(key, again.clone());
        let open = self.keymap.key_hint(KeyAction::Editor);
        self.show_message(format!(
            "the file has errors, so the plan was not changed; {open} opens your text again"
        ));
        self.open_plan_file(again)
    }
}

fn plan_file_key(revision: u32) -> String {
    format!("plan file of draft {revision}")
}

/// Reads a file and resolves its links; the reasons why not, one line each.
fn check_plan_file(text: &str) -> Result<PlanFile, Vec<String>> {
    let file = parse_plan_file(text, PlanFileFormat::Toml, "plan.toml").map_err(|error| {
        let found: Vec<String> = error
            .violations()
            .iter()
            .map(|found| {
                let text = with_fix(&found.message, &found.suggested_fix);
                match found.line {
                    Some(line) => format!("line {line}: {text}"),
                    None => text,
                }
            })
            .collect();
        if found.is_empty() { vec![error.to_string()] } else { found }
    })?;
    match resolve_graph(&file.plan.tasks, |_| true) {
        Ok(_) => Ok(file),
        Err(cycle) => Err(vec![cycle.to_string()]),
    }
}

/// What is wrong and what to do about it, as two sentences.
fn with_fix(message: &str, fix: &str) -> String {
    if fix.is_empty() {
        return message.to_owned();
    }
    let stop = if message.ends_with(['.', '?', '!', ':']) { "" } else { "." };
    format!("{message}{stop} {fix}")
}

/// Puts reasons above a text. Their lines are counted in, so that "line 12" is where the editor has it.
fn with_errors(text: &str, reasons: &[String]) -> String {
    let shift = reasons.len() + 1;
    let mut lines = vec![format!(
        "{ERROR_MARK}The plan was not changed. Fix this and save, or leave the editor:"
    )];
    for reason in reasons {
        lines.push(format!("{ERROR_MARK}{}", shift_line(&clean_line(reason), shift)));
    }
    format!("{}\n{text}", lines.join("\n"))
}

fn shift_line(reason: &str, shift: usize) -> String {
    let parts = reason.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    match parts.and_then(|(line, rest)| Some((line.parse::<usize>().ok()?, rest))) {
        Some((line, rest)) => format!("line {}: {rest}", line + shift),
        None => reason.to_owned(),
    }
}

fn without_errors(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with(ERROR_MARK.trim_end()));
    let mut text = kept.collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_stand_above_the_text_and_leave_with_the_next_save() {
        let text = "title = \"x\"\nbroken\n";
        let shown = with_errors(text, &["line 2: this is not a field".to_owned()]);
        assert!(shown.contains("#! line 4: this is not a field"), "{shown}");
        assert!(shown.ends_with(text));
        assert_eq!(shown.lines().nth(3), Some("broken"));
        assert_eq!(without_errors(&shown), text);
    }

    #[test]
    fn a_reason_and_its_fix_are_two_sentences() {
        let text =
            "title = \"x\"\n[[tasks]]\nid = \"a\"\ndescription = \"A\"\nrun = { human = true }\n";
        let reasons = check_plan_file(text).unwrap_err();
        assert!(reasons[0].contains("true or false. Write"), "{reasons:?}");
    }

    #[test]
    fn the_file_of_a_plan_with_milestones_checks_as_it_is() {
        let plan = crate::tests::planned::newsletter();
        let roadmap = plan.artifacts.roadmap.clone().unwrap();
        let context = plan.artifacts.context();
        let made = planwright_plan::roadmap_to_plan::plan_from_roadmap(context, &roadmap, None);
        let file = check_plan_file(&write_toml(&made));
        assert!(file.is_ok(), "{file:?}");
    }
}
