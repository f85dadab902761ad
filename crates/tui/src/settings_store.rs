//! Settings as the screens show and change them. Where they are kept is the application's.

/// One setting: its value in words and what it affects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingItem {
    /// The heading it stands under.
    pub group: &'static str,
    /// Its name in the config file.
    pub name: &'static str,
    pub label: &'static str,
    /// The value as the config file has it, to begin typing with.
    pub value: String,
    /// The value for people, with what else there is to know about it.
    pub shown: String,
    /// What it affects, and from when on.
    pub effect: String,
    /// The values to go through; empty if one is typed.
    pub choices: Vec<String>,
}

/// Whoever keeps the settings. Refusals are one line for the person.
pub trait SettingsStore: Send + Sync + std::fmt::Debug {
    /// All settings that can be changed here, in order.
    fn items(&self) -> Result<Vec<SettingItem>, String>;
    /// Writes one setting into the config file, or takes it out of it, and returns what stood there before.
    fn change(&self, name: &str, value: Option<&str>) -> Result<Option<String>, String>;
    /// The text of the config file, with every setting commented if there is none yet.
    fn file_text(&self) -> Result<String, String>;
    /// Replaces the config file, unless the new text cannot be used.
    fn replace_file(&self, text: &str) -> Result<(), String>;
    /// The themes there are.
    fn theme_names(&self) -> Vec<String>;
}
