//! Where toolchains and download caches are, so that builds work in the sandbox without the user's home directory.
//!
//! All of it is read-only: the user's next build reads it too. Downloads of a command with network access go to a cache
//! of the workspace ([`super::download_caches`]). Files with credentials are next to the caches, and Landlock cannot
//! make an exception inside what it allows, so the parts are allowed one by one.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Paths of toolchains, and the variables that name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolchainPaths {
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
/// Devices without state that discard or produce data.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Files that name resolution reads. On many systems they are links to files elsewhere.
const NAME_RESOLUTION: [&str; 3] = ["etc/resolv.conf", "etc/hosts", "etc/nsswitch.conf"];

impl ToolchainPaths {
    /// Finds what exists for this user.
    pub fn find_existing(user_env: &BTreeMap<String, String>) -> Self {
        let mut homes = Self::find_toolchains(user_env, &SYSTEM.map(PathBuf::from));
        homes.read.extend(readable_system_settings(Path::new("/etc")));
        homes.write.extend(DEVICES.iter().map(PathBuf::from));
        homes
    }

    /// Finds the homes of tools, and the parts of the system directories that are outside of them.
    fn find_toolchains(user_env: &BTreeMap<String, String>, system: &[PathBuf]) -> Self {
        let mut homes = Self::default();
        let home = user_env.get("HOME").map(PathBuf::from).unwrap_or_default();
        let named = |variable: &str, otherwise: &str| {
            user_env.get(variable).map_or_else(|| home.join(otherwise), PathBuf::from)
        };
        let cargo = ["bin", "config", "config.toml", "env", "registry", "git"];
        let locks = [".package-cache", ".package-cache-mutate", ".global-cache"];
        homes.add_home(
            "CARGO_HOME",
            &named("CARGO_HOME", ".cargo"),
            &[&cargo[..], &locks].concat(),
        );
        let rustup = ["toolchains", "settings.toml", "update-hashes"];
        homes.add_home("RUSTUP_HOME", &named("RUSTUP_HOME", ".rustup"), &rustup);
        homes.add_home("GOPATH", &named("GOPATH", "go"), &["bin", "src", "pkg"]);
        homes.add_home(
            "npm_config_cache",
            &named("npm_config_cache", ".npm"),
            &["_cacache", "_npx"],
        );
        // Of the homes so far only parts may be read; those below are read whole. What is not there is not closed.
        let found = homes.variables.iter().map(|(_, place)| PathBuf::from(place));
        let closed: Vec<PathBuf> =
            found.chain([home.clone()]).filter_map(|path| path.canonicalize().ok()).collect();
        if let Some(cache) = user_env.get("GOMODCACHE") {
            homes.add_home("GOMODCACHE", Path::new(cache), &["."]);
        }
        homes.add_home("PIP_CACHE_DIR", &named("PIP_CACHE_DIR", ".cache/pip"), &["."]);
        // Version managers put small shims on the path that need the rest of their home.
        homes.add_home("PYENV_ROOT", &named("PYENV_ROOT", ".pyenv"), &["."]);
        homes.add_system_directories(system, &closed);
        homes.add_search_path(user_env, &closed);
        homes
    }

    /// The system directories. One that contains a closed path is opened part by part around it.
    fn add_system_directories(&mut self, system: &[PathBuf], closed: &[PathBuf]) {
        // Service accounts have a directory of programs as their home; that one stays open.
        let is_closed = |path: &&PathBuf| !path.ends_with("bin") && !path.ends_with("sbin");
        let closed: Vec<PathBuf> = closed.iter().filter(is_closed).cloned().collect();
        for directory in system {
            match directory.canonicalize() {
                Ok(real) => open_around(&real, directory, &closed, &mut self.read),
                // What is not there needs no way around.
                Err(_) => self.read.push(directory.clone()),
            }
        }
    }

    /// Directories of programs. One that contains a closed place would open all that lies in it.
    fn add_search_path(&mut self, person: &BTreeMap<String, String>, closed: &[PathBuf]) {
        for entry in person.get("PATH").into_iter().flat_map(|path| std::env::split_paths(path)) {
            // PATH often names directories that are not there.
            let Ok(real) = entry.canonicalize() else { continue };
            let is_wide = closed.iter().any(|path| path.starts_with(&real));
            if entry.is_absolute() && real.is_dir() && !is_wide {
                self.read.push(entry);
            }
        }
    }

    /// Opens the files that name resolution reads, which a command with network access needs.
    pub fn add_name_resolution(&mut self, root: &Path) {
        let files = NAME_RESOLUTION.iter().filter_map(|name| root.join(name).canonicalize().ok());
        self.read.extend(files.filter(|path| path.is_file()));
    }

    fn add_home(&mut self, variable: &str, home: &Path, read: &[&str]) {
        if !home.is_absolute() || !home.is_dir() {
            return;
        }
        let existing = read.iter().map(|name| home.join(name)).filter(|path| path.exists());
        self.read.extend(existing);
        self.set_variable(variable, home);
    }

    /// Sets the path of a tool; a later one replaces an earlier one.
    pub(super) fn set_variable(&mut self, variable: &str, path: &Path) {
        self.variables.retain(|(known, _)| known != variable);
        self.variables.push((variable.to_owned(), path.display().to_string()));
    }
}

/// Adds a directory or, if it contains closed paths, everything in it that is not closed. `real` is the real path of
/// the directory.
fn open_around(real: &Path, directory: &Path, closed: &[PathBuf], open: &mut Vec<PathBuf>) {
    if closed.iter().any(|path| path == real) {
        return;
    }
    if !closed.iter().any(|path| path.starts_with(real)) {
        open.push(directory.to_owned());
        return;
    }
    for entry in std::fs::read_dir(real).into_iter().flatten().flatten() {
        // A rule for a link would open its target.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            let path = entry.path();
            open_around(&path, &path, closed, open);
        }
    }
}

