//! Plans with one mistake each. The mark stands before what is refused.

use super::BadPlan;

const fn bad(
    field: &'static str,
    problem: &'static str,
    fix: &'static str,
    plan: &'static str,
) -> BadPlan {
    BadPlan { field, problem, fix, plan }
}

pub(super) const BAD_PLANS: &[BadPlan] = &[
    bad(
        "version",
        "is 3, which is newer",
        "version = 2",
        r#"
version = ¦3
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "version",
        "is 0, out of range",
        "from 1 to 2",
        r#"
version = ¦0
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "is not a field",
        "`shell`",
        r#"
version = 2
[defaults]
¦shel = ["sh"]
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "names no program",
        "bash",
        r#"
version = 2
[defaults]
shell = ¦[]
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "must be text",
        "text",
        r#"
version = 2
[defaults]
shell = ["sh", ¦3]
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[defaults]
cwd = ¦"../x"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "is not a duration",
        "90s",
        r#"
version = 2
[defaults]
timeout = ¦"soon"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "out of range",
        "from 0 to 100",
        r#"
version = 2
[defaults]
retries = ¦-1
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "which has no capacity",
        "[resources]",
        r#"
version = 2
[defaults]
pool = ¦"nowhere"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "defaults",
        "cannot be",
        "workspace",
        r#"
version = 2
[defaults]
sandbox = ¦"jail"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "env",
        "is not a name of a variable",
        "letters",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
env = { "1A" = ¦"x" }
"#,
    ),
    bad(
        "env",
        "is not a name of a variable",
        "PLANWRIGHT_",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
env = { PLANWRIGHT_OUTPUT = ¦"x" }
"#,
    ),
    bad(
        "env",
        "must be text",
        "text",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
env = { A = ¦[1] }
"#,
    ),
    bad(
        "env",
        "is for commands",
        "shell",
        r#"
version = 2
[[tasks]]
id = "a"
run = { human = {} }
env = ¦{ A = "1" }
"#,
    ),
    bad(
        "env_file",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
env_file = ¦"../x"
"#,
    ),
    bad(
        "pass_env",
        "is not a name of a variable",
        "letters",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
pass_env = [¦"a b"]
"#,
    ),
    bad(
        "cwd",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
cwd = ¦"/etc"
"#,
    ),
    bad(
        "cwd",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
cwd = ¦"a/../../b"
"#,
    ),
    bad(
        "cwd",
        "is for commands",
        "shell",
        r#"
version = 2
[[tasks]]
id = "a"
run = { human = {} }
cwd = ¦"x"
"#,
    ),
    bad(
        "timeout",
        "out of range",
        "seconds",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
timeout = ¦0
"#,
    ),
    bad(
        "timeout",
        "is not a duration",
        "90s",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
timeout = ¦"soon"
"#,
    ),
    bad(
        "retries",
        "out of range",
        "from 0 to 100",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = ¦1000
"#,
    ),
    bad(
        "retries",
        "is not a duration",
        "10s",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = { max = 1, backoff = ¦"soon" }
"#,
    ),
    bad(
        "retries",
        "out of range",
        "from 1 to 10",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = { max = 1, factor = ¦0.5 }
"#,
    ),
    bad(
        "retries",
        "cannot be",
        "exit",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = { max = 1, on = [¦"crash"] }
"#,
    ),
    bad(
        "retries",
        "names no cause",
        "remove `on`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = { max = 1, on = ¦[] }
"#,
    ),
    bad(
        "retries",
        "is shorter than the first wait",
        "max_delay",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = { max = 1, backoff = "10s", max_delay = ¦"1s" }
"#,
    ),
    bad(
        "retries",
        "lacks `max`",
        "max = 2",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = ¦{ backoff = "1s" }
"#,
    ),
    bad(
        "retries",
        "is not a field",
        "`max`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
retries = { ¦maxi = 1, max = 1 }
"#,
    ),
    bad(
        "retries",
        "is for commands",
        "shell",
        r#"
version = 2
[[tasks]]
id = "a"
run = { agent = {} }
retries = ¦2
"#,
    ),
    bad(
        "sandbox",
        "cannot be",
        "workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
sandbox = ¦"jail"
"#,
    ),
    bad(
        "pool",
        "which has no capacity",
        "[resources]",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
pool = ¦"nowhere"
"#,
    ),
    bad(
        "resources",
        "but there are only 1",
        "Lower the demand",
        r#"
version = 2
[resources]
db = 1
[[tasks]]
id = "a"
run = { shell = "touch ran" }
resources = { db = ¦2 }
"#,
    ),
    bad(
        "resources",
        "out of range",
        "from 1",
        r#"
version = 2
[resources]
db = ¦-1
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "resources",
        "as its pool and under `resources`",
        "Keep one",
        r#"
version = 2
[resources]
db = 1
[[tasks]]
id = "a"
run = { shell = "touch ran" }
pool = ¦"db"
resources = { db = 1 }
"#,
    ),
    bad(
        "pools",
        "cannot be",
        "machine",
        r#"
version = 2
[pools]
db = { capacity = 1, scope = ¦"galaxy" }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "pools",
        "out of range",
        "from 1",
        r#"
version = 2
[pools]
db = { capacity = ¦0 }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "pools",
        "lacks `capacity`",
        "capacity = 1",
        r#"
version = 2
[pools]
db = ¦{ scope = "plan" }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "pools",
        "is declared under [resources] as well",
        "once",
        r#"
version = 2
[resources]
db = 1
[pools]
db = ¦{ capacity = 1 }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "when",
        "cannot be",
        "always",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = ¦"sometimes"
"#,
    ),
    bad(
        "when",
        "ends where a value is expected",
        "condition",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = { if = "true ==¦" }
"#,
    ),
    bad(
        "when",
        "which is not declared",
        "[vars]",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = { if = ¦"vars.x == 1" }
"#,
    ),
    bad(
        "when",
        "compares text with a whole number",
        "condition",
        r#"
version = 2
[vars]
x = "1"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = { if = ¦"vars.x == 1" }
"#,
    ),
    bad(
        "when",
        "is text, not true or false",
        "condition",
        r#"
version = 2
[vars]
x = "1"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = { if = ¦"vars.x" }
"#,
    ),
    bad(
        "when",
        "which is not there",
        "id of a task",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = ¦{ if = "tasks.zz.exit_code == 0" }
"#,
    ),
    bad(
        "when",
        "which is no output of `a`",
        "outputs",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
when = ¦{ if = "tasks.a.outputs.path == 'x'" }
"#,
    ),
    bad(
        "when",
        "but it does not depend on it",
        "depends_on",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
when = ¦{ if = "tasks.a.exit_code == 0" }
"#,
    ),
    bad(
        "when",
        "cannot be",
        "success",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = { if = "true", on = ¦"maybe" }
"#,
    ),
    bad(
        "when",
        "depends on nothing",
        "depends_on",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
when = ¦"failed"
"#,
    ),
    bad(
        "vars",
        "must be text, a whole number or true or false",
        "one value",
        r#"
version = 2
[vars]
x = ¦[1]
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "vars",
        "cannot be referred to by that name",
        "letters",
        r#"
version = 2
[vars]
"a b" = ¦1
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "params",
        "cannot be",
        "integer",
        r#"
version = 2
[params]
v = { type = ¦"float" }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "params",
        "is text, not a whole number",
        "type",
        r#"
version = 2
[params]
v = { type = "integer", default = ¦"x" }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "params",
        "is required and has a default",
        "Keep one",
        r#"
version = 2
[params]
v = ¦{ required = true, default = 1 }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "params",
        "is required and has no value",
        "v=VALUE",
        r#"
version = 2
[params]
v = ¦{ required = true }
[[tasks]]
id = "a"
run = { shell = "touch ${{ params.v }}" }
"#,
    ),
    bad(
        "templates",
        "which refers to nothing",
        "vars, params",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = ¦"touch ${{ foo.x }}" }
"#,
    ),
    bad(
        "templates",
        "which refers to nothing",
        "vars, params",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = ¦"touch ${{ vars.x" }
