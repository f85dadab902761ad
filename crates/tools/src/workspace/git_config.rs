//! Paths in git settings that git acts on: hook directories and included settings.
//!
//! Parsed line by line, without git's finer rules: a path too many only means that it is compared too.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How much of a settings file is read.
const MOST_BYTES: u64 = 256 * 1024;

/// Paths named in one settings file, as written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitConfig {
    pub(super) hooks: Vec<PathBuf>,
    pub(super) included: Vec<PathBuf>,
}

impl GitConfig {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        // Opening a pipe would block until it has a writer.
        if !path.metadata()?.is_file() {
            return Ok(Self::default());
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    fn parse(text: &str) -> Self {
        let mut config = Self::default();
        let mut section = String::new();
        for line in text.lines() {
            let mut line = line.trim();
            if let Some((header, rest)) =
                line.strip_prefix('[').and_then(|line| line.split_once(']'))
            {
                section = header.trim().to_lowercase();
                line = rest.trim();
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let key = key.trim().to_lowercase();
            if section == "core" && key == "hookspath" {
                config.hooks.extend(parse_place(value));
            } else if section.starts_with("include") && key == "path" {
                config.included.extend(parse_place(value));
            }
        }
        config
    }
}

/// Parses a path as written: possibly in quotes, with a comment after it, or relative to the home directory.
fn parse_place(value: &str) -> Option<PathBuf> {
    let value = value.trim();
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => value.split(['#', ';']).next()?.trim(),
    };
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    match value.strip_prefix("~/") {
        Some(below) => Some(home()?.join(below)),
        None => (!value.is_empty()).then(|| PathBuf::from(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_and_included_settings_are_found() {
        let text = "[core]\n bare = false\n\tHooksPath = a/b ; note\n[includeIf \"gitdir:~/x\"] path=\"c d\"\n\
            [remote \"x\"]\npath = no\nhookspath = no\n[include]\npath =\n";
        let config = GitConfig::parse(text);
        assert_eq!(config.hooks, [Path::new("a/b")]);
        assert_eq!(config.included, [Path::new("c d")]);
    }
}
