//! Prompts: what each is for, and who may replace them.

use crate::PromptLibrary;
use planwright_drafting::executor::TaskTypeLibrary;

fn text(path: &str) -> String {
    let prompts = PromptLibrary::built_in();
    let text = prompts.get(path).unwrap_or_else(|| panic!("{path}")).text.to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_prompt_names_its_duties() {
    let duties: [(&str, &[&str]); 9] = [
        (
            "agent_system.md",
            &[
                "tools only",
                "stage",
                "validator",
                "vertical",
                "horizontal",
                "taxonomy",
                "policy",
                "explore_context",
                "parallel_execute",
                "manage_todo_list",
            ],
        ),
        ("pattern_selector.md", &["pattern_type", "proposed:", "rfc", "confidence"]),
        ("roadmap_builder.md", &["estimate", "options_tried", "two or three", "chosen"]),
        ("summarizer.md", &["tokens", "keep", "data"]),
        ("brainstormer.md", &["three ideas", "differs from the first"]),
        ("option_crafter.md", &["two or three", "risk", "differs from the first"]),
        (
            "executor/task_executor.md",
            &["call_tool", "done", "escalate", "executor_decision", "data marks"],
        ),
        ("executor/subtask.md", &["1,500 characters", "task.done"]),
        (
            "planner/task_planner.md",
            &["execute", "complete", "task_type", "goals", "planner_decision"],
        ),
    ];
    for (path, words) in duties {
        let text = text(path);
        for word in words {
            assert!(text.contains(word), "{path} does not name {word}");
        }
        assert!(PromptLibrary::built_in().get(path).unwrap().version >= 1, "{path}");
    }
}

#[test]
fn the_planners_prompts_name_no_step_of_a_task_type() {
    let types = TaskTypeLibrary::built_in();
    for path in ["planner/task_planner.md", "agent_system.md"] {
        let text = text(path);
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for step in types.iter().flat_map(|kind| &kind.steps) {
            assert!(!words.contains(&step.name.as_str()), "{path} names {}", step.name);
        }
    }
}

#[test]
fn a_file_in_the_config_directory_takes_the_place_of_a_prompt() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join("roles")).unwrap();
    std::fs::write(directory.path().join("summarizer.md"), "<!-- version: 7 -->\nBe short.\n")
        .unwrap();
    std::fs::write(
        directory.path().join("roles/pirate.md"),
        "<!-- version: 1 -->\n<!-- tools: grep -->\nArr.",
    )
    .unwrap();
    let (prompts, troubles) = PromptLibrary::with_directory(directory.path());
    assert!(troubles.is_empty());
    let own = prompts.get("summarizer.md").unwrap();
    assert_eq!((own.text.as_str(), own.version), ("Be short.", 7));
    let (name, pirate) = prompts.role_prompt("pirate");
    assert_eq!((name, pirate.tools.as_deref()), ("pirate", Some(&["grep".to_owned()][..])));
    assert_eq!(prompts.role_prompt("unheard of").0, "worker");
}

#[test]
fn types_recipes_and_prompts_of_the_config_directory_are_loaded_and_troubles_told() {
    let directory = tempfile::tempdir().unwrap();
    let types = directory.path().join("task_types");
    std::fs::create_dir_all(&types).unwrap();
    let tidy =
        "name = \"tidy\"\ndescription = \"x\"\n[[steps]]\nname = \"look\"\ntools = [\"grep\"]";
    std::fs::write(types.join("tidy.toml"), tidy).unwrap();
    std::fs::write(types.join("odd.toml"), "name = 3").unwrap();
    let (assets, troubles) = crate::AgentAssets::load(directory.path());
    assert!(assets.types.get("tidy").is_some() && assets.types.get("research").is_some());
    assert_eq!(troubles.len(), 1);
    assert!(troubles[0].starts_with("odd.toml"), "{troubles:?}");
    let (plain, none) = crate::AgentAssets::load(&directory.path().join("missing"));
    assert!(none.is_empty());
    assert_eq!(*plain.prompts, PromptLibrary::built_in());
}
