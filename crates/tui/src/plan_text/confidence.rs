//! How sure the planner is of a plan, in one sentence that says no more than its weakest part.

use planwright_state::SessionState;

/// `Sure: …`, `Fairly sure: …` or `Unsure: …`, and why; nothing if nothing was judged.
pub fn describe_confidence(state: &SessionState) -> Option<String> {
    let planning = &state.planning;
    if planning.judgements.is_empty() {
        return None;
    }
    let schedule = planning.schedule.as_deref();
    if schedule.is_some_and(|made| made.lateness_minutes > 0 || !made.unplaced.is_empty()) {
        let why = "not every task fits before the end; please check the dates";
        return Some(format!("Unsure: {why}."));
    }
    planning.confidence_sentence().map(|sentence| sentence.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::planned;

    #[test]
    fn the_weakest_part_decides() {
        let mut state = planned::scheduled().state();
        assert!(describe_confidence(&state).is_some_and(|said| said.contains(": ")));
        state.planning.pattern.as_mut().unwrap().confidence = 0.45;
        assert_eq!(
            describe_confidence(&state).unwrap(),
            "Unsure: no kind fits well; please check the phases."
        );
        assert_eq!(describe_confidence(&planned::begun().state()), None);
    }
}