"#,
    ),
    bad(
        "templates",
        "which is not declared",
        "[vars]",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = ¦"touch ${{ vars.x }}" }
"#,
    ),
    bad(
        "templates",
        "which is not declared",
        "[params]",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = ¦"touch ${{ params.x }}" }
"#,
    ),
    bad(
        "templates",
        "which is not declared",
        "matrix",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = ¦"touch ${{ matrix.x }}" }
"#,
    ),
    bad(
        "templates",
        "which is not set",
        "NOT_THERE",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = ¦"touch ${{ env.NOT_THERE }}" }
"#,
    ),
    bad(
        "templates",
        "which is not there",
        "id of a task",
        r#"
version = 2
[[tasks]]
id = "a"
run = ¦{ shell = "touch ${{ tasks.zz.outputs.x }}" }
"#,
    ),
    bad(
        "templates",
        "does not depend on it",
        "depends_on",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
outputs = { x = "last_line" }
[[tasks]]
id = "b"
run = ¦{ shell = "touch ${{ tasks.a.outputs.x }}" }
"#,
    ),
    bad(
        "templates",
        "cannot be quoted safely",
        "env = { VALUE",
        r#"
version = 2
[vars]
x = "a b"
[[tasks]]
id = "a"
run = { shell = ¦"cat <<E\n${{ vars.x }}\nE\ntouch ran" }
"#,
    ),
    bad(
        "matrix",
        "has no values",
        "names with lists",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
matrix = ¦{}
"#,
    ),
    bad(
        "matrix",
        "has no values",
        "Add a value",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
matrix = { os = ¦[] }
"#,
    ),
    bad(
        "matrix",
        "cannot be part of an id",
        "once",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
matrix = { os = ["a", ¦"a"] }
"#,
    ),
    bad(
        "matrix",
        "is not in the matrix",
        "name and a value",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
matrix = { os = ["a"], exclude = [{ oz = ¦"a" }] }
"#,
    ),
    bad(
        "matrix",
        "is not in the matrix",
        "name and a value",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
matrix = { os = ["a"], exclude = [{ os = ¦"b" }] }
"#,
    ),
    bad(
        "matrix",
        "leaves no combination",
        "exclude",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
matrix = { os = ["a"], exclude = ¦[{ os = "a" }] }
"#,
    ),
    bad(
        "matrix",
        "more than 1000 tasks",
        "Remove values",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
matrix = ¦{ a = [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39], b = [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39] }
"#,
    ),
    bad(
        "outputs",
        "cannot be",
        "last_line",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
outputs = { x = ¦"first_line" }
"#,
    ),
    bad(
        "outputs",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
outputs = { x = ¦"file:../x" }
"#,
    ),
    bad(
        "outputs",
        "cannot be referred to by that name",
        "letters",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
outputs = { "a b" = ¦"last_line" }
"#,
    ),
    bad(
        "outputs",
        "is for commands",
        "shell",
        r#"
version = 2
[[tasks]]
id = "a"
run = { human = {} }
outputs = ¦{ x = "last_line" }
"#,
    ),
    bad(
        "artifacts",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
artifacts = [¦"../x"]
"#,
    ),
    bad(
        "artifacts",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
artifacts = [¦"/etc/*"]
"#,
    ),
    bad(
        "artifacts",
        "is not a pattern",
        "dist/**",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
artifacts = [¦"a["]
"#,
    ),
    bad(
        "inputs",
        "is not inside the workspace",
        "below the workspace",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
inputs = [¦"../x"]
cache = true
"#,
    ),
    bad(
        "inputs",
        "which only `cache` looks at",
        "cache = true",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
inputs = ¦["x"]
"#,
    ),
    bad(
        "cache",
        "no `inputs` that could change",
        "inputs",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
cache = ¦true
"#,
    ),
    bad(
        "group",
        "is blank",
        "one line",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
group = ¦""
"#,
    ),
    bad(
        "tags",
        "must be text",
        "text",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
tags = [¦3]
"#,
    ),
    bad(
        "include",
        "which cannot be read",
        "below its directory",
        r#"
version = 2
include = [¦"nowhere.toml"]
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "include",
        "which cannot be read",
        "below its directory",
        r#"
version = 2
include = [¦"../config.toml"]
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "interactive",
        "does not go with `service`",
        "Remove `service`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
interactive = ¦true
service = { ready = "true" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "interactive",
        "does not go with `cache`",
        "Remove `cache`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
interactive = ¦true
cache = true
inputs = ["x"]
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "interactive",
        "does not go with `sandbox`",
        "Remove `sandbox`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
interactive = ¦true
sandbox = "workspace"
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "on",
        "names an executor that is not set up, \"cluster\"",
        "[executors.cluster]",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
on = ¦"cluster"
"#,
    ),
    bad(
        "interactive",
        "is for commands",
        "shell",
        r#"
version = 2
[[tasks]]
id = "a"
run = { human = {} }
interactive = ¦true
"#,
    ),
    bad(
        "service",
        "lacks `ready`",
        "command that succeeds",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = ¦{}
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "service",
        "cannot be",
        "SIGTERM",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = { ready = "true", stop = ¦"SIGFOO" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "service",
        "out of range",
        "65535",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = { ready = ¦70000 }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "service",
        "for which `retries` has no meaning",
        "Remove `retries`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = { ready = "true" }
retries = ¦2
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "service",
        "for which `outputs` has no meaning",
        "Remove `outputs`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = { ready = "true" }
outputs = ¦{ x = "last_line" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "service",
        "for which `artifacts` has no meaning",
        "Remove `artifacts`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = { ready = "true" }
artifacts = ¦["x"]
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "service",
        "for which `exit_criteria` has no meaning",
        "Remove `exit_criteria`",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = { ready = "true" }
exit_criteria = ¦[{ kind = "file_exists", path = "x" }]
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "service",
        "that nothing depends on",
        "depends_on",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = ¦{ ready = "true" }
"#,
    ),
    bad(
        "continue_on_error",
        "does not fail by itself",
        "continue_on_error",
        r#"
version = 2
[[tasks]]
id = "a"
run = { human = {} }
continue_on_error = ¦true
"#,
    ),
    bad(
        "notify",
        "cannot be",
        "question",
        r#"
version = 2
notify = { on = [¦"never"], cmd = ["x"] }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "notify",
        "lacks `cmd`",
        "cmd",
        r#"
version = 2
notify = ¦{ on = ["end"] }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "notify",
        "names no program",
        "program",
        r#"
version = 2
notify = { cmd = ¦[] }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "secrets",
        "does not name where the secret comes from",
        "env:NAME",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
secrets = { TOKEN = ¦"hunter2hunter2" }
"#,
    ),
    bad(
        "secrets",
        "must be a list",
        "list",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
secrets = { T = { command = ¦"pass" } }
"#,
    ),
    bad(
        "secrets",
        "is not a name of a variable",
        "letters",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
secrets = [¦"a b"]
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
secrets = { TOKEN = ¦"ghp_abcdefghijklmnopqrstuvwxyz0123456789" }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
env = { TOKEN = ¦"ghp_abcdefghijklmnopqrstuvwxyz0123456789" }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = ¦"touch ran; curl ghp_abcdefghijklmnopqrstuvwxyz0123456789" }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[vars]
t = ¦"ghp_abcdefghijklmnopqrstuvwxyz0123456789"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[params]
t = ¦"ghp_abcdefghijklmnopqrstuvwxyz0123456789"
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[defaults]
env = { TOKEN = ¦"ghp_abcdefghijklmnopqrstuvwxyz0123456789" }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
notify = { cmd = ["curl", ¦"ghp_abcdefghijklmnopqrstuvwxyz0123456789"] }
[[tasks]]
id = "a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
secrets = { T = { command = ["echo", ¦"ghp_abcdefghijklmnopqrstuvwxyz0123456789"] } }
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
exit_criteria = [{ kind = "command", command = ¦"echo ghp_abcdefghijklmnopqrstuvwxyz0123456789" }]
"#,
    ),
    bad(
        "secrets",
        "holds what looks like a secret",
        "Keep it out of the plan",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
service = { ready = ¦"curl ghp_abcdefghijklmnopqrstuvwxyz0123456789" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "links",
        "is not a lag",
        "30m",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = [{ task = "a", lag = ¦"soon" }]
"#,
    ),
    bad(
        "links",
        "cannot be",
        "FS",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = [{ task = "a", kind = ¦"XX" }]
"#,
    ),
    bad(
        "links",
        "cannot be",
        "elapsed",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = [{ task = "a", lag_basis = ¦"moon" }]
"#,
    ),
    bad(
        "links",
        "wait for each other",
        "Remove one",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
depends_on = [¦"b"]
[[tasks]]
id = "b"
run = { shell = "touch ran" }
depends_on = ["a"]
"#,
    ),
    bad(
        "links",
        "there is no task zz",
        "--allow-missing",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
depends_on = [¦"zz"]
"#,
    ),
    bad(
        "criteria",
        "cannot be",
        "file_exists",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
exit_criteria = [{ kind = ¦"magic" }]
"#,
    ),
    bad(
        "criteria",
        "lacks `equals`",
        "equals",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
exit_criteria = [¦{ kind = "json_path", path = "$.x" }]
"#,
    ),
    bad(
        "times",
        "but the plan has no calendar",
        "calendar",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
at_scheduled_time = ¦true
"#,
    ),
    bad(
        "times",
        "not a valid date",
        "2026",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
not_before = ¦"someday"
"#,
    ),
    bad(
        "ids",
        "is used twice",
        "a-2",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
[[tasks]]
id = ¦"a"
run = { shell = "touch ran" }
"#,
    ),
    bad(
        "names",
        "`tasks[0].if` is not a field",
        "when = { if",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
¦if = "x"
"#,
    ),
    bad(
        "names",
        "`tasks[0].needs` is not a field",
        "depends_on",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
¦needs = "x"
"#,
    ),
    bad(
        "names",
        "`tasks[0].cmd` is not a field",
        "run = { shell",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
¦cmd = "x"
"#,
    ),
    bad(
        "names",
        "`tasks[0].dir` is not a field",
        "cwd",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
¦dir = "x"
"#,
    ),
    bad(
        "names",
        "`tasks[0].finally` is not a field",
        "always",
        r#"
version = 2
[[tasks]]
id = "a"
run = { shell = "touch ran" }
¦finally = "x"
"#,
    ),
    bad(
        "names",
        "exactly one way to run",
        "shell",
        r#"
version = 2
[[tasks]]
id = "a"
run = ¦"touch ran"
"#,
    ),
];
