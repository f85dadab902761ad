//! How far the checks of a command's exit criteria have come, and what they say in the end.

use std::collections::BTreeMap;

use planwright_drafting::executor::criteria::{criterion_trigger, describe_criterion};
use planwright_model::task::CriterionEffect;
use planwright_model::{Category, ExecutionFailure, ExitCriterion};

/// What follows from the checks that were made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CheckProgress {
    /// This criterion is checked next.
    Next(usize),
    /// Nothing more to check: the task is done.
    Met,
    /// The criterion that decides against it.
    Failed(usize),
}

/// Looks at what was found so far. The first criterion that is not as it should be decides; what only a person can
/// judge is not checked.
pub(crate) fn check_progress(
    criteria: &[ExitCriterion],
    findings: &BTreeMap<usize, bool>,
) -> CheckProgress {
    for (at, criterion) in criteria.iter().enumerate().filter(|(_, one)| one.is_checkable()) {
        let wanted = criterion_trigger(criterion) == CriterionEffect::Success;
        match findings.get(&at) {
            Some(found) if *found == wanted => {}
            Some(_) => return CheckProgress::Failed(at),
            None => return CheckProgress::Next(at),
        }
    }
    CheckProgress::Met
}

/// The failure of a task whose command succeeded and whose criterion says otherwise. `how` is how the check ended.
pub(crate) fn criterion_failure(criterion: &ExitCriterion, how: Option<&str>) -> ExecutionFailure {
    let words = describe_criterion(criterion);
    let (code, message) = match criterion_trigger(criterion) {
        CriterionEffect::Success => ("criteria_unmet", format!("not done yet: {words} is not so")),
        CriterionEffect::Failure => ("criteria_failed", format!("counts as failed: {words}")),
    };
    let message = match (criterion, how) {
        (ExitCriterion::Command { command, .. }, Some(how)) if code == "criteria_unmet" => {
            format!("its check `{command}` did not succeed: {how}")
        }
        (ExitCriterion::FileExists { path, .. }, _) if code == "criteria_unmet" => {
            format!("its check found no file {path}")
        }
        (ExitCriterion::JsonPath { path, equals, .. }, _) if code == "criteria_unmet" => {
            match how.filter(|how| !how.starts_with("exit")) {
                Some(how) => format!("{path} cannot be {equals}: {how}"),
                None => format!("its check found that {path} in its output is not {equals}"),
            }
        }
        _ => message,
    };
    ExecutionFailure::new(code, Category::Critical, message)
}

/// The code of a failure that only says that a command is to run after all.
pub(super) const OUTDATED: &str = "criteria_unmet_up_to_date";

/// The failure of a task whose command was left out as up to date although a criterion is not met any more: it runs now.
pub(crate) fn outdated_failure(unmet: &ExecutionFailure) -> ExecutionFailure {
    let message = format!("{}; it was left out as up to date, and runs now", unmet.message);
    ExecutionFailure::new(OUTDATED, Category::Critical, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_checked_in_order_and_the_first_bad_one_decides() {
        let file = |on| ExitCriterion::FileExists { path: "a".into(), on };
        let text = ExitCriterion::Text { text: "nice".into(), on: CriterionEffect::Success };
        let criteria = [text, file(CriterionEffect::Success), file(CriterionEffect::Failure)];
        let progress = |found: &[(usize, bool)]| {
            check_progress(&criteria, &found.iter().copied().collect::<BTreeMap<_, _>>())
        };
        assert_eq!(progress(&[]), CheckProgress::Next(1));
        assert_eq!(progress(&[(1, true)]), CheckProgress::Next(2));
        assert_eq!(progress(&[(1, true), (2, false)]), CheckProgress::Met);
        assert_eq!(progress(&[(1, false)]), CheckProgress::Failed(1));
        assert_eq!(progress(&[(1, true), (2, true)]), CheckProgress::Failed(2));
        assert_eq!(check_progress(&criteria[..1], &BTreeMap::new()), CheckProgress::Met);
    }
}
