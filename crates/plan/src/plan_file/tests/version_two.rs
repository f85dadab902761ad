//! Templates, parameters, conditions and matrices of plan files, and what is wrong with them.

use super::*;
use crate::plan_file::{PlanFileInputs, parse_with_inputs};
use planwright_model::{TaskOutputSource, ValuePart};

fn read(text: &str, params: &[(&str, &str)]) -> Result<PlanFile, PlanFileError> {
    let env = |name: &str| (name == "HOME").then(|| "/home/a b".to_owned());
    let given = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let inputs = PlanFileInputs { params: given.collect(), env: &env, ..PlanFileInputs::default() };
    parse_with_inputs(text, PlanFileFormat::Toml, "plan.toml", &inputs)
}

fn command(plan: &Plan, task: usize) -> &str {
    match &plan.tasks[task].run {
        RunKind::Shell(command) => command,
        _ => panic!("no command"),
    }
}

/// Line, column, message and remedy of the one thing that is wrong.
fn wrong(text: &str, params: &[(&str, &str)]) -> (u32, u32, String, String) {
    let error = read(text, params).unwrap_err();
    let [one] = error.violations() else { panic!("{:?}", error.violations()) };
    let one = one.clone();
    (one.line.unwrap(), one.column.unwrap(), one.message, one.suggested_fix)
}

const VALUES: &str = r#"
[vars]
name = "my app"
port = 8080
file = "${{ params.version }}.tar"
[params]
version = { type = "string", required = true }
count = 3
deploy = false
[[tasks]]
id = "build"
description = "Build ${{ vars.name }} ${{ params.version }}"
run = { shell = "make '${{ vars.name }}' V=${{ params.version }} P=${{ vars.port }} F=${{vars.file}} $${{ x }}" }
cwd = "out-${{ params.count }}"
retries = "${{ params.count }}"
env = { HOME_DIR = "${{ env.HOME }}/x" }
"#;

#[test]
fn values_are_put_in_and_quoted_where_a_shell_reads_them() {
    let plan = read(VALUES, &[("version", "2.1; rm -rf /")]).unwrap().plan;
    let task = &plan.tasks[0];
    assert_eq!(task.description, "Build my app 2.1; rm -rf /");
    assert_eq!(
        command(&plan, 0),
        "make 'my app' V='2.1; rm -rf /' P=8080 F='2.1; rm -rf /.tar' ${{ x }}"
    );
    assert_eq!((task.cwd.as_str(), task.retries.as_ref().unwrap().max), ("out-3", 3));
    assert_eq!(task.env["HOME_DIR"], "/home/a b/x");
    assert_eq!(plan.params["version"], "2.1; rm -rf /");
    let again = toml(&write_toml(&plan)).unwrap().plan;
    assert_eq!(again.tasks, plan.tasks, "what was written reads back");
}

#[test]
fn parameters_are_checked_against_their_declaration() {
    let (line, column, message, fix) = wrong(VALUES, &[]);
    assert_eq!((line, column), (7, 11));
    assert_eq!(message, "`params.version` is required and has no value");
    assert_eq!(fix, "Give it on the command line: version=VALUE.");
    let (_, _, message, fix) = wrong(VALUES, &[("version", "1"), ("cuont", "2")]);
    assert_eq!(message, "the plan has no parameter `cuont`");
    assert_eq!(fix, "Did you mean count=VALUE?");
    let (line, _, message, _) = wrong(VALUES, &[("version", "1"), ("count", "many")]);
    assert_eq!((line, message.as_str()), (8, "`params.count` was given as \"many\""));
    let (_, _, message, _) = wrong(VALUES, &[("version", "${{ x")]);
    assert!(message.contains("text with ${{"), "{message}");
    for (declared, expected) in [
        ("x = 1.5", "is a number with a fraction"),
        ("x = { type = \"int\" }", "cannot be \"int\""),
        ("x = { type = \"integer\", default = \"a\" }", "is text, not a whole number"),
        ("x = { required = true, default = 1 }", "is required and has a default"),
        ("x = { required = false }", "is not required and has no default"),
        ("\"a b\" = 1", "cannot be referred to by that name"),
        ("x = []", "must be text, a whole number or true or false"),
    ] {
        let text = format!("[params]\n{declared}\n[[tasks]]\nid = \"a\"\n");
        let (line, _, message, _) = wrong(&text, &[]);
        assert!(line == 2 && message.contains(expected), "{declared}: {message}");
    }
}

