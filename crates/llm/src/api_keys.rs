//! Provider keys: read from the environment or from a command, never displayed.

use std::fmt;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;

use super::ModelError;
use super::provider::ProviderDef;
use planwright_model::Category;

/// Long enough for a password manager to prompt the user first.
const KEY_COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// A value that is sent but never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(value: impl Into<Arc<str>>) -> Self {
        Self(value.into())
    }

    /// Returns the value itself, for the request header and for the redactor.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Loads the key of a provider: from its command if it has one, otherwise from its variable. `None` if it needs none.
pub(crate) async fn load_key(
    provider: &ProviderDef,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, ModelError> {
    if let Some(command) = &provider.key_cmd {
        return key_from_command(&provider.name, command).await.map(Some);
    }
    let Some(variable) = &provider.key_env else { return Ok(None) };
    let mut values = provider.key_variables().filter_map(|name| {
        env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    });
    values.next().map(|value| Some(Secret::new(value))).ok_or_else(|| {
        let message = format!("{} needs a key, and {variable} is not set", provider.name);
        let next = format!("set {variable}, or api_key_cmd under [providers.{}]", provider.name);
        missing_key_error(&provider.name, &message, &next)
    })
}

/// Runs a command and returns its first line. Its output is never displayed, not even when it fails.
async fn key_from_command(provider: &str, command: &str) -> Result<Secret, ModelError> {
    let failed = |how: &str| {
        let message = format!("the api_key_cmd of {provider} {how}");
        missing_key_error(provider, &message, "run the command by hand and see what it prints")
    };
    let running = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(KEY_COMMAND_TIMEOUT, running)
        .await
        .map_err(|_| failed("took more than a minute"))?
        .map_err(|_| failed("could not be started"))?;
    if !output.status.success() {
        return Err(failed("failed"));
    }
    let text = String::from_utf8(output.stdout)
        .map_err(|_| failed("printed something that is not text"))?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(failed("printed nothing"));
    }
    Ok(Secret::new(line))
}

fn missing_key_error(provider: &str, message: &str, next: &str) -> ModelError {
    ModelError::new(provider, "no_key", Category::Critical, message, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ProviderRegistry;
    use crate::settings::ModelSettings;

    fn provider(command: Option<&str>) -> ProviderDef {
        let mut provider =
            ProviderRegistry::new(&ModelSettings::default()).find_provider("openai").unwrap();
        provider.key_cmd = command.map(str::to_owned);
        provider
    }

    #[tokio::test]
    async fn keys_come_from_a_command_or_the_environment() {
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| " from-env \n".to_owned());
        let key = load_key(&provider(Some("printf 'from-cmd\\nsecond line'")), env)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(key.expose(), "from-cmd");
        let key = load_key(&provider(None), env).await.unwrap().unwrap();
        assert_eq!(key.expose(), "from-env");
        assert_eq!(format!("{key:?}"), "[secret]");
    }

    #[tokio::test]
    async fn a_failing_command_reveals_nothing() {
        for command in ["echo hush-hush; exit 3", "true", "printf '\\377'"] {
            let error = load_key(&provider(Some(command)), |_| None).await.unwrap_err();
            assert_eq!(error.code, "no_key");
            assert!(!format!("{error:?}").contains("hush"), "{command}");
        }
        let error = load_key(&provider(None), |_| None).await.unwrap_err();
        assert_eq!(error.message, "openai needs a key, and OPENAI_API_KEY is not set");
    }
}
