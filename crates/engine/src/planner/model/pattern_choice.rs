//! The kind of plan that a model names, mapped to what exists and to what the person allows.

use serde_json::Value;

use super::super::Planner;
use planwright_model::pattern::{PROPOSED_PREFIX, is_valid_subtype_name};
use planwright_model::{NodeOrigin, PatternChoice, PatternSpec, PatternType};

impl Planner {
    /// The kind that a model chose. Where new kinds may not be proposed, the known one that it comes from is used.
    pub(in super::super) fn read_pattern_choice(
        &self,
        args: &Value,
    ) -> Result<PatternChoice, String> {
        if self.settings.allow_new_subtype_proposals {
            parse_pattern_choice(args, &self.own_subtypes)
        } else {
            parse_pattern_choice(&without_proposals(args), &self.own_subtypes)
        }
    }
}

/// The arguments with the known kind in the place of a new one.
fn without_proposals(args: &Value) -> Value {
    let mut args = args.clone();
    let is_new =
        |name: &Value| name.as_str().is_some_and(|name| name.trim().starts_with(PROPOSED_PREFIX));
    if let Some(fields) = args.as_object_mut() {
        fields.remove("proposed_pattern");
        if fields.get("subtype").is_some_and(is_new) {
            let source = fields.remove("source_pattern").unwrap_or_default();
            fields.insert("subtype".to_owned(), source);
        }
    }
    args
}

/// A pattern as a model names it, mapped to what exists.
fn parse_pattern_choice(args: &Value, own: &[String]) -> Result<PatternChoice, String> {
    let word = |name: &str| args.get(name).and_then(Value::as_str).map(str::trim);
    let kind = word("pattern_type").unwrap_or_default();
    let pattern_type = PatternType::from_name(kind)
        .ok_or_else(|| format!("\"{kind}\" is not one of the five patterns"))?;
    let confidence = args.get("confidence").and_then(Value::as_f64).unwrap_or(0.5).clamp(0.0, 1.0);
    let mut spec = PatternSpec::new(pattern_type);
    spec.introduced_by = NodeOrigin::System;
    let mut explanations: Vec<String> = word("why").map(str::to_owned).into_iter().collect();
    match word("subtype").filter(|name| !name.is_empty()) {
        Some(name)
            if pattern_type.subtypes().contains(&name) || own.iter().any(|known| known == name) =>
        {
            spec.subtype = Some(name.to_owned());
        }
        Some(name) if name.starts_with(PROPOSED_PREFIX) => {
            let own = &name[PROPOSED_PREFIX.len()..];
            let rfc = word("rfc").filter(|rfc| rfc.chars().count() >= 20);
            if !is_valid_subtype_name(own) {
                return Err(format!("\"{own}\" is not a name for a subtype"));
            }
            let Some(rfc) = rfc else {
                return Err("a proposed subtype needs an rfc of 20 to 600 characters".to_owned());
            };
            let source = word("source_pattern")
                .filter(|name| pattern_type.subtypes().contains(name))
                .or_else(|| pattern_type.subtypes().first().copied())
                .unwrap_or("generic");
            spec.subtype = Some(name.to_owned());
            spec.source_pattern = Some(source.to_owned());
            spec.rfc = Some(rfc.chars().take(600).collect());
        }
        Some(name) => {
            // A subtype nobody knows is dropped and told, as every unknown word of a model is.
            explanations.push(format!("unknown_field: subtype \"{name}\" is not known"));
            spec.subtype = Some(default_subtype(pattern_type));
        }
        None => spec.subtype = Some(default_subtype(pattern_type)),
    }
    let proposed_pattern = match word("proposed_pattern").filter(|name| !name.is_empty()) {
        Some(name) if !is_valid_subtype_name(name) => {
            return Err(format!("\"{name}\" is not a name for a pattern"));
        }
        Some(name) if PatternType::from_name(name).is_some() => None,
        Some(name) => {
            let Some(rfc) = word("rfc").filter(|rfc| rfc.chars().count() >= 20) else {
                return Err("a proposed pattern needs an rfc of 20 to 600 characters".to_owned());
            };
            spec.rfc = Some(rfc.chars().take(600).collect());
            Some(name.to_owned())
        }
        None => None,
    };
    Ok(PatternChoice {
        pattern: spec,
        confidence,
        margin: 1.0,
        second: None,
        explanations,
        others: Vec::new(),
        proposed_pattern,
    })
}

