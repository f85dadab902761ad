//! Plans as agents write them, what becomes of their steps, and texts that nobody means well with.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use planwright_model::{NodeOrigin, RunKind};

fn markdown(text: &str) -> SubmittedText<'_> {
    SubmittedText { title: "", format: SubmissionFormat::Markdown, text }
}

fn read(text: &str) -> ReadSubmission {
    read_submission(markdown(text), None).unwrap()
}

/// `id[group] <- what it waits for` for every step.
fn steps(read: &ReadSubmission) -> Vec<String> {
    let line = |task: &planwright_model::TaskNode| {
        let after: Vec<&str> = task.dependencies.iter().map(|link| link.task.as_str()).collect();
        let group = if task.group.is_empty() { String::new() } else { format!("[{}]", task.group) };
        format!("{}{group} <- {}", task.id, after.join(" ")).trim_end().to_owned()
    };
    read.plan.tasks.iter().map(line).collect()
}

fn revise(text: &str, before: &ReadSubmission) -> ReadSubmission {
    let used_ids: BTreeSet<TaskId> = before.plan.tasks.iter().map(|task| task.id.clone()).collect();
    let before = EarlierRevision { plan: &before.plan, used_ids: &used_ids };
    read_submission(markdown(text), Some(before)).unwrap()
}

const DARK_MODE: &str = "\
# Add a dark mode

## Context
The app has one theme.
- `src/App.tsx` reads colors
- no store yet

## Implementation
1. **Create the theme store** in `src/theme.ts`
   - keep the choice in local storage

   ```ts
   1. not a step
   ```
2. Use it in `App.tsx`

## Verification
- Run `npm test`
- Look at both themes @me
";

#[test]
fn the_steps_of_an_agents_plan_are_found_among_its_notes() {
    let read = read(DARK_MODE);
    assert_eq!(read.plan.title, "Add a dark mode");
    assert_eq!(
        steps(&read),
        [
            "create-the-theme-store-in-src-theme-ts[Implementation] <-",
            "use-it-in-app-tsx[Implementation] <- create-the-theme-store-in-src-theme-ts",
            "run-npm-test[Verification] <- use-it-in-app-tsx",
            "look-at-both-themes[Verification] <- use-it-in-app-tsx",
        ]
    );
    let first = &read.plan.tasks[0];
    assert_eq!(first.description, "Create the theme store in src/theme.ts");
    let details = first.metadata[DETAILS_FIELD].as_str().unwrap();
    assert_eq!(details, "- keep the choice in local storage\n\n```ts\n1. not a step\n```");
    assert!(read.plan.tasks.iter().all(|task| task.origin == NodeOrigin::AiAdaptation));
    assert_eq!(read.plan.tasks[3].run, RunKind::Human {});
    let lines: Vec<(u32, u32)> =
        read.node_lines.iter().map(|lines| (lines.first, lines.last)).collect();
    assert_eq!(lines, [(9, 14), (15, 15), (18, 18), (19, 19)]);
    assert_eq!(read.findings, []);
}

#[test]
fn numbered_headings_are_steps_and_what_is_below_them_their_details() {
    let text =
        "# Port it\n## Overview\ntext\n### Step 1: Read\n- a\n- b\n### Step 2: Write\n1. c\n";
    let read = read(text);
    assert_eq!(steps(&read), ["read <-", "write <- read"]);
    assert_eq!(read.plan.tasks[0].metadata[DETAILS_FIELD], "- a\n- b");
    assert_eq!(read.node_lines[1], NodeLines { node: "write".into(), first: 7, last: 8 });
}

#[test]
fn checkboxes_headings_and_plain_text_are_read_too() {
    let boxes = read("- [ ] Pack\n  - [ ] Books\n  - [x] Kitchen\n- note\n- [ ] Clean @me\n");
    assert_eq!(steps(&boxes), ["pack <- books", "books <-", "clean <-"]);
    assert_eq!(boxes.normalization[0].code, "already_done");
    let headings = read("## Build\nwith make\n## Ship\n## Notes\n");
    assert_eq!(steps(&headings), ["build <-", "ship <- build"]);
    let words = read("Rename the flag everywhere.\nThen run the tests.\n");
    assert_eq!(words.plan.tasks[0].description, "Rename the flag everywhere.");
    assert_eq!(words.findings[0].rule, "no_steps");
    assert_eq!(words.plan.title, "Submitted plan");
    // A plan that is only notes is still a plan.
    assert_eq!(steps(&read("## Notes\n- a\n- b\n")), ["a <-", "b <-"]);
}

#[test]
fn a_given_title_goes_before_the_heading() {
    let submitted = SubmittedText { title: " Dark \u{1b}[1mmode ", ..markdown(DARK_MODE) };
    assert_eq!(read_submission(submitted, None).unwrap().plan.title, "Dark mode");
}