/// The system settings. Those that others cannot read, such as passwords, belong to root: they are excluded for root
/// too.
fn readable_system_settings(directory: &Path) -> Vec<PathBuf> {
    if rustix::process::geteuid().is_root() {
        let mut readable = Vec::new();
        if !collect_readable(directory, &mut readable) {
            return readable;
        }
    }
    vec![directory.to_owned()]
}

/// Whether everybody may read everything in a directory. If not, the readable parts are added.
fn collect_readable(directory: &Path, readable: &mut Vec<PathBuf>) -> bool {
    let mut all_readable = true;
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        // It vanished since it was listed.
        let Ok(metadata) = entry.metadata() else { continue };
        let open = metadata.is_symlink() || metadata.mode() & 0o004 != 0;
        if open && metadata.is_dir() {
            let before = parts.len();
            if collect_readable(&path, &mut parts) {
                parts.truncate(before);
                parts.push(path);
            } else {
                all_readable = false;
            }
        } else if open && !metadata.is_symlink() {
            parts.push(path);
        } else if !open {
            all_readable = false;
        }
    }
    if !all_readable {
        readable.append(&mut parts);
    }
    all_readable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_next_to_a_cache_are_not_readable() {
        let home = tempfile::tempdir().unwrap();
        let cargo = home.path().join(".cargo");
        std::fs::create_dir_all(cargo.join("registry")).unwrap();
        std::fs::write(cargo.join("credentials.toml"), "token").unwrap();
        let user_env = BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
        let homes = ToolchainPaths::find_existing(&user_env);
        assert!(homes.read.contains(&cargo.join("registry")));
        assert!(homes.write.iter().all(|path| path.starts_with("/dev")), "{:?}", homes.write);
        let all = homes.read.iter().chain(&homes.write);
        assert!(all.clone().all(|path| !cargo.join("credentials.toml").starts_with(path)));
        assert!(all.clone().all(|path| path != home.path()));
        assert!(homes.variables.contains(&("CARGO_HOME".into(), cargo.display().to_string())));
    }

    #[test]
    fn a_broad_path_entry_does_not_open_the_home() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".cargo/bin")).unwrap();
        let entry = |below: &str| home.path().join(below).display().to_string();
        let search_path = [entry(""), entry(".cargo"), entry(".cargo/bin"), "/".into()].join(":");
        let user_env =
            BTreeMap::from([("HOME".to_owned(), entry("")), ("PATH".to_owned(), search_path)]);
        let homes = ToolchainPaths::find_existing(&user_env);
        let credentials = home.path().join(".cargo/credentials.toml");
        assert!(homes.read.iter().all(|path| !credentials.starts_with(path)), "{homes:?}");
        assert!(homes.read.contains(&home.path().join(".cargo/bin")));
    }

    #[test]
    fn a_tool_home_inside_the_system_is_opened_by_its_parts() {
        let root = tempfile::tempdir().unwrap();
        let usr = root.path().canonicalize().unwrap().join("usr");
        let cargo = usr.join("local/cargo");
        for below in ["bin", "lib/x", "local/bin", "local/cargo/registry", "local/cargo/bin"] {
            std::fs::create_dir_all(usr.join(below)).unwrap();
        }
        std::fs::write(cargo.join("credentials.toml"), "token").unwrap();
        std::os::unix::fs::symlink("cargo", usr.join("local/link")).unwrap();
        let system = [usr.clone(), root.path().join("absent")];
        let path = [cargo.join("bin"), cargo.clone(), usr.join("local"), usr.join("local/link")];
        let path = std::env::join_paths(path).unwrap().into_string().unwrap();
        for home in ["/nonexistent", usr.join("bin").to_str().unwrap()] {
            let user_env = BTreeMap::from([
                ("HOME".to_owned(), home.to_owned()),
                ("CARGO_HOME".to_owned(), cargo.display().to_string()),
                ("PATH".to_owned(), path.clone()),
            ]);
            let homes = ToolchainPaths::find_toolchains(&user_env, &system);
            let opens = |below: &str| {
                let expected = usr.join(below);
                let real = homes.read.iter().filter_map(|path| path.canonicalize().ok());
                real.into_iter().any(|path| expected.starts_with(path))
            };
            assert!(!opens("local/cargo/credentials.toml"), "{homes:?}");
            for below in ["bin", "lib/x", "local/bin", "local/cargo/bin", "local/cargo/registry"] {
                assert!(opens(below), "{below}: {homes:?}");
            }
        }
        let homes = ToolchainPaths::find_toolchains(&BTreeMap::new(), &system);
        assert_eq!(homes.read, system, "nothing to open around");
    }

    #[test]
    fn name_resolution_is_readable_at_its_link_targets() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        for below in ["etc", "run/systemd/resolve"] {
            std::fs::create_dir_all(real.join(below)).unwrap();
        }
        let target = real.join("run/systemd/resolve/stub-resolv.conf");
        std::fs::write(&target, "nameserver 127.0.0.53").unwrap();
        std::fs::write(real.join("etc/hosts"), "").unwrap();
        let link = "../run/systemd/resolve/stub-resolv.conf";
        std::os::unix::fs::symlink(link, real.join("etc/resolv.conf")).unwrap();
        let mut homes = ToolchainPaths::default();
        homes.add_name_resolution(root.path());
        assert_eq!(homes.read, [target, real.join("etc/hosts")]);
    }

    #[test]
    fn settings_that_not_everybody_may_read_are_excluded() {
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