#[test]
fn what_other_programs_write_is_refused_with_what_to_write_here() {
    for (line, expected) in [
        ("run = { shell = \"echo ${{ secrets.TOKEN }}\" }", "Add secrets = [\"TOKEN\"]"),
        ("run = { shell = \"echo ${{ tasks.b.status }}\" }", "Only conditions know"),
        ("run = { shell = \"echo ${{ github.sha }}\" }", "Write ${{ env.GITHUB_SHA }}."),
        ("run = { shell = [\"make\", \"make test\"] }", "as one text"),
        ("run = { shell = \"true\" }\nshell = \"bash\"", "[\"bash\", \"-euc\"]"),
        ("run = { shell = \"true\" }\nwhen = \"params.x == 1\"", "when = { if ="),
        ("run = { shell = \"true\" }\nif = \"always()\"", "when = { if ="),
        ("run = { shell = \"true\" }\nwhen = \"always()\"", "Write when = \"always\"."),
        ("run = { shell = \"true\" }\nwhen = \"${{ failure() }}\"", "Write when = \"failed\"."),
        ("run = { shell = \"true\" }\nservice = true", "service = { ready ="),
        ("run = { shell = \"true\" }\nartifacts = \"dist\"", "artifacts = [\"dist/**\"]"),
        (
            "run = { shell = \"true\" }\nmatrix = { os = [\"a\"], include = [{ os = \"b\" }] }",
            "with `exclude`",
        ),
        ("run = { shell = \"true\" }\nschedule = \"0 3 * * *\"", "not_before = "),
        ("run = { shell = \"true\" }\ntimeout-minutes = 5", "timeout = \"5m\""),
        ("steps = [{ run = \"make\" }]", "run = { shell ="),
        ("run = { shell = \"true\" }\nstrategy = { os = [\"a\"] }", "matrix = {"),
        ("run = { shell = \"true\" }\nmutex = \"db\"", "pool = \"NAME\""),
    ] {
        let text = format!("version = 2\n[[tasks]]\nid = \"a\"\n{line}\n");
        let (.., fix) = wrong(&text, &[]);
        assert!(fix.contains(expected), "{line}: {fix}");
    }
}

#[test]
fn references_that_lead_nowhere_are_refused_with_their_place() {
    for (value, expected) in [
        ("${{ vars.nam }}", "refers to the variable `nam`, which is not declared"),
        ("${{ params.x }}", "refers to the parameter `x`, which is not declared"),
        ("${{ env.NOPE }}", "refers to the environment variable NOPE, which is not set"),
        ("${{ secrets.X }}", "contains `${{ secrets.X }}`, which refers to nothing"),
        ("${{ vars.name", "contains `${{ vars.name`, which refers to nothing"),
        ("${{ matrix.os }}", "refers to the matrix value `os`, which is not declared"),
    ] {
        let text = format!(
            "[vars]\nname = \"n\"\n[[tasks]]\nid = \"a\"\nrun = {{ shell = \"echo {value}\" }}\n"
        );
        let (line, column, message, _) = wrong(&text, &[]);
        assert_eq!((line, column), (5, 17), "{message}");
        assert!(message.contains(expected), "{value}: {message}");
    }
    let unquotable = "[vars]\nv = \"a b\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"cat <<X\\n${{ vars.v }}\\nX\" }\n";
    let (_, _, message, fix) = wrong(unquotable, &[]);
    assert!(
        message.ends_with("uses `vars.v` where its value cannot be quoted safely"),
        "{message}"
    );
    assert!(fix.contains("env = { VALUE = \"${{ vars.v }}\" }"), "{fix}");
    let file = read("[[tasks]]\nid = \"a\"\nrun = { shell = \"echo '${{ github.ref }}'\" }\n", &[]);
    let file = file.unwrap();
    assert_eq!(command(&file.plan, 0), "echo '${{ github.ref }}'", "older files load unchanged");
    assert_eq!(file.warnings[0].rule, "unknown_template");
}

