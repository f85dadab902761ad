//! The other versions of a draft: what each has more or less of, before one is taken.

use super::commands::dialog_option;
use super::{ScreenEffect, SessionScreen};
use crate::overlays::{ChoiceDialog, DialogOption, Overlay};
use planwright_model::event::Command;
use planwright_model::requests::describe_option_difference;
use planwright_model::{Actor, Answer, ChoiceAction, RequestId, RoadmapOption};
use planwright_text::clean_line;
use planwright_text::dates::format_date;
use planwright_text::units::format_planned;

impl SessionScreen {
    /// Shows the versions that were compared and not taken. Nothing changes before one is chosen.
    pub(super) fn open_versions(
        &mut self,
        id: RequestId,
        choices: &[ChoiceAction],
    ) -> Option<ScreenEffect> {
        let roadmap = self.latest.planning.roadmap.as_deref()?;
        let tried = &roadmap.options_tried;
        let shown = tried.iter().find(|option| option.chosen)?;
        let options: Vec<DialogOption> = choices
            .iter()
            .filter_map(|choice| {
                let ChoiceAction::PickOption(number) = *choice else { return None };
                let option = tried.get(usize::from(number).checked_sub(1)?)?;
                let answer = Answer::from(*choice);
                let command = Command::Answer { id, answer, by: Actor::Person };
                let key = char::from_digit(number.into(), 10)?;
                let label = clean_line(&option.label).into_owned();
                Some(dialog_option(key, label, describe_version(option, shown), command))
            })
            .collect();
        if options.is_empty() {
            return None;
        }
        self.ui.overlay = Some(Overlay::Choose(ChoiceDialog {
            title: "other versions".to_owned(),
            question: self.describe_shown_version(shown),
            options,
            cursor: Some(0),
            needs_letter: false,
        }));
        Some(ScreenEffect::Draw)
    }

    /// The version that is on the screen, as it is now.
    fn describe_shown_version(&self, shown: &RoadmapOption) -> String {
        let label = clean_line(&shown.label).into_owned();
        let minutes = self.latest.planning.roadmap.as_deref().map_or(0, |map| map.total_minutes);
        let last = self.plan.text.iter().filter_map(|row| row.days).map(|days| days.last).max();
        let end = last.map(|last| format!(", ends {}", format_date(last, self.today())));
        format!(
            "You see: {label}, {}{}. Your edits, rows and locks stay.",
            format_planned(minutes.into()),
            end.unwrap_or_default()
        )
    }
}

/// Hours, what is left out or added, and how it compares.
fn describe_version(option: &RoadmapOption, shown: &RoadmapOption) -> String {
    let hours = format_planned(option.effort_minutes.into());
    let weeks = planwright_text::units::format_counted(option.span_weeks.into(), "week");
    let compared = describe_option_difference(option, shown);
    clean_line(&format!("{hours} over about {weeks}; {compared}")).into_owned()
}
