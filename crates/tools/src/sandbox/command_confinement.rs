//! The environment of a confined command: a private directory, its variables, and what it may touch.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::{
    PrivateDirectory, Sandbox, SandboxLauncher, SandboxProfile, ToolchainPaths, download_caches,
    environment,
};
use crate::ToolSettings;
use crate::process::LaunchMode;

/// What a command may do with the directories that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootAccess {
    Read,
    Write,
    WriteWithNetwork,
}

/// Lives as long as its command; the private directory is removed with it.
#[derive(Debug)]
pub struct CommandConfinement {
    environment: BTreeMap<String, String>,
    /// `None` if nothing on this system can confine a command.
    pub launcher: Option<SandboxLauncher>,
    _private: PrivateDirectory,
}

impl CommandConfinement {
    /// Commands may write in `roots`, in directories named in the settings, and in a directory of their own.
    pub fn prepare(
        sandbox: &Sandbox,
        settings: &ToolSettings,
        roots: impl IntoIterator<Item = PathBuf>,
        network: bool,
    ) -> io::Result<Self> {
        let access = if network { RootAccess::WriteWithNetwork } else { RootAccess::Write };
        Self::prepare_access(sandbox, settings, roots, access)
    }

    /// The same with the access to `roots` named; commands that only read write in a directory of their own alone.
    pub fn prepare_access(
        sandbox: &Sandbox,
        settings: &ToolSettings,
        roots: impl IntoIterator<Item = PathBuf>,
        access: RootAccess,
    ) -> io::Result<Self> {
        let network = access == RootAccess::WriteWithNetwork;
        let private = PrivateDirectory::create()?;
        // Variables that are not UTF-8 do not reach confined commands.
        let user_env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let roots: Vec<PathBuf> = roots.into_iter().collect();
        let mut homes = ToolchainPaths::find_existing(&user_env);
        if network {
            homes.add_name_resolution(Path::new("/"));
        }
        if let Some(root) = roots.first()
            && let Some(directory) = download_caches::cache_directory(&user_env, root)
        {
            download_caches::use_caches(&mut homes, &directory, network);
        }
        let mut profile = SandboxProfile {
            network,
            read: homes.read,
            write: homes.write,
            ..SandboxProfile::default()
        };
        profile.read.extend(settings.readable.iter().cloned());
        if access == RootAccess::Read {
            // Devices that discard or produce data stay; caches are not needed.
            profile.write.retain(|path| path.starts_with("/dev"));
            profile.read.extend(roots);
        } else {
            profile.write.extend(settings.writable.iter().cloned());
            profile.write.extend(roots);
        }
        profile.write.push(private.path().to_owned());
        let environment = environment::build_environment(
            &user_env,
            &settings.environment,
            private.path(),
            &homes.variables,
        );
        let launcher = sandbox.launcher_for(&profile)?;
        Ok(Self { environment, launcher, _private: private })
    }

    /// How its command is started.
    pub fn launch_mode(&self) -> LaunchMode {
        LaunchMode::Model { environment: self.environment.clone(), launcher: self.launcher.clone() }
    }
}
