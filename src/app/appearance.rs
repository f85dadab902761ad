//! Watches the config while a screen is open, so that a changed theme or key is seen at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use super::App;
use super::options::SharedArgs;
use planwright_tui::{UiAppearance, UiSettings, check_keys};

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_millis(700);

/// When the files that matter were last changed.
type FileStamps = Vec<(PathBuf, Option<SystemTime>)>;

impl App {
    /// What the screens need to know, with changes of the config while they are open.
    pub(crate) fn watched_settings(&self, shared: &SharedArgs) -> anyhow::Result<UiSettings> {
        let mut settings = self.ui_settings()?;
        let first = UiAppearance {
            theme: settings.theme.clone(),
            keys: settings.keys.clone(),
            ascii: settings.ascii,
            reduced_motion: settings.reduced_motion,
            problem: None,
        };
        let (sender, receiver) = watch::channel(Arc::new(first));
        let shared_args = shared;
        let shared = shared.clone();
        let mut seen = self.file_stamps();
        tokio::spawn(async move {
            while !sender.is_closed() {
                tokio::time::sleep(PAUSE).await;
                // A config that cannot be read just now keeps the files that were watched before.
                let read = App::settings_only(&shared);
                let stamp = match &read {
                    Ok(app) => app.file_stamps(),
                    Err(error) => {
                        let error = crate::diagnostics::leave_out_quotes(&format!("{error:#}"));
                        tracing::debug!(error, "the changed config cannot be read");
                        stamp_files(seen.iter().map(|(path, _)| path.as_path()))
                    }
                };
                if stamp == seen {
                    continue;
                }
                seen = stamp;
                let before = UiAppearance::clone(&sender.borrow());
                let look = match read.and_then(|app| app.load_appearance()) {
                    Ok(look) => look,
                    Err(error) => {
                        UiAppearance { problem: Some(config_error_line(&error)), ..before.clone() }
                    }
                };
                // Another setting was changed, or nothing at all.
                if look != before {
                    sender.send_replace(Arc::new(look));
                }
            }
        });
        settings.changes = Some(receiver);
        settings.store = Some(super::settings_store::settings_store(shared_args));
        Ok(settings)
    }

    fn load_appearance(&self) -> anyhow::Result<UiAppearance> {
        let settings = self.ui_settings()?;
        check_keys(&settings.keys)?;
        let UiSettings { theme, keys, ascii, reduced_motion, .. } = settings;
        Ok(UiAppearance { theme, keys, ascii, reduced_motion, problem: None })
    }

    fn file_stamps(&self) -> FileStamps {
        let theme = self.theme_file(&self.settings.theme.value);
        stamp_files([self.config_path.as_path(), theme.as_path()].into_iter())
    }
}

fn stamp_files<'a>(paths: impl Iterator<Item = &'a Path>) -> FileStamps {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
    paths.map(|path| (path.to_owned(), changed(path))).collect()
}

fn config_error_line(error: &anyhow::Error) -> String {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    format!("the config was not read: {}", causes.join(": "))
}
