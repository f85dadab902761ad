//! Names that identify: a one-word public type is in `docs/glossary.md`, and no two types share a name.
//!
//! Reads the sources of the workspace as syntax, without test code and without what macros generate. `.ci/names` prints the shares.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use syn::{ImplItem, Item, TraitItem, Visibility};

/// Names that mean the same thing in every crate.
const CONVENTIONAL: &[&str] = &["Error"];

/// A type and where it is.
struct FoundType {
    name: String,
    package: String,
    file: PathBuf,
    public: bool,
}

#[derive(Default)]
struct FoundNames {
    types: Vec<FoundType>,
    functions: Vec<String>,
}

#[test]
fn one_word_public_types_are_in_the_glossary() {
    let glossary = glossary_nouns();
    let missing: Vec<String> = workspace_names()
        .types
        .iter()
        .filter(|found| found.public && is_one_word(&found.name))
        .filter(|found| !glossary.contains(&found.name))
        .filter(|found| !CONVENTIONAL.contains(&found.name.as_str()))
        .map(|found| format!("{} in {}", found.name, found.file.display()))
        .collect();
    assert!(
        missing.is_empty(),
        "say which one it is, or explain the noun in docs/glossary.md:\n{}",
        missing.join("\n")
    );
}

#[test]
fn no_two_types_share_a_name() {
    let mut places: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let names = workspace_names();
    for found in &names.types {
        let place = format!("{} ({})", found.file.display(), found.package);
        places.entry(&found.name).or_default().insert(place);
    }
    let shared: Vec<String> = places
        .iter()
        .filter(|(name, places)| places.len() > 1 && !CONVENTIONAL.contains(name))
        .map(|(name, places)| format!("{name}: {places:?}"))
        .collect();
    assert!(shared.is_empty(), "{}", shared.join("\n"));
}

#[test]
fn most_names_have_more_than_one_word() {
    let names = workspace_names();
    let public: Vec<&FoundType> = names.types.iter().filter(|found| found.public).collect();
    let types = public.iter().filter(|found| is_one_word(&found.name)).count();
    let functions = names.functions.iter().filter(|name| !name.contains('_')).count();
    let distinct: BTreeSet<&str> = names.types.iter().map(|found| found.name.as_str()).collect();
    println!(
        "one-word public types   {:>5} of {:>5}, {:>4.1} %",
        types,
        public.len(),
        percent(types, public.len())
    );
    let shared = names.types.len() - distinct.len();
    println!(
        "types with a used name  {:>5} of {:>5}, {:>4.1} %",
        shared,
        names.types.len(),
        percent(shared, names.types.len())
    );
    let total = names.functions.len();
    println!(
        "one-word functions      {functions:>5} of {total:>5}, {:>4.1} %",
        percent(functions, total)
    );
    assert!(public.len() > 500 && total > 3000, "sources were not found");
    assert!(percent(types, public.len()) <= 20.0);
    assert!(percent(functions, total) <= 40.0);
}

#[test]
fn every_noun_of_the_glossary_is_a_type() {
    let names = workspace_names();
    let known: BTreeSet<&str> = names.types.iter().map(|found| found.name.as_str()).collect();
    // These two are made by a macro.
    let generated = ["Autonomy", "Tone"];
    let stale: Vec<String> = glossary_nouns()
        .into_iter()
        .filter(|noun| !known.contains(noun.as_str()) && !generated.contains(&noun.as_str()))
        .collect();
    assert!(stale.is_empty(), "no type has this name any more: {stale:?}");
}

#[test]
fn words_are_separated_by_capitals() {
    for one in ["Task", "Cli", "Seq"] {
        assert!(is_one_word(one), "{one}");
    }
    for more in ["TaskId", "ReActStep", "McpClient", "GraphPosition"] {
        assert!(!is_one_word(more), "{more}");
    }
}

fn percent(part: usize, total: usize) -> f64 {
    part as f64 * 100.0 / total.max(1) as f64
}

fn is_one_word(name: &str) -> bool {
    name.chars().filter(char::is_ascii_uppercase).count() <= 1
}

fn glossary_nouns() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let nouns: BTreeSet<String> =
        rows.filter_map(|row| row.split('`').next()).map(str::to_owned).collect();
    assert!(nouns.len() > 40, "the glossary was not found");
    nouns
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names of the whole workspace, read once for all tests.
fn workspace_names() -> &'static FoundNames {
    static NAMES: OnceLock<FoundNames> = OnceLock::new();
    NAMES.get_or_init(read_names)
}

fn read_names() -> FoundNames {
    let mut names = FoundNames::default();
    collect_file(&root().join("src/lib.rs"), "planwright", &mut names);
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let directory = entry.unwrap().path();
        let package = directory.file_name().unwrap().to_string_lossy().into_owned();
        collect_file(&directory.join("src/lib.rs"), &package, &mut names);
    }
    names
}

fn collect_file(file: &Path, package: &str, names: &mut FoundNames) {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed =
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let is_root = matches!(file.file_name().unwrap().to_str(), Some("lib.rs" | "mod.rs"));
    let directory =
        if is_root { file.parent().unwrap().to_owned() } else { file.with_extension("") };
    collect_items(&parsed.items, &directory, file, package, names);
}

fn collect_items(
    items: &[Item],
    directory: &Path,
    file: &Path,
    package: &str,
    names: &mut FoundNames,
) {
    let mut add_type = |name: &syn::Ident, visibility: &Visibility| {
        let public = !matches!(visibility, Visibility::Inherited);
        let file = file.strip_prefix(root()).unwrap().to_owned();
        let package = package.to_owned();
        names.types.push(FoundType { name: name.to_string(), package, file, public });
    };
    let mut modules = Vec::new();
    let mut functions = Vec::new();
    for item in items {
        match item {
            Item::Struct(item) if !is_left_out(&item.attrs) => add_type(&item.ident, &item.vis),
            Item::Enum(item) if !is_left_out(&item.attrs) => add_type(&item.ident, &item.vis),
            Item::Union(item) if !is_left_out(&item.attrs) => add_type(&item.ident, &item.vis),
            Item::Type(item) if !is_left_out(&item.attrs) => add_type(&item.ident, &item.vis),
            Item::Trait(item) if !is_left_out(&item.attrs) => {
                add_type(&item.ident, &item.vis);
                functions.extend(item.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(function) => Some(function.sig.ident.to_string()),
                    _ => None,
                }));
            }
            Item::Fn(item) if !is_left_out(&item.attrs) => {
                functions.push(item.sig.ident.to_string());
            }
            // Methods of a trait are named where the trait is.
            Item::Impl(item) if item.trait_.is_none() && !is_left_out(&item.attrs) => {
                functions.extend(item.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(function) if !is_left_out(&function.attrs) => {
                        Some(function.sig.ident.to_string())
                    }
                    _ => None,
                }));
            }
            Item::Mod(item) if !is_left_out(&item.attrs) => modules.push(item),
            _ => {}
        }
    }
    names.functions.extend(functions);
    for module in modules {
        let name = module.ident.to_string();
        let inside = directory.join(&name);
        if let Some((_, items)) = &module.content {
            collect_items(items, &inside, file, package, names);
        } else {
            let flat = inside.with_extension("rs");
            let file = if flat.exists() { flat } else { inside.join("mod.rs") };
            collect_file(&file, package, names);
        }
    }
}

/// Whether an item is there for tests only, or takes the place of another in a build without a feature.
fn is_left_out(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let condition = list.tokens.to_string();
        let replaces = condition.starts_with("not") && condition.contains("feature");
        list.path.is_ident("cfg") && (condition.contains("test") || replaces)
    })
}
