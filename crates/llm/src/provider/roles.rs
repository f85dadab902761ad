//! Roles of a model: each may have its own model, temperature and output length.

use serde::Serialize;

use crate::protocol::RequestDefaults;
use crate::settings::ModelSettings;

/// A role with its own settings under `[models]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    Planner,
    Executor,
    Summarizer,
    Judge,
    Brainstormer,
}

impl ModelRole {
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Summarizer => "summarizer",
            Self::Judge => "judge",
            Self::Brainstormer => "brainstormer",
        }
    }

    fn default_temperature(self) -> Option<f64> {
        match self {
            Self::Planner => Some(0.2),
            Self::Executor => Some(0.3),
            Self::Brainstormer => Some(0.8),
            Self::Summarizer | Self::Judge => None,
        }
    }

    fn default_max_output_tokens(self) -> Option<u32> {
        (self == Self::Executor).then_some(500)
    }
}

/// The options of a role. Part of every cache key: a different model or temperature gives a different answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleOptions {
    /// Unset means the provider of the main model.
    pub provider: Option<String>,
    /// Unset means the main model.
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// The user set the length.
    #[serde(skip)]
    pub length_is_set: bool,
}

impl RoleOptions {
    pub fn from_settings(settings: &ModelSettings, role: ModelRole) -> Self {
        let own = settings.roles.get(role.name()).map(|own| own.value.clone()).unwrap_or_default();
        Self {
            provider: own.provider,
            model: own.model,
            temperature: own.temperature.or(role.default_temperature()),
            length_is_set: own.max_output_tokens.is_some(),
            max_output_tokens: own.max_output_tokens.or(role.default_max_output_tokens()),
        }
    }

    /// The request defaults of this role.
    pub(crate) fn request_defaults(&self) -> RequestDefaults {
        RequestDefaults {
            temperature: self.temperature,
            max_output_tokens: self.max_output_tokens,
            length_is_set: self.length_is_set,
            length_if_small: !self.length_is_set,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RoleSettings;
    use planwright_model::setting::{SettingOrigin, SourcedSetting};

    #[test]
    fn roles_have_defaults_and_settings_can_select_a_small_executor() {
        let mut settings = ModelSettings::default();
        let options = |settings: &ModelSettings, role| RoleOptions::from_settings(settings, role);
        assert_eq!(options(&settings, ModelRole::Planner).temperature, Some(0.2));
        assert_eq!(options(&settings, ModelRole::Brainstormer).temperature, Some(0.8));
        assert_eq!(options(&settings, ModelRole::Executor).max_output_tokens, Some(500));
        assert_eq!(options(&settings, ModelRole::Judge).model, None);
        let value = RoleSettings {
            model: Some("small".into()),
            temperature: Some(0.0),
            ..Default::default()
        };
        settings
            .roles
            .insert("executor".into(), SourcedSetting { value, origin: SettingOrigin::BuiltIn });
        let executor = options(&settings, ModelRole::Executor);
        assert_eq!((executor.model.as_deref(), executor.temperature), (Some("small"), Some(0.0)));
        assert_eq!(
            executor.request_defaults(),
            RequestDefaults {
                temperature: Some(0.0),
                max_output_tokens: Some(500),
                length_is_set: false,
                length_if_small: true,
            }
        );
    }
}