fn default_subtype(pattern_type: PatternType) -> String {
    match pattern_type {
        PatternType::MilestoneProject => "generic",
        PatternType::RecurringCycle => "habit",
        PatternType::ProgressiveAccumulationArc => "learning_arc",
        PatternType::HybridProjectCycle => "project_per_period",
        PatternType::StrategicTransformation => "organisation_change",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_yields_a_valid_pattern_for_a_known_a_proposed_and_a_malformed_answer() {
        let known = parse_pattern_choice(
            &json!({"pattern_type": "milestone_project", "subtype": "launch", "confidence": 0.9}),
            &[],
        )
        .unwrap();
        assert_eq!(known.pattern.subtype.as_deref(), Some("launch"));
        let proposed = parse_pattern_choice(&json!({
            "pattern_type": "recurring_cycle", "subtype": "proposed:moon_ritual", "confidence": 0.6,
            "rfc": "No known routine follows the phases of the moon.", "source_pattern": "habit"
        }), &[])
        .unwrap();
        assert_eq!(proposed.pattern.proposed_name(), Some("moon_ritual"));
        assert_eq!(proposed.pattern.source_pattern.as_deref(), Some("habit"));
        assert!(
            parse_pattern_choice(&json!({"pattern_type": "spiral", "confidence": 1}), &[]).is_err()
        );
        let bare = json!({"pattern_type": "recurring_cycle", "subtype": "proposed:x1y", "confidence": 0.6});
        assert!(parse_pattern_choice(&bare, &[]).unwrap_err().contains("rfc"));
        let odd = json!({"pattern_type": "milestone_project", "subtype": "zzz", "confidence": 7});
        let odd = parse_pattern_choice(&odd, &[]).unwrap();
        assert_eq!(odd.pattern.subtype.as_deref(), Some("generic"));
        let own =
            json!({"pattern_type": "recurring_cycle", "subtype": "moon_ritual", "confidence": 0.8});
        let own = parse_pattern_choice(&own, &["moon_ritual".to_owned()]).unwrap();
        assert_eq!(own.pattern.subtype.as_deref(), Some("moon_ritual"), "approved before");
        let new = json!({
            "pattern_type": "recurring_cycle", "subtype": "habit", "confidence": 0.8,
            "proposed_pattern": "spiral_growth", "rfc": "Every round begins where the last one ended, but wider."
        });
        let new = parse_pattern_choice(&new, &[]).unwrap();
        assert_eq!(new.proposed_pattern.as_deref(), Some("spiral_growth"));
        assert_eq!(new.pattern.subtype.as_deref(), Some("habit"), "the plan uses the nearest");
        assert!(odd.confidence <= 1.0 && odd.explanations[0].contains("unknown_field"));
    }
    #[test]
    fn where_new_kinds_are_switched_off_the_known_one_is_used() {
        let proposed = json!({
            "pattern_type": "recurring_cycle", "subtype": "proposed:moon_ritual", "confidence": 0.6,
            "source_pattern": "protocol_routine", "proposed_pattern": "spiral_growth",
        });
        let choice = parse_pattern_choice(&without_proposals(&proposed), &[]).unwrap();
        assert_eq!(choice.pattern.subtype.as_deref(), Some("protocol_routine"));
        assert_eq!((choice.pattern.proposed_name(), choice.proposed_pattern), (None, None));
        let bare = json!({"pattern_type": "recurring_cycle", "subtype": "proposed:moon_ritual"});
        let choice = parse_pattern_choice(&without_proposals(&bare), &[]).unwrap();
        assert_eq!(choice.pattern.subtype.as_deref(), Some("habit"));
    }
}