#[test]
fn a_variable_that_is_not_set_is_empty_text_in_a_condition() {
    let task = "version = 2\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n";
    let file = read(&format!("{task}when = {{ if = \"env.NOPE == 'true'\" }}\n"), &[]).unwrap();
    assert_eq!(file.plan.tasks[0].options.run_if, "'' == 'true'");
}

#[test]
fn what_is_wrong_after_a_matrix_is_named_by_its_place_in_the_file() {
    let text = "version = 2\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nmatrix = { x = [1, 2, 3] }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ntimeout = true\n";
    let (line, column, message, _) = wrong(text, &[]);
    assert_eq!((line, column, message.as_str()), (9, 11, "`tasks[1].timeout` is not a duration"));
}

const OUTPUTS: &str = r#"
[[tasks]]
id = "build"
run = { shell = "make" }
outputs = { path = "file:out.txt", sum = "last_line", id = "key", url = "key:URL" }
artifacts = ["dist/**"]
[[tasks]]
id = "ship"
run = { shell = "cp ${{ tasks.build.outputs.path }} \"x-${{ tasks.build.outputs.sum }}\" '${{ tasks.build.outputs.sum }}'" }
env = { WHERE = "at ${{ tasks.build.outputs.url }}", PLAIN = "$${{ x }}" }
depends_on = ["build"]
"#;

#[test]
fn outputs_reach_a_command_as_variables_and_never_as_its_text() {
    let plan = read(OUTPUTS, &[]).unwrap().plan;
    let (build, ship) = (&plan.tasks[0].options, &plan.tasks[1]);
    assert_eq!(build.outputs["url"], TaskOutputSource::Key("URL".into()));
    assert_eq!(build.outputs["path"], TaskOutputSource::File("out.txt".into()));
    assert_eq!(build.artifacts, ["dist/**"]);
    assert_eq!(
        command(&plan, 1),
        "cp \"${PLANWRIGHT_OUT_build_path}\" \"x-${PLANWRIGHT_OUT_build_sum}\" ''\"${PLANWRIGHT_OUT_build_sum}\"''"
    );
    let output = |name: &str| ValuePart::Output { task: "build".into(), name: name.into() };
    assert_eq!(ship.options.computed_env["PLANWRIGHT_OUT_build_path"], [output("path")]);
    let expected = [ValuePart::Text("at ".into()), output("url")];
    assert_eq!(ship.options.computed_env["WHERE"], expected);
    assert_eq!(ship.env["PLAIN"], "${{ x }}");
    assert_eq!(toml(&write_toml(&plan)).unwrap().plan, plan, "what was written reads back");
}

#[test]
fn outputs_and_artifacts_are_refused_with_their_place() {
    let one =
        |field: &str| format!("[[tasks]]\nid = \"a\"\nrun = {{ shell = \"true\" }}\n{field}\n");
    for (field, expected) in [
        ("outputs = { x = \"first_line\" }", "cannot be \"first_line\""),
        ("outputs = { x = \"file:../x\" }", "is not inside the workspace"),
        ("outputs = { x = \"file:/etc/passwd\" }", "is not inside the workspace"),
        ("outputs = { \"a b\" = \"last_line\" }", "cannot be referred to by that name"),
        ("artifacts = [\"/tmp/**\"]", "is not inside the workspace"),
        ("artifacts = [\"a/../../b\"]", "is not inside the workspace"),
        ("artifacts = \"dist\"", "must be a list"),
    ] {
        let (line, _, message, _) = wrong(&one(field), &[]);
        assert!(line == 4 && message.contains(expected), "{field}: {message}");
    }
    let on_agent = "[[tasks]]\nid = \"a\"\noutputs = { x = \"last_line\" }\n";
    assert!(wrong(on_agent, &[]).2.contains("has `outputs`, which is for commands"));
    for (from, to, expected) in [
        ("outputs.path }}", "outputs.pth }}", "refers to `pth`, which is no output of `build`"),
        ("tasks.build.outputs.path", "tasks.bild.outputs.path", "refers to the task `bild`"),
        ("depends_on = [\"build\"]", "", "uses an output of `build` but does not depend on it"),
        ("cp ${{", "cat <<X\\n${{", "uses an output where it cannot be quoted safely"),
    ] {
        let error = read(&OUTPUTS.replacen(from, to, 1), &[]).unwrap_err();
        let first = &error.violations()[0];
        assert!(first.message.contains(expected), "{from}: {}", first.message);
        assert!(first.line.unwrap() >= 9, "{first:?}");
    }
    let in_words = OUTPUTS.replacen(
        "depends_on",
        "description = \"${{ tasks.build.outputs.path }}\"\ndepends_on",
        1,
    );
    assert!(wrong(&in_words, &[]).2.contains("known only while the plan runs"));
}

