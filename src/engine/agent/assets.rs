//! Everything an agent reads from files: task types, recipes and prompts, built in or from the config directory.

use std::path::Path;
use std::sync::Arc;

use super::Prompts;
use crate::planning::executor::{Recipes, Source, TaskTypes};

/// What agents are made of.
#[derive(Clone, Debug)]
pub struct Assets {
    pub types: Arc<TaskTypes>,
    pub recipes: Arc<Recipes>,
    pub prompts: Arc<Prompts>,
}

impl Assets {
    pub fn built_in() -> Self {
        Self {
            types: Arc::new(TaskTypes::built_in()),
            recipes: Arc::new(Recipes::built_in()),
            prompts: Arc::new(Prompts::built_in()),
        }
    }

    /// The built-in ones with `task_types/`, `recipes/` and `prompts/` of the config directory over them. What cannot
    /// be used is left out and told.
    pub fn load(config: &Path) -> (Self, Vec<String>) {
        let (own_types, own_recipes) =
            (files(&config.join("task_types")), files(&config.join("recipes")));
        let (types, bad_types) = TaskTypes::with(&sources(&own_types));
        let (recipes, bad_recipes) = Recipes::with(&sources(&own_recipes));
        let (prompts, mut troubles) = Prompts::with_directory(&config.join("prompts"));
        troubles.extend(bad_types.iter().chain(&bad_recipes).map(ToString::to_string));
        let assets =
            Self { types: Arc::new(types), recipes: Arc::new(recipes), prompts: Arc::new(prompts) };
        (assets, troubles)
    }
}

/// The TOML files of a directory by name, in order; none where there is no directory.
fn files(directory: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let (path, name) = (entry.path(), entry.file_name().into_string().ok()?);
            let wanted = path.extension().is_some_and(|extension| extension == "toml");
            let text = wanted.then(|| std::fs::read_to_string(&path))?;
            Some((name, text.ok()?))
        })
        .collect();
    found.sort();
    found
}

fn sources(files: &[(String, String)]) -> Vec<Source<'_>> {
    files.iter().map(|(name, text)| Source { name, text }).collect()
}
