//! Derives a profile for a tool that has none, from its name, description and arguments.

use super::{ToolProfile, extract_features};

/// Derives a profile with the same tables that are used to read a task, so that tool and task use the same features.
pub fn derive_profile(name: &str, description: &str, argument_names: &[String]) -> ToolProfile {
    let words = format!(
        "{} {} {}",
        name.replace(['.', '_', '-'], " "),
        description,
        argument_names.join(" ").replace(['_', '-'], " ")
    );
    // A year in a description has no temporal meaning.
    let found = extract_features(&words, 0);
    let own = |set: std::collections::BTreeSet<&'static str>| {
        set.into_iter().map(str::to_owned).collect()
    };
    let mut profile = ToolProfile::new(name);
    description.clone_into(&mut profile.description);
    profile.supported_data_types = own(found.data_types);
    profile.supported_data_types.insert("text".to_owned());
    profile.domains = own(found.domains);
    profile.domains.insert("general".to_owned());
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_derived_from_name_and_description() {
        let profile = derive_profile(
            "mcp.shop.customer_lookup",
            "Search customers online",
            &["market".into()],
        );
        assert!(profile.supported_data_types.contains("web"));
        assert!(profile.domains.contains("business"));
        assert!(
            (profile.historical_accuracy - 0.5).abs() < 1e-9
                && (profile.reliability_score - 0.5).abs() < 1e-9
        );
    }
}
