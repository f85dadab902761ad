//! The parts of a prompt and how many tokens each one may use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::task_type::{AssetError, AssetSource};

/// A part of a prompt that is always included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptFragment {
    pub path: String,
    pub max_tokens: u64,
}

/// Information about the current task in the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputDoc {
    pub path: String,
    #[serde(default)]
    pub optional: bool,
    pub max_tokens: u64,
    pub path_type: PathType,
}

/// The source of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathType {
    /// Created for each turn.
    Turn,
}

/// The number of tokens that each part may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBudget {
    pub total: u64,
    pub prompt: u64,
    pub input_docs: u64,
    pub output: u64,
    pub buffer: u64,
}

/// How a prompt is assembled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub name: String,
    pub role: String,
    pub phase: String,
    pub prompt_fragments: Vec<PromptFragment>,
    pub input_docs: Vec<InputDoc>,
    pub token_budget: TokenBudget,
    pub description: String,
}

impl Recipe {
    fn check_budget(&self) -> Result<(), String> {
        let budget = self.token_budget;
        let parts = budget.prompt + budget.input_docs + budget.output + budget.buffer;
        if parts != budget.total {
            return Err(format!("the parts add up to {parts}, the total says {}", budget.total));
        }
        let fragments: u64 = self.prompt_fragments.iter().map(|part| part.max_tokens).sum();
        if fragments > budget.prompt {
            return Err(format!("the fragments may use {fragments} of {} tokens", budget.prompt));
        }
        Ok(())
    }
}

/// Recipes by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeLibrary(BTreeMap<String, Recipe>);

/// The recipe that is used if a task type names one that does not exist.
pub const DEFAULT_RECIPE: &str = "task_executor";

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        [$(AssetSource {
            name: concat!($name, ".toml"),
            text: include_str!(concat!("../../../../assets/recipes/", $name, ".toml")),
        }),+]
    };
}

const BUILT_IN: [AssetSource<'static>; 4] =
    built_in!("task_executor", "code_executor", "task_planner", "subtask");

impl RecipeLibrary {
    pub fn built_in() -> Self {
        let (recipes, errors) = Self::with_overrides(&[]);
        debug_assert!(errors.is_empty(), "{errors:?}");
        recipes
    }

    /// Returns the built-in recipes with overrides. A file with an error is skipped and reported.
    pub fn with_overrides(own: &[AssetSource<'_>]) -> (Self, Vec<AssetError>) {
        let mut recipes = BTreeMap::new();
        let mut errors = Vec::new();
        for source in BUILT_IN.iter().chain(own) {
            let read = toml::from_str::<Recipe>(source.text)
                .map_err(|error| error.message().to_owned())
                .and_then(|recipe| recipe.check_budget().map(|()| recipe));
            match read {
                Ok(recipe) => {
                    recipes.insert(recipe.name.clone(), recipe);
                }
                Err(message) => errors.push(AssetError { file: source.name.to_owned(), message }),
            }
        }
        (Self(recipes), errors)
    }

    pub fn get(&self, name: &str) -> Option<&Recipe> {
        self.0.get(name)
    }

    /// Returns the recipe with a name, or the default one.
    pub fn get_or_default(&self, name: &str) -> &Recipe {
        self.get(name)
            .or_else(|| self.get(DEFAULT_RECIPE))
            .expect("the built-in recipes hold the usual one and cannot be taken away")
    }
}

/// A part that was shortened to fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactedPart {
    pub part: String,
    pub tokens: u64,
    pub kept: u64,
}

/// Keeps the beginning and the end of a text within a number of tokens, as counted by `count`.
pub fn compact_text(text: &str, most: u64, count: impl Fn(&str) -> u64) -> Option<String> {
    let all = count(text);
    if all <= most {
        return None;
    }
    let letters: Vec<char> = text.chars().collect();
    let mut keep = (letters.len() as u64).saturating_mul(most) / all.max(1);
    loop {
        let head = (keep * 3 / 4) as usize;
        let tail = (keep / 4) as usize;
        let cut: String = letters[..head]
            .iter()
            .copied()
            .chain("\n… [shortened] …\n".chars())
            .chain(letters[letters.len() - tail..].iter().copied())
            .collect();
        if keep == 0 || count(&cut) <= most {
            return Some(if keep == 0 { String::new() } else { cut });
        }
        keep = keep * 9 / 10;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> u64 {
        text.chars().count().div_ceil(4) as u64
    }

    #[test]
    fn the_recipe_of_the_task_executor_has_its_budget() {
        let budget = RecipeLibrary::built_in().get_or_default("task_executor").token_budget;
        let parts = (budget.total, budget.prompt, budget.input_docs, budget.output, budget.buffer);
        assert_eq!(parts, (3500, 800, 1500, 500, 700));
    }

    #[test]
    fn a_recipe_whose_parts_do_not_add_up_is_skipped() {
        let text = include_str!("../../../../assets/recipes/task_executor.toml")
            .replace("total = 3500", "total = 3501");
        let (recipes, errors) =
            RecipeLibrary::with_overrides(&[AssetSource { name: "own.toml", text: &text }]);
        assert_eq!(errors.len(), 1);
        assert!(errors[0].to_string().contains("add up to 3500"));
        assert_eq!(recipes, RecipeLibrary::built_in());
    }

    proptest! {
        #[test]
        fn shortened_text_fits(text in "\\PC{0,600}", most in 0u64..200) {
            match compact_text(&text, most, words) {
                None => prop_assert!(words(&text) <= most),
                Some(cut) => prop_assert!(words(&cut) <= most),
            }
        }
    }
}
