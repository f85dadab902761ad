//! Profiles by tool, from `assets/tools.toml` with the user's own file as an overlay.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ToolProfile;

/// Why a profile file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProfileError(String);

/// Profiles by tool name.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolProfiles(BTreeMap<String, ToolProfile>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolProfilesFile {
    #[serde(default)]
    tools: Vec<ToolProfile>,
}

const BUILT_IN: &str = include_str!("../../../../assets/tools.toml");

impl ToolProfiles {
    pub fn built_in() -> Self {
        Self(parse_profiles(BUILT_IN).expect("the built-in profiles are tested"))
    }

    /// Overlays the profiles of another file.
    pub fn overlay(&mut self, text: &str) -> Result<(), ProfileError> {
        self.0.extend(parse_profiles(text)?);
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&ToolProfile> {
        self.0.get(name)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut ToolProfile> {
        self.0.get_mut(name)
    }

    pub fn insert(&mut self, profile: ToolProfile) {
        self.0.insert(profile.name.clone(), profile);
    }

    pub fn iter(&self) -> impl Iterator<Item = &ToolProfile> {
        self.0.values()
    }
}

fn parse_profiles(text: &str) -> Result<BTreeMap<String, ToolProfile>, ProfileError> {
    let file: ToolProfilesFile =
        toml::from_str(text).map_err(|error| ProfileError(error.to_string()))?;
    file.tools
        .into_iter()
        .map(|profile| {
            let (low, high) = profile.complexity_support;
            let shares = [profile.historical_accuracy, profile.reliability_score];
            if low < 1 || high > 5 || low > high {
                return Err(ProfileError(format!(
                    "{}: complexity_support lies within 1 and 5",
                    profile.name
                )));
            }
            if shares.iter().any(|share| !(0.0..=1.0).contains(share))
                || profile.cost_per_token < 0.0
            {
                return Err(ProfileError(format!(
                    "{}: shares lie between 0 and 1, costs are not negative",
                    profile.name
                )));
            }
            Ok((profile.name.clone(), profile))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_profiles_are_well_formed_and_can_be_replaced() {
        let mut profiles = ToolProfiles::built_in();
        assert!(profiles.get("file.read").is_some());
        profiles.overlay("[[tools]]\nname = \"grep\"\nhistorical_accuracy = 0.1").unwrap();
        assert!((profiles.get("grep").unwrap().historical_accuracy - 0.1).abs() < 1e-9);
        let wrong =
            profiles.overlay("[[tools]]\nname = \"x\"\ncomplexity_support = [0, 9]").unwrap_err();
        assert!(wrong.to_string().contains("within 1 and 5"));
        assert!(profiles.overlay("[[tools]]\nnam = \"x\"").is_err());
    }
}
