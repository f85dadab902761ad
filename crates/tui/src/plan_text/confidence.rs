//! How sure the planner is of a plan, in one sentence that says no more than its weakest part.

use planwright_model::{Severity, Stage, StageAssessment};
use planwright_state::SessionState;

/// From here on a part counts as sure, and from there on as fairly sure.
const SURE: f64 = 0.80;
const FAIRLY_SURE: f64 = 0.60;

/// `Sure: …`, `Fairly sure: …` or `Unsure: …`, and why; nothing if nothing was judged.
pub fn describe_confidence(state: &SessionState) -> Option<String> {
    let planning = &state.planning;
    let judged: Vec<&StageAssessment> = planning.judgements.values().collect();
    if judged.is_empty() {
        return None;
    }
    let weakest = judged.iter().map(|found| found.confidence.value).fold(1.0, f64::min);
    let kind = planning.pattern.as_ref().map_or(1.0, |choice| choice.confidence);
    let broken = judged
        .iter()
        .flat_map(|found| &found.violations)
        .find(|violation| violation.severity != Severity::Warning);
    let dates = planning
        .schedule
        .as_ref()
        .map(|schedule| schedule.lateness_minutes == 0 && schedule.unplaced.is_empty());
    let word = match weakest.min(kind) {
        _ if broken.is_some() || dates == Some(false) => "Unsure",
        sure if sure >= SURE => "Sure",
        sure if sure >= FAIRLY_SURE => "Fairly sure",
        _ => "Unsure",
    };
    Some(format!("{word}: {}.", confidence_reason(state, kind, dates, broken.is_some())))
}

fn confidence_reason(state: &SessionState, kind: f64, dates: Option<bool>, broken: bool) -> String {
    if broken {
        return "the draft breaks a rule of plans; v lists it".to_owned();
    }
    if dates == Some(false) {
        return "not every task fits before the end; please check the dates".to_owned();
    }
    if kind < FAIRLY_SURE {
        return "no template fits well; please check the phases".to_owned();
    }
    let planning = &state.planning;
    let weak = planning.judgements.iter().find(|(_, found)| found.confidence.value < SURE);
    let fits = if dates.is_some() { ", and every date fits your hours" } else { "" };
    match weak {
        Some((Stage::Outline, _)) => "the phases are a first guess; please check them".to_owned(),
        Some((Stage::Roadmap, _)) => "some estimates are rough; please check the times".to_owned(),
        Some((Stage::Schedule, _)) => "the dates leave little slack; please check them".to_owned(),
        _ if planning.offline => format!("a template for this kind of goal was used{fits}"),
        _ => format!("the draft keeps every rule of plans{fits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::planned;

    #[test]
    fn the_weakest_part_decides() {
        let mut state = planned::scheduled().state();
        let said = describe_confidence(&state).unwrap();
        assert!(said.starts_with("Sure: ") || said.starts_with("Fairly sure: "), "{said}");
        state.planning.pattern.as_mut().unwrap().confidence = 0.45;
        assert_eq!(
            describe_confidence(&state).unwrap(),
            "Unsure: no template fits well; please check the phases."
        );
        assert_eq!(describe_confidence(&planned::begun().state()), None);
    }
}
