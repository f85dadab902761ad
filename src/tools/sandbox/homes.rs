//! Where toolchains and download caches are, so that builds work in the sandbox without the person's home.
//!
//! Files with credentials lie beside the caches, and Landlock cannot make an exception inside what it allows: so the
//! parts are allowed one by one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Places of toolchains, and the variables that name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub variables: Vec<(String, String)>,
}

/// Directories of the system that any program needs to read.
const SYSTEM: [&str; 15] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/var/lib/dpkg",
    "/dev/urandom",
    "/dev/random",
];
/// Devices that swallow or give, and belong to nobody.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

impl Homes {
    /// Finds what exists for this person.
    pub fn find(person: &BTreeMap<String, String>) -> Self {
        let mut homes = Self::default();
        homes.read.extend(SYSTEM.iter().map(PathBuf::from));
        homes.write.extend(DEVICES.iter().map(PathBuf::from));
        let home = person.get("HOME").map(PathBuf::from).unwrap_or_default();
        let named = |variable: &str, otherwise: &str| {
            person.get(variable).map_or_else(|| home.join(otherwise), PathBuf::from)
        };
        homes.add(
            "CARGO_HOME",
            &named("CARGO_HOME", ".cargo"),
            &["bin", "config.toml", "env"],
            &["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"],
        );
        homes.add(
            "RUSTUP_HOME",
            &named("RUSTUP_HOME", ".rustup"),
            &["toolchains", "settings.toml", "update-hashes"],
            &[],
        );
        homes.add("GOPATH", &named("GOPATH", "go"), &["bin", "src"], &["pkg"]);
        if let Some(cache) = person.get("GOMODCACHE") {
            homes.add("GOMODCACHE", Path::new(cache), &[], &["."]);
        }
        homes.add(
            "npm_config_cache",
            &named("npm_config_cache", ".npm"),
            &[],
            &["_cacache", "_npx", "_logs"],
        );
        homes.add("PIP_CACHE_DIR", &named("PIP_CACHE_DIR", ".cache/pip"), &[], &["."]);
        // Version managers put small starters on the path that need the rest of their home.
        homes.add("PYENV_ROOT", &named("PYENV_ROOT", ".pyenv"), &["."], &[]);
        for entry in person.get("PATH").into_iter().flat_map(|path| std::env::split_paths(path)) {
            if entry.is_absolute() && entry.is_dir() {
                homes.read.push(entry);
            }
        }
        homes
    }

    fn add(&mut self, variable: &str, home: &Path, read: &[&str], write: &[&str]) {
        if !home.is_dir() {
            return;
        }
        let existing = |names: &[&str]| -> Vec<PathBuf> {
            names.iter().map(|name| home.join(name)).filter(|path| path.exists()).collect()
        };
        self.read.extend(existing(read));
        self.write.extend(existing(write));
        self.variables.push((variable.to_owned(), home.display().to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_beside_a_cache_are_not_among_the_places() {
        let home = tempfile::tempdir().unwrap();
        let cargo = home.path().join(".cargo");
        std::fs::create_dir_all(cargo.join("registry")).unwrap();
        std::fs::write(cargo.join("credentials.toml"), "token").unwrap();
        let person = BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
        let homes = Homes::find(&person);
        assert!(homes.write.contains(&cargo.join("registry")));
        let all = homes.read.iter().chain(&homes.write);
        assert!(all.clone().all(|place| !cargo.join("credentials.toml").starts_with(place)));
        assert!(all.clone().all(|place| place != home.path()));
        assert!(homes.variables.contains(&("CARGO_HOME".into(), cargo.display().to_string())));
    }
}
