//! What surrounds a confined command: a private directory, the variables it sees, and what it may touch.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::{Homes, Launcher, PrivateDirectory, Profile, Sandbox, caches, environment};
use crate::ToolSettings;
use crate::process::Launch;

/// Lives as long as its command; the private directory goes with it.
#[derive(Debug)]
pub struct Cell {
    environment: BTreeMap<String, String>,
    /// None where nothing here can confine a command.
    pub launcher: Option<Launcher>,
    _private: PrivateDirectory,
}

impl Cell {
    /// Commands may write in `roots`, in what the settings name, and in a directory of their own.
    pub fn make(
        sandbox: &Sandbox,
        settings: &ToolSettings,
        roots: impl IntoIterator<Item = PathBuf>,
        network: bool,
    ) -> io::Result<Self> {
        let private = PrivateDirectory::make()?;
        let person: BTreeMap<String, String> = std::env::vars().collect();
        let roots: Vec<PathBuf> = roots.into_iter().collect();
        let mut homes = Homes::find(&person);
        if network {
            homes.add_name_resolution(Path::new("/"));
        }
        if let Some(root) = roots.first()
            && let Some(directory) = caches::directory_of(&person, root)
        {
            caches::use_caches(&mut homes, &directory, network);
        }
        let mut profile =
            Profile { network, read: homes.read, write: homes.write, ..Profile::default() };
        profile.read.extend(settings.readable.iter().cloned());
        profile.write.extend(settings.writable.iter().cloned());
        profile.write.extend(roots);
        profile.write.push(private.path().to_owned());
        let environment =
            environment::build(&person, &settings.environment, private.path(), &homes.variables);
        Ok(Self { environment, launcher: sandbox.launcher(&profile), _private: private })
    }

    /// How its command is started.
    pub fn launch(&self) -> Launch {
        Launch::Model { environment: self.environment.clone(), launcher: self.launcher.clone() }
    }
}