#[test]
fn steps_keep_their_ids_while_they_say_nearly_the_same() {
    let first =
        read("1. Build the parser\n2. Test the parser with the corpus\n3. Write the docs\n");
    let next = revise(
        "1. Read the grammar\n2. Build the parser in Rust\n3. Test the parser with the whole corpus\n",
        &first,
    );
    assert_eq!(
        steps(&next),
        [
            "read-the-grammar <-",
            "build-the-parser <- read-the-grammar",
            "test-the-parser-with-the-corpus <- build-the-parser",
        ]
    );
    assert_eq!(next.node_lines[1].node, "build-the-parser".into());
    // The same text gives the same plan, to the byte.
    let again = revise(
        "1. Build the parser\n2. Test the parser with the corpus\n3. Write the docs\n",
        &first,
    );
    assert_eq!(again, first);
}

#[test]
fn an_id_of_an_earlier_revision_is_never_given_to_another_step() {
    let first = read("1. Build\n2. Ship\n");
    let mut used: BTreeSet<TaskId> = first.plan.tasks.iter().map(|task| task.id.clone()).collect();
    used.insert("deploy".into());
    let before = EarlierRevision { plan: &first.plan, used_ids: &used };
    let next = read_submission(markdown("1. Build\n2. Deploy\n"), Some(before)).unwrap();
    assert_eq!(next.plan.tasks[1].id, "deploy-2".into());
    // Steps of one title stay apart.
    let twice = read("1. Test\n2. Build\n3. Test\n");
    let turned = revise("1. Test\n2. Test\n3. Build\n", &twice);
    let ids: Vec<&str> = turned.plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["test", "test-2", "build"]);
}

#[test]
fn a_plan_file_brings_nothing_of_this_machine_along() {
    let text = r#"
version = 2
title = "Deploy"
notify = { on = ["failed"], cmd = ["curl", "https://example.org"] }
[[tasks]]
id = "build"
description = "Build"
run = { shell = "make ${{ env.HOME }}" }
"#;
    let toml = |text| SubmittedText { title: "", format: SubmissionFormat::Toml, text };
    let refused = read_submission(toml(text), None).unwrap_err();
    assert!(matches!(refused, SubmissionError::Invalid { .. }), "{refused:?}");
    let text = text.replace(" ${{ env.HOME }}", "")
        + "pass_env = [\"TOKEN\"]\nsecrets = { KEY = \"env:KEY\" }\n";
    let read = read_submission(toml(&text), None).unwrap();
    assert_eq!(read.plan.notify, None);
    let task = &read.plan.tasks[0];
    assert!(task.options.pass_env.is_empty() && task.options.secrets.is_empty());
    assert_eq!(task.origin, NodeOrigin::AiAdaptation);
    let left_out: Vec<&str> =
        read.normalization.iter().map(|change| change.code.as_str()).collect();
    assert_eq!(left_out, ["left_out"; 3]);
    assert_eq!(read.node_lines[0].first, 6);
}

#[test]
fn what_a_person_cannot_read_is_refused_with_a_reason() {
    let large = "- x\n".repeat(MAX_SUBMISSION_BYTES / 2);
    let refused = read_submission(markdown(&large), None).unwrap_err();
    assert_eq!(
        refused,
        SubmissionError::TooLarge { bytes: large.len(), limit: MAX_SUBMISSION_BYTES }
    );
    let many = "- x\n".repeat(MAX_SUBMITTED_STEPS + 1);
    let refused = read_submission(markdown(&many), None).unwrap_err();
    assert!(refused.to_string().contains("2001 steps"), "{refused}");
    assert_eq!(read_submission(markdown(" \n\t"), None).unwrap_err(), SubmissionError::Empty);
    assert!(read_submission(markdown("- [x] done\n"), None).is_err());
}

#[test]
fn hostile_nesting_is_read_without_end_or_harm() {
    let size = MAX_SUBMISSION_BYTES / 4;
    let texts = [
        "> ".repeat(size),
        "- ".repeat(size),
        "[".repeat(size),
        "* a\n ".repeat(size / 8),
        "`".repeat(size),
        "<div>".repeat(size / 8),
        "# ".repeat(size),
        "|a".repeat(size),
        (0..400).flat_map(|depth| ["  ".repeat(depth), "- [ ] x\n".to_owned()]).collect(),
        "\u{202e}\u{1b}]0;x\u{7}\u{9b}31m\n".repeat(100),
    ];
    for text in texts {
        if let Ok(read) = read_submission(markdown(&text), None) {
            for task in &read.plan.tasks {
                let shown = &task.description;
                assert!(shown.chars().count() <= MAX_TITLE_CHARS, "{}", shown.len());
                assert!(!shown.contains(char::is_control), "{shown:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_its_lines_are_its_own(text in "([-#*>0-9. \\[\\]x`a-z\n]{0,12}){0,40}") {
        if let Ok(read) = read_submission(markdown(&text), None) {
            let count = text.lines().count() as u32;
            for lines in &read.node_lines {
                prop_assert!(lines.first >= 1 && lines.first <= lines.last && lines.last <= count.max(1));
            }
            let ids: BTreeSet<&TaskId> = read.plan.tasks.iter().map(|task| &task.id).collect();
            prop_assert_eq!(ids.len(), read.plan.tasks.len());
            let again = revise(&text, &read);
            prop_assert_eq!(again, read);
        }
    }
}