#[test]
fn conditions_are_read_with_their_values_and_refused_with_their_place() {
    let text = |when: &str| {
        format!(
            "[params]\ndeploy = false\n[[tasks]]\nid = \"build\"\nrun = {{ shell = \"make\" }}\noutputs = {{ kind = \"last_line\" }}\n\
             [[tasks]]\nid = \"ship\"\ndepends_on = [\"build\"]\nwhen = {when}\n"
        )
    };
    let good = text("{ if = \"params.deploy and tasks.build.outputs.kind == 'full'\" }");
    let plan = read(&good, &[("deploy", "true")]).unwrap().plan;
    assert_eq!(plan.tasks[1].options.run_if, "true and (tasks.build.outputs.kind == 'full')");
    assert_eq!(toml(&write_toml(&plan)).unwrap().plan.tasks, plan.tasks);
    let braces = read(&text("{ if = \"${{ params.deploy }}\", on = \"always\" }"), &[]).unwrap();
    assert_eq!(braces.plan.tasks[1].options.run_if, "false");
    for (when, column, expected) in [
        ("{ if = \"params.deploy = true\" }", 30, "does not know the operator `=`"),
        ("{ if = \"${{ params.deploy }} == true\" }", 16, "does not know"),
        ("{ if = \"params.nope\" }", 15, "refers to the parameter `nope`"),
        ("{ if = \"params.deploy == 1\" }", 15, "compares true or false with a whole number"),
        ("{ if = \"1\" }", 15, "is a whole number, not true or false"),
        ("{ on = \"always\" }", 8, "lacks `if`"),
        ("{ if = \"true\", then = 1 }", 23, "is not a field"),
        ("\"sometimes\"", 8, "cannot be \"sometimes\""),
        ("{ if = \"tasks.build.outputs.x == 'a'\" }", 8, "refers to `x`, which is no output"),
        ("{ if = \"tasks.gone.status == 'done'\" }", 8, "refers to the task `gone`"),
        ("{ if = \"tasks.build.exit_code == 0\" }", 8, "it runs only after its success"),
    ] {
        let (line, at, message, _) = wrong(&text(when), &[]);
        assert!(message.contains(expected), "{when}: {message}");
        assert_eq!((line, at), (10, column), "{when}: {message}");
    }
}

const MATRIX: &str = r#"
[[tasks]]
id = "test"
run = { shell = "tox -e ${{ matrix.v }} ${{ matrix.os }}" }
matrix = { os = ["linux", "macos"], v = ["3.12", "3.13"], exclude = [{ os = "macos", v = "3.12" }] }
[[tasks]]
id = "report"
depends_on = ["test"]
"#;

#[test]
fn a_matrix_makes_one_task_per_combination() {
    let plan = read(MATRIX, &[]).unwrap().plan;
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["test[linux,3.12]", "test[linux,3.13]", "test[macos,3.13]", "report"]);
    assert_eq!(command(&plan, 2), "tox -e 3.13 macos");
    assert!(plan.tasks[..3].iter().all(|task| task.group == "test"));
    let on: Vec<&str> = plan.tasks[3].dependencies.iter().map(|link| link.task.as_str()).collect();
    assert_eq!(on, ids[..3]);
    assert_eq!(toml(&write_toml(&plan)).unwrap().plan, plan);
    for (from, to, expected) in [
        ("[\"linux\", \"macos\"]", "[]", "has no values"),
        ("[\"linux\", \"macos\"]", "[\"macos\", \"macos\"]", "cannot be part of an id"),
        ("[\"linux\", \"macos\"]", "[\"a,b\", \"macos\"]", "cannot be part of an id"),
        ("v = \"3.12\" }]", "v = \"3.11\" }]", "is not in the matrix"),
        ("v = [\"3.12\"", "v = [3.12", "is a number with a fraction"),
        ("matrix.os", "matrix.so", "refers to the matrix value `so`"),
        ("id = \"test\"", "", "has a matrix and no id"),
        (
            "[{ os = \"macos\", v = \"3.12\" }]",
            "[{ os = \"macos\" }, { os = \"linux\" }]",
            "leaves no combination",
        ),
    ] {
        let error = read(&MATRIX.replacen(from, to, 1), &[]).unwrap_err();
        let first = &error.violations()[0];
        assert!(first.message.contains(expected), "{to}: {}", first.message);
        assert!(first.line.is_some() && first.column.is_some());
    }
    let list = (0..40).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(",");
    let large = format!("[[tasks]]\nid = \"a\"\nmatrix = {{ x = [{list}], y = [{list}] }}\n");
    assert!(wrong(&large, &[]).2.contains("makes more than 1000 tasks"));
}

