//! Secrets of the environment: variables that are named like secrets.

use std::ffi::OsString;
use std::path::{Component, Path};
use std::sync::LazyLock;

use planwright_text::is_secret_variable;

/// Names and values of secret variables, read once: the environment does not change while the program runs.
pub(crate) static ENVIRONMENT_SECRETS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
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
