//! Everything an agent reads from files: task types, recipes and prompts, built in or from the config directory.

use std::path::Path;
use std::sync::Arc;

use super::PromptLibrary;
use planwright_drafting::executor::{AssetSource, RecipeLibrary, TaskTypeLibrary};
use planwright_files::{self as files, FileLimit};

/// What agents are made of.
#[derive(Clone, Debug)]
pub struct AgentAssets {
    pub types: Arc<TaskTypeLibrary>,
    pub recipes: Arc<RecipeLibrary>,
    pub prompts: Arc<PromptLibrary>,
}

impl AgentAssets {
    pub fn built_in() -> Self {
        Self {
            types: Arc::new(TaskTypeLibrary::built_in()),
            recipes: Arc::new(RecipeLibrary::built_in()),
            prompts: Arc::new(PromptLibrary::built_in()),
        }
    }

    /// The built-in ones with `task_types/`, `recipes/` and `prompts/` of the config directory over them. What cannot
    /// be used is left out and told.
    pub fn load(config: &Path) -> (Self, Vec<String>) {
        let mut unreadable = Vec::new();
        let own_types = toml_files(&config.join("task_types"), &mut unreadable);
        let own_recipes = toml_files(&config.join("recipes"), &mut unreadable);
        let (types, bad_types) = TaskTypeLibrary::with_overrides(&asset_sources(&own_types));
        let (recipes, bad_recipes) = RecipeLibrary::with_overrides(&asset_sources(&own_recipes));
        let (prompts, mut troubles) = PromptLibrary::with_directory(&config.join("prompts"));
        troubles.extend(unreadable);
        troubles.extend(bad_types.iter().chain(&bad_recipes).map(ToString::to_string));
        let assets =
            Self { types: Arc::new(types), recipes: Arc::new(recipes), prompts: Arc::new(prompts) };
        (assets, troubles)
    }
}

/// The TOML files of a directory by name, in order; none where there is no directory.
fn toml_files(directory: &Path, troubles: &mut Vec<String>) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let (path, name) = (entry.path(), entry.file_name().into_string().ok()?);
            let wanted = path.extension().is_some_and(|extension| extension == "toml");
            match wanted.then(|| files::read_text(&path, FileLimit::TEMPLATE))? {
                Ok(text) => Some((name, text)),
                Err(error) => {
                    troubles.push(format!("{name}: {error}"));
                    None
                }
            }
        })
        .collect();
    found.sort();
    found
}

fn asset_sources(files: &[(String, String)]) -> Vec<AssetSource<'_>> {
    files.iter().map(|(name, text)| AssetSource { name, text }).collect()
}
