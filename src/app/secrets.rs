//! Secrets of this process: keys of model providers, tokens of tool servers, and variables that are named like secrets.

use std::ffi::OsString;
use std::path::{Component, Path};
use std::sync::LazyLock;

use super::App;
use planwright_text::{Redactor, is_secret_variable};

/// Names and values of secret variables, read once: the environment does not change while the program runs.
static ENVIRONMENT_SECRETS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let ordinary = ordinary_words();
    let variables = std::env::vars_os().filter_map(text);
    variables.filter(|(name, value)| is_secret_variable(name, value, &ordinary)).collect()
});

/// The user name and the parts of the working directory and the home directory. Covering them would make paths
/// unreadable and commands with them impossible.
fn ordinary_words() -> Vec<String> {
    let users = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let home = std::env::var_os("HOME").map(Into::into);
    let places = [std::env::current_dir().ok(), home].into_iter().flatten();
    users.chain(places.flat_map(|place: std::path::PathBuf| path_words(&place))).collect()
}

fn path_words(path: &Path) -> Vec<String> {
    let word = |part: Component<'_>| part.as_os_str().to_str().map(str::to_owned);
    path.components().filter_map(word).collect()
}

/// Values of variables that are named like secrets.
pub(crate) fn environment_secrets() -> impl Iterator<Item = String> {
    ENVIRONMENT_SECRETS.iter().map(|(_, value)| value.clone())
}

impl App {
    /// Covers what the settings name as secret in the diagnostic log, if there is one.
    pub(super) fn cover_log(&self) {
        if crate::diagnostics::is_logging() {
            let secrets = self.secret_variables().into_iter().map(|(_, value)| value);
            crate::diagnostics::add_secrets(secrets);
        }
    }

    /// Knows the keys of model providers, so that they are found wherever they turn up.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor_with::<&str>([])
    }

    /// The same with further secrets.
    pub(crate) fn redactor_with<S: AsRef<str>>(
        &self,
        secrets: impl IntoIterator<Item = S>,
    ) -> Redactor {
        Redactor::with_variables(self.secret_variables(), secrets)
    }

    /// What must not show anywhere: keys of model providers, tokens of servers of tools, and values of variables that
    /// are named like secrets.
    fn secret_variables(&self) -> Vec<(String, String)> {
        let tokens = self.settings.mcp.values().filter_map(|server| server.token_variable.clone());
        let names = self.key_variables().into_iter().chain(tokens);
        let known = names.filter_map(|name| {
            let value = std::env::var(&name).ok()?;
            Some((name, value))
        });
        known.chain(ENVIRONMENT_SECRETS.iter().cloned()).collect()
    }
}
