//! Fields of plan files as the whole program obeys them: each test fails when its field is ignored.

use std::process::Output;

use crate::program::Place;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a plan without a screen.
fn run_plan(place: &Place, plan: &str, args: &[&str]) -> Output {
    let path = place.plan(plan);
    let mut all = vec!["run", &path, "--headless", "--yes"];
    all.extend(args);
    place.run(&all)
}

fn written(place: &Place, file: &str) -> String {
    std::fs::read_to_string(place.work().join(file)).unwrap_or_default()
}

const VALUES: &str = r#"
[vars]
greeting = "hello $HOME; touch broken"
[params]
version = { type = "string", required = true }
loud = false
[[tasks]]
id = "say"
run = { shell = "printf '%s|%s|%s\n' ${{ vars.greeting }} \"${{ params.version }}\" '${{ env.USED }}' > said.txt" }
[[tasks]]
id = "shout"
run = { shell = "touch shouted" }
depends_on = ["say"]
when = { if = "params.loud" }
"#;

#[test]
fn vars_params_and_env_are_values_and_never_code() {
    let place = Place::new();
    let path = place.plan(VALUES);
    let run = |version: &str, loud: &str| {
        let args = ["run", &path, "--headless", "--yes", version, loud];
        place.command(&args).env("USED", "it's `id`").output().unwrap()
    };
    let output = run("version=2.1 $(touch broken)\"", "loud=false");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let expected = "hello $HOME; touch broken|2.1 $(touch broken)\"|it's `id`\n";
    assert_eq!(written(&place, "said.txt"), expected);
    assert!(!place.work().join("broken").exists());
    assert!(!place.work().join("shouted").exists(), "its condition is false");
    let output = run("version=3", "loud=true");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(place.work().join("shouted").exists());
}

#[test]
fn a_parameter_without_a_value_or_with_a_wrong_one_stops_the_run_before_it_begins() {
    let place = Place::new();
    let output = run_plan(&place, VALUES, &[]);
    assert_eq!(output.status.code(), Some(2));
    let shown = text(&output.stderr);
    assert!(shown.contains("plan.toml:5:11") && shown.contains("version=VALUE"), "{shown}");
    let output = run_plan(&place, VALUES, &["version=1", "loud=maybe"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`params.loud` was given as \"maybe\""));
    assert!(!place.data().join("planwright.db").exists() || place.sessions().is_empty());
    let path = place.plan(VALUES);
    let checked = place.command(&["check", &path]).env("USED", "x").output().unwrap();
    assert_eq!(
        checked.status.code(),
        Some(0),
        "a check needs no values: {}",
        text(&checked.stdout)
    );
    let output = place.run(&["check", &path, "verion=1"]);
    assert!(text(&output.stdout).contains("Did you mean version=VALUE?"));
}

#[test]
fn a_matrix_runs_one_task_per_combination_and_can_be_chosen_as_a_group() {
    let place = Place::new();
    let plan = r#"
[[tasks]]
id = "test"
run = { shell = "echo ${{ matrix.os }}-${{ matrix.v }} >> ran.txt" }
matrix = { os = ["linux", "macos"], v = ["3.12", "3.13"], exclude = [{ os = "macos", v = "3.12" }] }
[[tasks]]
id = "report"
run = { shell = "sort ran.txt > report.txt" }
depends_on = ["test"]
[[tasks]]
id = "other"
run = { shell = "touch other" }
"#;
    let output = run_plan(&place, plan, &["report"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(written(&place, "report.txt"), "linux-3.12\nlinux-3.13\nmacos-3.13\n");
    assert!(!place.work().join("other").exists());
    std::fs::remove_file(place.work().join("ran.txt")).unwrap();
    let output = run_plan(&place, plan, &["test[macos,3.13]"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(written(&place, "ran.txt"), "macos-3.13\n");
    let output = run_plan(&place, plan, &["test"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(written(&place, "ran.txt").lines().count(), 4, "the group has all of them");
}
