//! Where toolchains and download caches are, so that builds work in the sandbox without the person's home.
//!
//! All of it is read-only: the person's next build reads it too. What a command with a network downloads goes to a cache
//! of the workspace ([`super::caches`]). Files with credentials lie beside the caches, and Landlock cannot make an
//! exception inside what it allows: so the parts are allowed one by one.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Places of toolchains, and the variables that name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub variables: Vec<(String, String)>,
}

/// Directories of the system that any program needs to read.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
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
        homes.read.extend(settings_of_system(Path::new("/etc")));
        homes.write.extend(DEVICES.iter().map(PathBuf::from));
        let home = person.get("HOME").map(PathBuf::from).unwrap_or_default();
        let named = |variable: &str, otherwise: &str| {
            person.get(variable).map_or_else(|| home.join(otherwise), PathBuf::from)
        };
        let cargo = ["bin", "config", "config.toml", "env", "registry", "git"];
        let locks = [".package-cache", ".package-cache-mutate", ".global-cache"];
        homes.add("CARGO_HOME", &named("CARGO_HOME", ".cargo"), &[&cargo[..], &locks].concat());
        let rustup = ["toolchains", "settings.toml", "update-hashes"];
        homes.add("RUSTUP_HOME", &named("RUSTUP_HOME", ".rustup"), &rustup);
        homes.add("GOPATH", &named("GOPATH", "go"), &["bin", "src", "pkg"]);
        if let Some(cache) = person.get("GOMODCACHE") {
            homes.add("GOMODCACHE", Path::new(cache), &["."]);
        }
        homes.add("npm_config_cache", &named("npm_config_cache", ".npm"), &["_cacache", "_npx"]);
        homes.add("PIP_CACHE_DIR", &named("PIP_CACHE_DIR", ".cache/pip"), &["."]);
        // Version managers put small starters on the path that need the rest of their home.
        homes.add("PYENV_ROOT", &named("PYENV_ROOT", ".pyenv"), &["."]);
        let known: Vec<PathBuf> =
            homes.variables.iter().map(|(_, place)| PathBuf::from(place)).collect();
        // A directory on the path that holds the home, or a tool's, would open all that lies in it.
        let is_wide = |entry: &Path| {
            home.starts_with(entry)
                || known.iter().any(|place| place.ends_with(".cargo") && place.starts_with(entry))
        };
        for entry in person.get("PATH").into_iter().flat_map(|path| std::env::split_paths(path)) {
            if entry.is_absolute() && entry.is_dir() && !is_wide(&entry) {
                homes.read.push(entry);
            }
        }
        homes
    }

    fn add(&mut self, variable: &str, home: &Path, read: &[&str]) {
        if !home.is_dir() {
            return;
        }
        let existing = read.iter().map(|name| home.join(name)).filter(|path| path.exists());
        self.read.extend(existing);
        self.set(variable, home);
    }

    /// Names the place of a tool; a later one takes the place of an earlier one.
    pub(super) fn set(&mut self, variable: &str, place: &Path) {
        self.variables.retain(|(known, _)| known != variable);
        self.variables.push((variable.to_owned(), place.display().to_string()));
    }
}

/// The system's settings. Root owns those that others cannot read, such as passwords: they are left out for root too.
fn settings_of_system(directory: &Path) -> Vec<PathBuf> {
    if rustix::process::geteuid().is_root() {
        let mut readable = Vec::new();
        if !collect_readable(directory, &mut readable) {
            return readable;
        }
    }
    vec![directory.to_owned()]
}

/// Whether everybody may read all that is in a directory. If not, what they may read is added.
fn collect_readable(directory: &Path, readable: &mut Vec<PathBuf>) -> bool {
    let mut whole = true;
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        let open = metadata.is_symlink() || metadata.mode() & 0o004 != 0;
        if open && metadata.is_dir() {
            let before = parts.len();
            if collect_readable(&path, &mut parts) {
                parts.truncate(before);
                parts.push(path);
            } else {
                whole = false;
            }
        } else if open && !metadata.is_symlink() {
            parts.push(path);
        } else if !open {
            whole = false;
        }
    }
    if !whole {
        readable.append(&mut parts);
    }
    whole
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
        assert!(homes.read.contains(&cargo.join("registry")));
        assert!(homes.write.iter().all(|place| place.starts_with("/dev")), "{:?}", homes.write);
        let all = homes.read.iter().chain(&homes.write);
        assert!(all.clone().all(|place| !cargo.join("credentials.toml").starts_with(place)));
        assert!(all.clone().all(|place| place != home.path()));
        assert!(homes.variables.contains(&("CARGO_HOME".into(), cargo.display().to_string())));
    }

    #[test]
    fn a_wide_entry_of_the_path_opens_no_home() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".cargo/bin")).unwrap();
        let place = |below: &str| home.path().join(below).display().to_string();
        let path = [place(""), place(".cargo"), place(".cargo/bin"), "/".into()].join(":");
        let person = BTreeMap::from([("HOME".to_owned(), place("")), ("PATH".to_owned(), path)]);
        let homes = Homes::find(&person);
        let credentials = home.path().join(".cargo/credentials.toml");
        assert!(homes.read.iter().all(|place| !credentials.starts_with(place)), "{homes:?}");
        assert!(homes.read.contains(&home.path().join(".cargo/bin")));
    }

    #[test]
    fn settings_that_not_everybody_may_read_are_left_out() {
        use std::os::unix::fs::PermissionsExt;
        let etc = tempfile::tempdir().unwrap();
        for (name, mode) in [("open/a", 0o644), ("ssh/config", 0o644), ("ssh/key", 0o600)] {
            let path = etc.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut readable = Vec::new();
        assert!(!collect_readable(etc.path(), &mut readable));
        readable.sort();
        assert_eq!(readable, [etc.path().join("open"), etc.path().join("ssh/config")]);
    }
}
