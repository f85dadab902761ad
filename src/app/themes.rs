//! What the screens need to know: theme, keys, colors and locale of the terminal.

use std::path::PathBuf;

use anyhow::Context;
use jiff::Timestamp;

use super::App;
use crate::console::CliProblem;
use planwright_files::{self as files, FileLimit};
use planwright_tui::{ColorDepth, KeyOverrides, Theme, UiSettings};

impl App {
    /// What the screens need to know.
    pub(crate) fn ui_settings(&self) -> anyhow::Result<UiSettings> {
        let name = if self.no_color { "mono" } else { self.settings.theme.value.as_str() };
        let theme = self.load_theme(name)?;
        let keys = self
            .settings
            .keys
            .iter()
            .map(|(action, key)| (action.clone(), key.value.clone()))
            .collect();
        Ok(UiSettings {
            theme,
            keys: KeyOverrides(keys),
            ascii: self.settings.ascii.value || !utf8_locale(),
            opened_from_home: false,
            reduced_motion: self.settings.reduced_motion.value
                || std::env::var_os("PLANWRIGHT_REDUCED_MOTION")
                    .is_some_and(|value| !value.is_empty() && value != "0"),
            color: if self.no_color { ColorDepth::None } else { color_depth() },
            session_budget: planwright_model::MicroDollars::from_dollars(
                self.settings.budget_per_session_usd.value,
            ),
            now: Timestamp::now,
            time_zone: crate::config::time_zone(),
            changes: None,
            store: None,
        })
    }

    /// A theme of the person's own goes before a built-in one of the same name.
    fn load_theme(&self, name: &str) -> anyhow::Result<Theme> {
        let own = self.theme_file(name);
        if own.symlink_metadata().is_ok() {
            let text = files::read_text(&own, FileLimit::THEME)
                .with_context(|| format!("reading {}", own.display()))?;
            return Theme::parse(name, &text).with_context(|| format!("in {}", own.display()));
        }
        Theme::built_in(name).ok_or_else(|| {
            let names = self.theme_names();
            let near = planwright_text::nearest_name(name, names.iter().map(String::as_str));
            let remedy = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            CliProblem::usage(format!("there is no theme `{name}`")).with_remedy(remedy).into()
        })
    }

    /// Where a theme of the person's own would be.
    pub(super) fn theme_file(&self, name: &str) -> PathBuf {
        self.themes_dir().join(format!("{name}.toml"))
    }

    fn themes_dir(&self) -> PathBuf {
        self.config_dir().join("themes")
    }

    /// All themes, built-in ones first.
    pub(crate) fn theme_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Theme::BUILT_IN.into_iter().map(str::to_owned).collect();
        let mut own: Vec<String> = std::fs::read_dir(self.themes_dir())
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let path = entry.path();
                (path.extension()? == "toml")
                    .then(|| path.file_stem()?.to_str().map(str::to_owned))
                    .flatten()
            })
            .filter(|name| !names.contains(name))
            .collect();
        own.sort();
        names.extend(own);
        names
    }
}

/// How many colours the terminal says it has.
pub(crate) fn color_depth() -> ColorDepth {
    let says = |name: &str, word: &str| std::env::var(name).is_ok_and(|value| value.contains(word));
    if says("COLORTERM", "truecolor") || says("COLORTERM", "24bit") || says("TERM", "direct") {
        ColorDepth::True
    } else {
        ColorDepth::Sixteen
    }
}

pub(crate) fn utf8_locale() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match set {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        // Nothing set is common in containers, whose terminals all the same speak UTF-8.
        None => true,
    }
}
