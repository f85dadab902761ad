//! Writes one answer of the person's into the config file and leaves everything else as it was, comments included.

use std::io;
use std::path::Path;

use toml_edit::{DocumentMut, Item, Table, value};

use planwright_files::{self as files, FileLimit};

/// Remembers whether the key of a provider may be used: `consent` under `[providers.NAME]`.
pub fn remember_consent(path: &Path, provider: &str, consent: bool) -> io::Result<()> {
    let text = match files::read_text(path, FileLimit::CONFIG) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| wrong(error.message().to_owned()))?;
    let providers = document.entry("providers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let not_a_table = || wrong("`providers` is not a table".to_owned());
    let entry = providers
        .as_table_like_mut()
        .ok_or_else(not_a_table)?
        .entry(provider)
        .or_insert_with(|| Item::Table(Table::new()));
    let fields = entry.as_table_like_mut().ok_or_else(not_a_table)?;
    match fields.get_mut("consent").and_then(Item::as_value_mut) {
        Some(old) => {
            // The comment beside the value belongs to it.
            let decor = old.decor().clone();
            *old = consent.into();
            *old.decor_mut() = decor;
        }
        None => {
            fields.insert("consent", value(consent));
        }
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let draft = path.with_extension("toml.tmp");
    std::fs::write(&draft, document.to_string())?;
    std::fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn an_answer_is_kept_and_the_rest_of_the_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new").join("config.toml");
        remember_consent(&path, "anthropic", true).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "[providers.anthropic]\nconsent = true\n"
        );
        let text =
            "# mine\njobs = 7 # many\n\n[providers.openai]\nmodel = \"x\"\nconsent = true # ok\n";
        std::fs::write(&path, text).unwrap();
        remember_consent(&path, "openai", false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text.replace("= true #", "= false #"));
        remember_consent(&path, "anthropic", false).unwrap();
        let models = Settings::load(&path, true).unwrap().models;
        assert_eq!(models.providers["anthropic"].value.consent, Some(false));
        assert_eq!(models.providers["openai"].value.model.as_deref(), Some("x"));
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        for text in ["jobs = ", "providers = 3\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(remember_consent(&path, "openai", true).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
