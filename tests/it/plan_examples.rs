//! The example plans, run as a person would.

use crate::plan_file_fields::{text, written};
use crate::program::Place;

fn example(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/examples").join(name);
    path.to_string_lossy().into_owned()
}

#[test]
fn the_example_of_a_ci_pipeline_runs() {
    let place = Place::new();
    let run = |args: &[&str]| {
        let path = example("ci.toml");
        let mut all = vec!["run", &path, "--headless", "--yes", "--junit", "report.xml"];
        all.extend(args);
        place.run(&all)
    };
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("test[macos,3.13]") && !shown.contains("test[macos,3.12]"), "{shown}");
    assert!(!shown.contains("published 1.4"), "nobody asked for it: {shown}");
    assert!(!place.work().join("db.ready").exists(), "the service has ended");
    let report = written(&place, "report.xml");
    let names = quick_xml_names(&report);
    assert_eq!(names.iter().filter(|name| name.as_str() == "testcase").count(), 8, "{report}");
    let output = run(&["publish=true"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("published 1.4"));
}

/// The names of the elements of a document, which must be well formed.
fn quick_xml_names(document: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut names = Vec::new();
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("every tag is closed");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('?') || tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name.trim()), "elements are nested");
            continue;
        }
        let name = tag.split([' ', '/', '\n']).next().unwrap_or_default().to_owned();
        names.push(name.clone());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    names
}

#[test]
fn the_example_of_a_data_pipeline_repeats_only_what_changed() {
    let place = Place::new();
    let path = example("data-pipeline.toml");
    let run = || {
        let output = place.run(&["run", &path, "--headless", "--yes", "rows=4"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        written(&place, "steps.log").lines().count()
    };
    assert_eq!(run(), 2);
    assert_eq!(written(&place, "report.md"), "The total is 10.\n");
    assert_eq!(run(), 2, "nothing changed");
    std::fs::write(place.work().join("data/raw.csv"), "1\n0\n2\n").unwrap();
    assert_eq!(run(), 4);
    assert_eq!(written(&place, "report.md"), "The total is 3.\n");
    std::fs::write(place.work().join("data/raw.csv"), "1\n0\n0\n2\n").unwrap();
    assert_eq!(run(), 5, "what is cleaned is the same, so that the sum is");
}

#[test]
fn the_example_of_a_runbook_waits_for_people() {
    let place = Place::new();
    let path = example("incident.toml");
    let output = place.run(&["run", &path, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "it needs to know which service");
    let output = place.run(&["run", &path, "--headless", "--yes", "service=shop"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(written(&place, "state.txt"), "looking at shop\n");
    assert!(!place.work().join("health.txt").exists(), "nothing is done before somebody decides");
}

#[test]
fn every_plan_in_the_documentation_is_a_valid_one() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/plan-file.md")).unwrap();
    let plans: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(plans.len() >= 10, "{}", plans.len());
    let place = Place::new();
    for plan in plans {
        let output = place.run(&["check", &place.plan(plan)]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{plan}\n{said}");
        assert!(!said.contains("note[") && !said.contains("warning["), "{plan}\n{said}");
    }
}

#[test]
fn the_examples_of_a_first_plan_and_of_a_release_run() {
    let place = Place::new();
    let output = place.run(&["run", &example("hello.toml"), "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = place.run(&["run", &example("release.toml"), "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(3), "a key is for a person: {}", text(&output.stderr));
    let cyclic = place.run(&["check", &example("cyclic.toml")]);
    assert_eq!(cyclic.status.code(), Some(2), "{}", text(&cyclic.stdout));
}