#[test]
fn a_check_goes_on_without_values_that_only_a_run_has() {
    let inputs = PlanFileInputs { needs_all: false, ..PlanFileInputs::default() };
    let file = parse_with_inputs(VALUES, PlanFileFormat::Toml, "plan.toml", &inputs).unwrap();
    assert_eq!(file.plan.params["version"], "<version>");
}

#[test]
fn secrets_services_pools_and_notifications_are_read_and_refused_with_their_place() {
    let text = r#"
notify = { on = ["failed"], cmd = ["notify-send", "x"] }
[resources]
cpu = 2
[pools]
board = { capacity = 1, scope = "machine" }
[[tasks]]
id = "db"
run = { shell = "serve" }
service = { ready = 5432, stop = "SIGINT" }
[[tasks]]
id = "a"
run = { shell = "make" }
depends_on = ["db"]
resources = { board = 1, cpu = 1 }
env_file = [".env", "more.env"]
pass_env = ["OPENAI_API_KEY"]
secrets = { T = "env:CI_T", P = { command = ["pass", "show", "p"] } }
inputs = ["src/**"]
cache = true
"#;
    let plan = read(text, &[]).unwrap().plan;
    assert_eq!(plan.machine_pools, ["board".to_owned()].into());
    assert_eq!(plan.tasks[1].options.secrets.len(), 2);
    assert_eq!(toml(&write_toml(&plan)).unwrap().plan, plan, "what was written reads back");
    for (from, to, expected) in [
        ("\"env:CI_T\"", "\"swordfish\"", "does not name where the secret comes from"),
        (
            "{ command = [\"pass\", \"show\", \"p\"] }",
            "7",
            "does not name where the secret comes from",
        ),
        ("[\"OPENAI_API_KEY\"]", "[\"A B\"]", "is not a name of a variable"),
        ("\"more.env\"", "\"../more.env\"", "is not inside the workspace"),
        ("inputs = [\"src/**\"]", "", "has `cache`, but no `inputs`"),
        ("cache = true", "", "has `inputs`, which only `cache` looks at"),
        ("ready = 5432", "ready = 70000", "is 70000, out of range"),
        ("ready = 5432", "ready = true", "is no command and no port"),
        ("ready = 5432, ", "", "lacks `ready`"),
        ("\"SIGINT\"", "\"SIGWINCH\"", "cannot be \"SIGWINCH\""),
        (
            "service = {",
            "retries = 1\nservice = {",
            "is a service, for which `retries` has no meaning",
        ),
        ("depends_on = [\"db\"]", "", "is a service that nothing depends on"),
        ("scope = \"machine\"", "scope = \"world\"", "cannot be \"world\""),
        ("capacity = 1,", "capacity = 0,", "is 0, out of range"),
        ("[\"failed\"]", "[\"fail\"]", "cannot be \"fail\""),
        ("cmd = [\"notify-send\", \"x\"]", "cmd = []", "names no program"),
        ("cpu = 2", "cpu = 2\nboard = 1", "is declared under [resources] as well"),
    ] {
        let error = read(&text.replacen(from, to, 1), &[]).unwrap_err();
        let first = &error.violations()[0];
        assert!(first.message.contains(expected), "{to}: {}", first.message);
        assert!(first.line.is_some() && first.column.is_some(), "{to}");
    }
}
