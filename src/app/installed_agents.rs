//! Agents and model servers that are installed, by the name of their program. Nothing is started.

use std::ffi::OsStr;
use std::path::Path;

/// Programs and what people call them.
const KNOWN: [(&str, &str); 7] = [
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("gemini", "Gemini CLI"),
    ("goose", "goose"),
    ("opencode", "opencode"),
    ("qwen", "Qwen Code"),
    ("ollama", "Ollama"),
];

/// The agents on the `PATH`, in the order of the list.
pub(super) fn find_installed_agents() -> Vec<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_agents_on(&path)
}

fn find_agents_on(path: &OsStr) -> Vec<&'static str> {
    let directories: Vec<_> = std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect();
    let installed = |program: &str| directories.iter().any(|dir| is_program(&dir.join(program)));
    KNOWN.into_iter().filter(|(program, _)| installed(program)).map(|(_, name)| name).collect()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn programs_are_found_and_plain_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in [("codex", 0o755), ("claude", 0o755), ("goose", 0o644)] {
            let path = dir.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(find_agents_on(dir.path().as_os_str()), ["Claude Code", "Codex"]);
        assert!(find_agents_on(OsStr::new("")).is_empty());
    }
}
