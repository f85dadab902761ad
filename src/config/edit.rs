//! Changes the config file in one step, with everything else in it kept as it was, comments included.

use std::path::Path;

use anyhow::Context;
use toml_edit::DocumentMut;

use planwright_files::{self as files, FileLimit};

/// Changes the config file in one step.
pub(super) fn edit_config(
    config: &Path,
    change: impl FnOnce(&mut DocumentMut) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let text = match files::read_text(config, FileLimit::CONFIG) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("reading {}", config.display())),
    };
    let mut document: DocumentMut =
        text.parse().with_context(|| format!("reading {}", config.display()))?;
    change(&mut document).with_context(|| format!("changing {}", config.display()))?;
    let directory = config.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)
        .with_context(|| format!("making {}", directory.display()))?;
    let temporary = config.with_extension("toml.new");
    std::fs::write(&temporary, document.to_string())
        .and_then(|()| std::fs::rename(&temporary, config))
        .with_context(|| format!("writing {}", config.display()))
}
