//! Fields of plan files as the whole program obeys them: each test fails when its field is ignored.

use std::process::Output;

use crate::program::Place;

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a plan without a screen.
fn run_plan(place: &Place, plan: &str, args: &[&str]) -> Output {
    let path = place.plan(plan);
    let mut all = vec!["run", &path, "--headless", "--yes"];
    all.extend(args);
    place.run(&all)
}

pub fn written(place: &Place, file: &str) -> String {
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

#[test]
fn outputs_reach_other_tasks_and_artifacts_are_kept_and_removed_with_their_session() {
    let place = Place::new();
    let plan = r#"
[[tasks]]
id = "build"
run = { shell = "mkdir -p dist; echo one > dist/a.txt; echo 'a b; touch broken' > where.txt; echo id=7 >> $PLANWRIGHT_OUTPUT; echo first; echo 'the last $line'" }
outputs = { where = "file:where.txt", id = "key", line = "last_line" }
artifacts = ["dist/**"]
[[tasks]]
id = "use"
run = { shell = "printf '%s|%s|%s' ${{ tasks.build.outputs.where }} \"${{ tasks.build.outputs.id }}\" \"$LINE\" > used.txt" }
env = { LINE = "<${{ tasks.build.outputs.line }}>" }
depends_on = ["build"]
when = { if = "tasks.build.outputs.id == '7'" }
[[tasks]]
id = "never"
run = { shell = "touch never" }
depends_on = ["build"]
when = { if = "tasks.build.outputs.id == '8'" }
"#;
    let output = run_plan(&place, plan, &["--verbose"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(written(&place, "used.txt"), "a b; touch broken|7|<the last $line>");
    assert!(!place.work().join("broken").exists() && !place.work().join("never").exists());
    let shown = text(&output.stdout);
    assert!(shown.contains("dist/a.txt"), "the trace names what is kept: {shown}");
    let session = place.sessions()[0]["id"].as_str().unwrap().to_owned();
    let kept = place.data().join("artifacts").join(&session);
    let attempt = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(attempt.join("files/dist/a.txt")).unwrap(), "one\n");
    let removed = place.run(&["sessions", "rm", &session, "--yes"]);
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
    assert!(!kept.exists());
}

#[test]
fn a_task_without_its_outputs_or_artifacts_fails() {
    for (field, expected) in [
        ("outputs = { x = \"file:none.txt\" }", "none.txt"),
        ("outputs = { x = \"key\" }", "wrote no line x="),
        ("outputs = { x = \"last_line\" }", "printed no line for its output x"),
        ("artifacts = [\"dist/*\"]", "no file matches its artifact dist/*"),
        ("artifacts = [\"link/*\"]", "leads out of the workspace"),
    ] {
        let place = Place::new();
        std::os::unix::fs::symlink("/etc", place.work().join("link")).unwrap();
        let plan = format!("[[tasks]]\nid = \"a\"\nrun = {{ shell = \"true\" }}\n{field}\n");
        let output = run_plan(&place, &plan, &[]);
        assert_eq!(output.status.code(), Some(1), "{field}");
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(shown.contains(expected), "{field}: {shown}");
    }
}

#[test]
fn variables_come_from_files_keys_are_passed_on_request_and_secrets_are_covered() {
    let place = Place::new();
    std::fs::write(place.work().join(".env"), "FROM_FILE=\"a b\"\nOVER=file\n").unwrap();
    let plan = r#"
[defaults]
env_file = ".env"
[[tasks]]
id = "show"
run = { shell = "echo \"$FROM_FILE/$OVER/$OPENAI_API_KEY/$TOKEN/$PRINTED\" > shown.txt; echo \"token is $TOKEN and $PRINTED\"" }
env = { OVER = "task" }
pass_env = ["OPENAI_API_KEY"]
secrets = { TOKEN = "env:CI_TOKEN", PRINTED = { command = ["cat", "secret.txt"] } }
[[tasks]]
id = "other"
run = { shell = "echo \"$OPENAI_API_KEY$TOKEN\" > other.txt" }
"#;
    std::fs::write(place.work().join("secret.txt"), "pearl-diver-99\n").unwrap();
    let path = place.plan(plan);
    let mut command = place.command(&["run", &path, "--headless", "--yes", "--verbose"]);
    let output = command
        .env("OPENAI_API_KEY", "sk-abcdefabcdefabcdefabcdefabcdefab")
        .env("CI_TOKEN", "swordfish-4711")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let expected = "a b/task/sk-abcdefabcdefabcdefabcdefabcdefab/swordfish-4711/pearl-diver-99\n";
    assert_eq!(written(&place, "shown.txt"), expected);
    assert_eq!(written(&place, "other.txt"), "\n", "others see neither");
    let shown = text(&output.stdout) + &text(&output.stderr);
    let kept = place.run(&["show", "last", "--trace", "--json"]);
    for secret in ["swordfish-4711", "pearl-diver-99"] {
        assert!(!shown.contains(secret) && !text(&kept.stdout).contains(secret), "{secret}");
    }
    assert!(shown.contains("token is "), "{shown}");
    let output = place.run(&["run", &path, "--headless", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "a secret without a value");
    assert!(text(&output.stderr).contains("the variable CI_TOKEN is not set"));
}

#[test]
fn a_cached_task_is_left_out_until_something_changes() {
    let place = Place::new();
    let plan = r#"
[params]
mode = "fast"
[[tasks]]
id = "build"
run = { shell = "echo built >> log.txt; cat src/*.c > out.o; echo ${{ params.mode }}" }
inputs = ["src/**"]
artifacts = ["out.o"]
outputs = { mode = "last_line" }
cache = true
[[tasks]]
id = "after"
run = { shell = "echo ${{ tasks.build.outputs.mode }} > after.txt" }
depends_on = ["build"]
"#;
    std::fs::create_dir(place.work().join("src")).unwrap();
    let source = place.work().join("src/a.c");
    std::fs::write(&source, "int a;\n").unwrap();
    let built = |args: &[&str]| {
        let output = run_plan(&place, plan, args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (written(&place, "log.txt").lines().count(), text(&output.stdout))
    };
    assert_eq!(built(&[]).0, 1);
    let (times, shown) = built(&["--verbose"]);
    assert_eq!(times, 1, "nothing changed");
    assert!(shown.contains("up to date"), "{shown}");
    assert_eq!(written(&place, "after.txt"), "fast\n", "its outputs are there");
    std::fs::remove_file(place.work().join("out.o")).unwrap();
    assert_eq!(built(&[]).0, 1);
    assert_eq!(written(&place, "out.o"), "int a;\n", "its artifacts are put back");
    assert_eq!(built(&["mode=slow"]).0, 2, "another parameter");
    std::fs::write(&source, "int b;\n").unwrap();
    assert_eq!(built(&[]).0, 3, "another input");
    assert_eq!(built(&["--no-cache"]).0, 4);
}

#[test]
fn only_an_attempt_that_met_its_criteria_is_up_to_date_and_only_while_they_are_met() {
    let place = Place::new();
    let plan = r#"
[[tasks]]
id = "load"
run = { shell = "echo ran >> log.txt; echo '{\"bad\": 0}'" }
inputs = ["in.txt"]
cache = true
exit_criteria = [
  { kind = "json_path", path = "$.bad", equals = 0 },
  { kind = "command", command = "test -e flag" },
]
"#;
    std::fs::write(place.work().join("in.txt"), "1\n").unwrap();
    let run = |code: i32| {
        let output = run_plan(&place, plan, &[]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        (written(&place, "log.txt").lines().count(), said)
    };
    assert_eq!(run(1).0, 1, "its check fails");
    assert_eq!(run(1).0, 2, "what failed its check is not up to date");
    let retried = place.run(&["resume", "last", "--headless", "--yes", "--retry", "failed"]);
    assert_eq!(retried.status.code(), Some(1));
    assert_eq!(written(&place, "log.txt").lines().count(), 3, "nor is it when it is tried again");
    std::fs::write(place.work().join("flag"), "").unwrap();
    assert_eq!(run(0).0, 4);
    let (times, said) = run(0);
    assert_eq!(times, 4, "what it printed was looked at when it ran: {said}");
    assert!(said.contains("up to date"), "{said}");
    std::fs::remove_file(place.work().join("flag")).unwrap();
    let (times, said) = run(1);
    assert_eq!(times, 5, "its check fails now, so that it runs: {said}");
    assert!(said.contains("left out as up to date, and runs now"), "{said}");
}

#[test]
fn a_criterion_about_output_names_what_is_wrong_with_it() {
    for (prints, says) in [
        ("3\\n{\"bad\": 0}", "what it printed to standard output is not one JSON value"),
        ("{\"good\": 0}", "what it printed has no such field"),
        ("{\"bad\": 5}", "its check found that $.bad in its output is not 0"),
    ] {
        let place = Place::new();
        let plan = format!(
            "[[tasks]]\nid = \"a\"\nrun = {{ shell = '''printf '{prints}' ''' }}\n\
             exit_criteria = [{{ kind = \"json_path\", path = \"$.bad\", equals = 0 }}]\n"
        );
        let output = run_plan(&place, &plan, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(says), "{says}: {}", text(&output.stderr));
    }
}

#[test]
fn an_included_file_adds_its_tasks_and_its_mistakes_are_named_with_it() {
    let place = Place::new();
    let lib = place.dir.path().join("lib.toml");
    let good = "[vars]\nname = \"lib\"\nother = \"o\"\n[[tasks]]\nid = \"setup\"\nrun = { shell = \"echo ${{ vars.name }} ${{ vars.other }} > setup.txt\" }\n";
    std::fs::write(&lib, good).unwrap();
    let plan = "include = [\"lib.toml\"]\n[vars]\nname = \"own\"\n[[tasks]]\nid = \"go\"\nrun = { shell = \"cat setup.txt > go.txt\" }\ndepends_on = [\"setup\"]\n";
    let output = run_plan(&place, plan, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(written(&place, "go.txt"), "own o\n");
    std::fs::write(&lib, good.replace("id = \"setup\"", "idd = \"setup\"")).unwrap();
    let output = run_plan(&place, plan, &[]);
    assert_eq!(output.status.code(), Some(2));
    let place_in_file = format!("planwright: {}:5:1: ", lib.display());
    assert!(text(&output.stderr).starts_with(&place_in_file), "{}", text(&output.stderr));
    std::fs::write(place.dir.path().join("../outside.toml"), good).ok();
    let output = run_plan(&place, &plan.replace("lib.toml", "../outside.toml"), &[]);
    assert_eq!(output.status.code(), Some(2));
    let _ = std::fs::remove_file(place.dir.path().join("../outside.toml"));
}

#[test]
fn only_failed_runs_what_failed_and_what_was_skipped_for_it() {
    let place = Place::new();
    let plan = r#"
[[tasks]]
id = "good"
run = { shell = "echo good >> ran.txt" }
[[tasks]]
id = "bad"
run = { shell = "echo bad >> ran.txt; test -e fixed" }
depends_on = ["good"]
[[tasks]]
id = "after"
run = { shell = "echo after >> ran.txt" }
depends_on = ["bad"]
"#;
    assert_eq!(run_plan(&place, plan, &["--only-failed"]).status.code(), Some(2), "never run");
    assert_eq!(run_plan(&place, plan, &[]).status.code(), Some(1));
    std::fs::write(place.work().join("fixed"), "").unwrap();
    let output = run_plan(&place, plan, &["--only-failed"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(written(&place, "ran.txt"), "good\nbad\nbad\nafter\n");
    assert_eq!(run_plan(&place, plan, &["--only-failed"]).status.code(), Some(2), "nothing failed");
}

#[test]
fn a_service_is_ready_before_those_that_need_it_and_ends_after_them() {
    let place = Place::new();
    let plan = |task: &str| {
        format!(
            r#"
[[tasks]]
id = "server"
run = {{ shell = "trap 'echo stopped >> log.txt; exit 0' INT; echo up >> log.txt; sleep 0.5; touch ready; while :; do sleep 0.1; done" }}
service = {{ ready = "test -e ready", stop = "SIGINT" }}
[[tasks]]
id = "use"
run = {{ shell = "test -e ready && echo used >> log.txt; {task}" }}
depends_on = ["server"]
"#
        )
    };
    let output = run_plan(&place, &plan("true"), &["--jobs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(written(&place, "log.txt"), "up\nused\nstopped\n");
    std::fs::remove_file(place.work().join("ready")).unwrap();
    let output = run_plan(&place, &plan("false"), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(written(&place, "log.txt").ends_with("up\nused\nstopped\n"), "also after a failure");
    let dead = r#"
[[tasks]]
id = "server"
run = { shell = "exit 3" }
service = { ready = 1 }
[[tasks]]
id = "use"
run = { shell = "touch never" }
depends_on = ["server"]
"#;
    let output = run_plan(&place, dead, &[]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(shown.contains("the service ended before it was ready"), "{shown}");
    assert!(!place.work().join("never").exists());
}

#[test]
fn a_pool_of_the_machine_is_shared_by_all_runs_of_a_store() {
    let place = Place::new();
    let plan = |scope: &str| {
        format!(
            r#"
[pools]
board = {{ capacity = 1, scope = "{scope}" }}
[[tasks]]
id = "a"
run = {{ shell = "mkdir busy || touch clash; sleep 1; rmdir busy" }}
resources = {{ board = 1 }}
"#
        )
    };
    let path = place.plan(&plan("machine"));
    let args = ["run", path.as_str(), "--headless", "--yes"];
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| place.run(&args).status.code())).collect();
        for run in runs {
            assert_eq!(run.join().unwrap(), Some(0));
        }
    });
    assert!(!place.work().join("clash").exists(), "both had it at once");
}

#[test]
fn somebody_is_told_when_a_run_ends_or_fails() {
    let place = Place::new();
    let plan = |command: &str| {
        format!(
            "notify = {{ on = [\"end\", \"failed\"], cmd = [\"sh\", \"-c\", \"echo $PLANWRIGHT_EVENT $PLANWRIGHT_TEXT >> told.txt\"] }}\ntitle = \"T\"\n[[tasks]]\nid = \"a\"\nrun = {{ shell = \"{command}\" }}\n"
        )
    };
    // The command is not waited for.
    let told = |lines: usize| {
        for _ in 0..100 {
            if written(&place, "told.txt").lines().count() >= lines {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        written(&place, "told.txt")
    };
    assert_eq!(run_plan(&place, &plan("true"), &[]).status.code(), Some(0));
    assert_eq!(told(1), "end T: finished\n");
    assert_eq!(run_plan(&place, &plan("false"), &[]).status.code(), Some(1));
    let mut lines: Vec<String> = told(3).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["end T: failed", "end T: finished", "failed T: failed"]);
}

#[test]
fn what_defaults_state_reaches_every_command() {
    let place = Place::new();
    std::fs::create_dir(place.work().join("web")).unwrap();
    let plan = r#"
[defaults]
shell = ["sh", "-euc"]
env = { NAME = "all" }
cwd = "web"
timeout = "2s"
retries = 1
pass_env = ["OPENAI_API_KEY"]
secrets = ["CI_TOKEN"]
[[tasks]]
id = "a"
run = { shell = "echo $NAME $OPENAI_API_KEY $CI_TOKEN > here.txt" }
[[tasks]]
id = "strict"
run = { shell = "echo try >> tries.txt; false; true" }
[[tasks]]
id = "slow"
run = { shell = "sleep 30" }
retries = 0
"#;
    let path = place.plan(plan);
    let mut command = place.command(&["run", &path, "--headless", "--yes"]);
    let output =
        command.env("OPENAI_API_KEY", "sk-one").env("CI_TOKEN", "swordfish-12").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(written(&place, "web/here.txt"), "all sk-one swordfish-12\n");
    assert_eq!(written(&place, "web/tries.txt"), "try\ntry\n", "the shell stops at an error");
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(shown.contains("stopped at its limit of 2"), "{shown}");
}
