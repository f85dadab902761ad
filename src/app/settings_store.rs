//! The settings screen's view of the config file: rows in words, changes written at once.

use std::sync::Arc;

use super::App;
use super::options::SharedArgs;
use crate::config::{self, JobLimit, SettingOrigin, Settings};
use planwright_files::{self as files, FileLimit};
use planwright_tui::{SettingItem, SettingsStore};

/// Providers that need no entry of their own in the config.
const PROVIDERS: [&str; 9] = [
    "auto",
    "offline",
    "anthropic",
    "openai",
    "gemini",
    "openrouter",
    "ollama",
    "llamacpp",
    "lmstudio",
];

/// The config file, read again for each look at it.
#[derive(Debug)]
struct ConfigSettingsStore {
    shared: SharedArgs,
}

/// Who keeps the settings that screens show and change.
pub(super) fn settings_store(shared: &SharedArgs) -> Arc<dyn SettingsStore> {
    Arc::new(ConfigSettingsStore { shared: shared.clone() })
}

impl ConfigSettingsStore {
    fn read_app(&self) -> Result<App, String> {
        App::settings_only(&self.shared).map_err(|error| one_line(&error))
    }
}

impl SettingsStore for ConfigSettingsStore {
    fn items(&self) -> Result<Vec<SettingItem>, String> {
        let app = self.read_app()?;
        let settings = &app.settings;
        let mut items = super::own_time_items::own_time_items(&app);
        items.extend(provider_items(settings));
        items.extend(display_items(settings, app.theme_names()));
        Ok(items)
    }

    fn change(&self, name: &str, value: Option<&str>) -> Result<Option<String>, String> {
        let path = self.read_app()?.config_path;
        config::change_setting(&path, name, value).map_err(|error| one_line(&error))
    }

    fn file_text(&self) -> Result<String, String> {
        let path = self.read_app()?.config_path;
        match files::read_text(&path, FileLimit::CONFIG) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(
                "# Settings of Planwright; `planwright config init --print` lists all of them.\n"
                    .to_owned(),
            ),
            Err(error) => Err(format!("{} can't be read: {error}", path.display())),
        }
    }

    fn replace_file(&self, text: &str) -> Result<(), String> {
        // The path is known even while the file cannot be used.
        let path = self.shared.config.clone().or_else(config::config_file).unwrap_or_default();
        config::replace_config(&path, text).map_err(|error| one_line(&error))
    }

    fn theme_names(&self) -> Vec<String> {
        self.read_app().map(|app| app.theme_names()).unwrap_or_default()
    }
}

fn one_line(error: &anyhow::Error) -> String {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    planwright_text::clean_line(&causes.join(": ")).into_owned()
}

/// Says where a value comes from, if a change of the file would not be seen.
pub(super) fn with_origin(shown: String, origin: &SettingOrigin) -> String {
    match origin {
        SettingOrigin::CommandLine(flag) => format!("{shown}, set by {flag} for now"),
        SettingOrigin::Environment(name) => format!("{shown}, set by {name} for now"),
        SettingOrigin::BuiltIn | SettingOrigin::File(_) => shown,
    }
}

fn provider_items(settings: &Settings) -> Vec<SettingItem> {
    let models = &settings.models;
    let provider = models.provider.value.as_str();
    let mut choices: Vec<String> = PROVIDERS.iter().map(|name| (*name).to_owned()).collect();
    choices.extend(models.providers.keys().cloned());
    choices.push(provider.to_owned());
    let mut seen = std::collections::BTreeSet::new();
    choices.retain(|name| seen.insert(name.clone()));
    let shown = match provider {
        "auto" => "automatic: a key that is found is used once you said yes".to_owned(),
        "offline" => "the built-in planner; needs no account, sends nothing".to_owned(),
        name => name.to_owned(),
    };
    let next = || "from the next plan on".to_owned();
    let dollars = |amount: f64| format!("${amount:.2}");
    let jobs = match settings.jobs.value {
        JobLimit::Auto => ("auto".to_owned(), "automatic, follows the load".to_owned()),
        JobLimit::Fixed(jobs) => (jobs.to_string(), format!("up to {jobs}")),
    };
    let model = models.model.value.clone();
    let item = |name, label, value: String, shown: String, effect: String| SettingItem {
        group: "provider",
        name,
        label,
        value,
        shown,
        effect,
        choices: Vec::new(),
    };
    let (session, day) = (settings.budget_per_session_usd.value, models.daily_budget_usd.value);
    vec![
        SettingItem {
            choices,
            ..item(
                "provider",
                "Drafts by",
                provider.to_owned(),
                with_origin(shown, &models.provider.origin),
                next(),
            )
        },
        item(
            "model",
            "Model",
            model.clone().unwrap_or_default(),
            with_origin(
                model.unwrap_or_else(|| "the provider's own choice".to_owned()),
                &models.model.origin,
            ),
            next(),
        ),
        item(
            "budget_per_session_usd",
            "Limit for a plan",
            session.to_string(),
            dollars(session),
            "asks before more is spent".to_owned(),
        ),
        item(
            "daily_budget_usd",
            "Limit for a day",
            day.to_string(),
            dollars(day),
            "asks before more is spent".to_owned(),
        ),
        item(
            "jobs",
            "Tasks at once",
            jobs.0,
            with_origin(jobs.1, &settings.jobs.origin),
            "from the next run on".to_owned(),
        ),
    ]
}

fn display_items(settings: &Settings, themes: Vec<String>) -> Vec<SettingItem> {
    let at_once = || "changes at once".to_owned();
    let flags = || vec!["false".to_owned(), "true".to_owned()];
    let theme = settings.theme.value.clone();
    let keys = match settings.keys.len() {
        0 => "default keys".to_owned(),
        1 => "1 key changed".to_owned(),
        count => format!("{count} keys changed"),
    };
    let motion = settings.reduced_motion.value;
    let item = |name, label, value: String, shown: String| SettingItem {
        group: "display",
        name,
        label,
        value,
        shown,
        effect: at_once(),
        choices: flags(),
    };
    vec![
        SettingItem {
            choices: themes,
            ..item(
                "theme",
                "Theme",
                theme.clone(),
                with_origin(theme.replace('_', " "), &settings.theme.origin),
            )
        },
        item(
            "reduced_motion",
            "Motion",
            motion.to_string(),
            if motion { "reduced" } else { "on" }.to_owned(),
        ),
        item(
            "ascii",
            "Characters",
            settings.ascii.value.to_string(),
            if settings.ascii.value { "plain ASCII" } else { "Unicode" }.to_owned(),
        ),
        SettingItem {
            choices: Vec::new(),
            effect: "Enter opens the config file".to_owned(),
            ..item("keys", "Keys", String::new(), keys)
        },
    ]
}
