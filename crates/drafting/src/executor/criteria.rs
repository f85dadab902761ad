//! Whether a task is complete or failed by its author's criteria, as far as that needs no call.

use serde_json::Value;

use planwright_model::ExitCriterion;
use planwright_model::agent_work::CriterionFindings;
use planwright_model::task::CriterionEffect;

/// The status of a task by its criteria.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CriteriaVerdict {
    /// A failure condition is met.
    Failed(usize),
    /// All success conditions are met, or there are none.
    Met,
    /// These are not met, or it is unknown.
    Open(Vec<usize>),
}

pub fn criterion_trigger(criterion: &ExitCriterion) -> CriterionEffect {
    match criterion {
        ExitCriterion::Text { on, .. }
        | ExitCriterion::FileExists { on, .. }
        | ExitCriterion::Command { on, .. }
        | ExitCriterion::JsonPath { on, .. }
        | ExitCriterion::Judged { on, .. } => *on,
    }
}

/// Describes a criterion in words.
pub fn describe_criterion(criterion: &ExitCriterion) -> String {
    match criterion {
        ExitCriterion::Text { text, .. } | ExitCriterion::Judged { text, .. } => text.clone(),
        ExitCriterion::FileExists { path, .. } => format!("the file {path} exists"),
        ExitCriterion::Command { command, .. } => format!("`{command}` succeeds"),
        ExitCriterion::JsonPath { path, equals, .. } => format!("{path} is {equals}"),
    }
}

/// Evaluates criteria that need no model and no command: files by `exists`, values in `outputs`, the newest last.
pub fn evaluate_local_criteria(
    criteria: &[ExitCriterion],
    exists: impl Fn(&str) -> bool,
    outputs: &[&Value],
) -> CriterionFindings {
    let find = |criterion: &ExitCriterion| match criterion {
        ExitCriterion::FileExists { path, .. } => Some(exists(path)),
        ExitCriterion::JsonPath { path, equals, .. } => {
            let found = outputs.iter().rev().find_map(|output| json_path(output, path));
            found.map(|found| values_equal(found, equals))
        }
        ExitCriterion::Text { .. }
        | ExitCriterion::Command { .. }
        | ExitCriterion::Judged { .. } => None,
    };
    criteria.iter().enumerate().filter_map(|(at, one)| Some((at, find(one)?))).collect()
}

/// Combines the results.
pub fn criteria_verdict(
    criteria: &[ExitCriterion],
    findings: &CriterionFindings,
) -> CriteriaVerdict {
    let holds = |at: usize| findings.get(&at) == Some(&true);
    let with = |wanted| {
        criteria
            .iter()
            .enumerate()
            .filter(move |(_, one)| criterion_trigger(one) == wanted)
            .map(|(at, _)| at)
    };
    if let Some(failed) = with(CriterionEffect::Failure).find(|at| holds(*at)) {
        return CriteriaVerdict::Failed(failed);
    }
    let open: Vec<usize> = with(CriterionEffect::Success).filter(|at| !holds(*at)).collect();
    if open.is_empty() { CriteriaVerdict::Met } else { CriteriaVerdict::Open(open) }
}

/// Numbers are compared by value, everything else as written.
fn values_equal(found: &Value, wanted: &Value) -> bool {
    match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => (found - wanted).abs() < f64::EPSILON,
        _ => found == wanted,
    }
}

/// Returns the value at a path such as `$.suites[0].passed`.
pub fn json_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let mut current = value;
    let path = path.trim().strip_prefix('$').unwrap_or(path.trim());
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let mut pieces = part.split('[');
        let name = pieces.next().unwrap_or_default();
        if !name.is_empty() {
            current = current.get(name)?;
        }
        for piece in pieces {
            let inside = piece.strip_suffix(']')?;
            let name = inside.trim_matches(['"', '\'']);
            current = match inside.parse::<usize>() {
                Ok(at) => current.get(at)?,
                Err(_) => current.get(name)?,
            };
        }
    }
    Some(current)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(path: &str, on: CriterionEffect) -> ExitCriterion {
        ExitCriterion::FileExists { path: path.to_owned(), on }
    }

    #[test]
    fn paths_reach_into_objects_and_lists() {
        let value = json!({"suites": [{"passed": true, "odd name": 3}]});
        assert_eq!(json_path(&value, "$.suites[0].passed"), Some(&json!(true)));
        assert_eq!(json_path(&value, "suites[0]['odd name']"), Some(&json!(3)));
        for path in ["$.suites[1]", "$.x", "$.suites[", "$.suites[0].passed.more"] {
            assert_eq!(json_path(&value, path), None, "{path}");
        }
        assert_eq!(json_path(&value, "$"), Some(&value));
    }

    #[test]
    fn a_failure_condition_wins_over_success() {
        let criteria = [file("a", CriterionEffect::Success), file("b", CriterionEffect::Failure)];
        let with = |existing: &[&str]| {
            criteria_verdict(
                &criteria,
                &evaluate_local_criteria(&criteria, |path| existing.contains(&path), &[]),
            )
        };
        assert_eq!(with(&["a"]), CriteriaVerdict::Met);
        assert_eq!(with(&["a", "b"]), CriteriaVerdict::Failed(1));
        assert_eq!(with(&[]), CriteriaVerdict::Open(vec![0]));
        assert_eq!(criteria_verdict(&[], &CriterionFindings::new()), CriteriaVerdict::Met);
    }

    #[test]
    fn the_newest_output_that_has_the_path_decides() {
        let path = "$.passed".to_owned();
        let criteria =
            [ExitCriterion::JsonPath { path, equals: json!(1), on: CriterionEffect::Success }];
        let (old, new, other) = (json!({"passed": 0}), json!({"passed": 1.0}), json!({"x": 0}));
        let found = evaluate_local_criteria(&criteria, |_| false, &[&old, &new, &other]);
        assert_eq!(criteria_verdict(&criteria, &found), CriteriaVerdict::Met);
        let found = evaluate_local_criteria(&criteria, |_| false, &[&new, &old]);
        assert_eq!(criteria_verdict(&criteria, &found), CriteriaVerdict::Open(vec![0]));
    }

    #[test]
    fn unknown_results_are_open() {
        let text = "it reads well".to_owned();
        let criteria = [ExitCriterion::Judged { text, on: CriterionEffect::Success }];
        assert_eq!(
            criteria_verdict(&criteria, &CriterionFindings::new()),
            CriteriaVerdict::Open(vec![0])
        );
        assert_eq!(
            criteria_verdict(&criteria, &CriterionFindings::from([(0, true)])),
            CriteriaVerdict::Met
        );
    }
}
