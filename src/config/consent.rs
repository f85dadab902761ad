//! Writes the person's answer about a provider's key into the config file.

use std::path::Path;

use anyhow::Context;
use toml_edit::{DocumentMut, Item, Table, value};

use super::edit::edit_config;

/// Remembers whether the key of a provider may be used: `consent` under `[providers.NAME]`.
pub(crate) fn remember_consent(config: &Path, provider: &str, consent: bool) -> anyhow::Result<()> {
    edit_config(config, |document| insert_consent(document, provider, consent))
}

fn insert_consent(document: &mut DocumentMut, provider: &str, consent: bool) -> anyhow::Result<()> {
    let providers = document.entry("providers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let providers = providers.as_table_like_mut().context("`providers` is not a table")?;
    let entry = providers.entry(provider).or_insert_with(|| Item::Table(Table::new()));
    let fields = entry
        .as_table_like_mut()
        .with_context(|| format!("`providers.{provider}` is not a table"))?;
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
    Ok(())
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
