//! The plans: one for each field, as small as it can be.

use super::FieldCase;
use super::observers::{FieldObserver, PROGRAM};

pub(super) const fn case(
    field: &'static str,
    observer: FieldObserver,
    plan: &'static str,
) -> FieldCase {
    FieldCase { field, observer, plan }
}

use FieldObserver::{Agent, Checked, Kept, Paused, Program, Resumed, Shown, Together};

/// Two tasks of ten seconds that share something.
const SHARED: &str = r#"
[resources]
db = 1
[[tasks]]
id = "a"
run = { shell = "true" }
+ resources = { db = 1 }
[[tasks]]
id = "b"
run = { shell = "true" }
+ resources = { db = 1 }
"#;

pub(super) const CASES: &[FieldCase] = &[
    // Words, and what only the schedule uses: they are shown with the run, or decide what is planned.
    case(
        "Plan.title",
        Shown,
        "+ title = \"T\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n",
    ),
    case("Plan.goal", Shown, "+ goal = \"G\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n"),
    case(
        "Plan.rationale",
        Shown,
        "+ rationale = \"R\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n",
    ),
    case(
        "Task.description",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ description = \"D\"\n",
    ),
    case(
        "Task.question",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ question = \"D\"\n",
    ),
    case("Task.goal", Shown, "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ goal = \"D\"\n"),
    case(
        "Task.prompt",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ prompt = \"D\"\n",
    ),
    case(
        "Task.duration",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ duration = \"2h\"\n",
    ),
    case(
        "Task.duration_minutes",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ duration_minutes = 5\n",
    ),
    case(
        "Task.estimated_tokens",
        Checked,
        "[[tasks]]\nid = \"a\"\nrun = { agent = {} }\n+ estimated_tokens = 9000\n",
    ),
    case(
        "Task.metadata",
        Kept,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ metadata = { ticket = \"X-1\" }\n",
    ),
    case(
        "Task.owner",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ owner = \"Ann\"\n",
    ),
    case(
        "Task.fixed_end",
        Checked,
        "[calendar]\ntz = \"UTC\"\nstart = \"2026-12-01\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nduration = \"2h\"\n+ fixed_end = \"2026-12-03T12:00\"\n",
    ),
    case(
        "Task.due",
        Checked,
        "[calendar]\ntz = \"UTC\"\nstart = \"2026-12-01\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nduration = \"12h\"\n+ due = \"2026-12-01\"\n",
    ),
    case("Task.why", Shown, "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ why = \"W\"\n"),
    case(
        "Task.risks",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ risks = [\"R\"]\n",
    ),
    case(
        "Task.assumptions",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ assumptions = [\"A\"]\n",
    ),
    case(
        "Task.evidence",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ evidence = [\"E\"]\n",
    ),
    case(
        "Task.cost",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ cost = \"120 EUR\"\n",
    ),
    case(
        "Link.origin",
        Kept,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ depends_on = [{ task = \"a\", origin = \"inferred\" }]\n- depends_on = [\"a\"]\n",
    ),
    case(
        "Calendar.start",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ start = \"2031-12-03\"\n- start = \"2031-12-01\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nduration = \"1h\"\nat_scheduled_time = true\n",
    ),
    case(
        "Calendar.deadline",
        Checked,
        "[calendar]\ntz = \"UTC\"\nstart = \"2031-12-01\"\n+ deadline = \"2031-12-02\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nduration = \"40h\"\n",
    ),
    case(
        "Calendar.horizon_weeks",
        Checked,
        "[calendar]\ntz = \"UTC\"\nstart = \"2031-12-01\"\n+ horizon_weeks = 1\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nduration = \"60h\"\n",
    ),
    // What a plan says about all of its tasks.
    case(
        "Plan.version",
        PROGRAM,
        "+ version = 2\n[[tasks]]\nid = \"a\"\nrun = { shell = \"false; touch on\" }\n",
    ),
    case(
        "Plan.resources",
        Paused,
        "+ resources = { db = 1 }\n- resources = { db = 2 }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nresources = { db = 1 }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\nresources = { db = 1 }\n",
    ),
    case("Plan.calendar", Paused, LAG_WITH_CALENDAR),
    case(
        "Plan.sandbox",
        PROGRAM,
        "+ sandbox = \"workspace\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"touch inside; touch ../outside && touch out\" }\n",
    ),
    case(
        "Plan.defaults",
        PROGRAM,
        "+ defaults = { env = { X = \"1\" } }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$X > said\" }\n",
    ),
    case(
        "Plan.fail_fast",
        Paused,
        "+ fail_fast = true\n[[tasks]]\nid = \"exit\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"x\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"y\"\nrun = { shell = \"true\" }\ndepends_on = [\"x\"]\n",
    ),
    case(
        "Plan.include",
        PROGRAM,
        "+ include = [\"lib.toml\"]\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n",
    ),
    case(
        "Plan.pools",
        Paused,
        "+ pools = { db = 1 }\n- pools = { db = 2 }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nresources = { db = 1 }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\nresources = { db = 1 }\n",
    ),
    case(
        "Plan.notify",
        PROGRAM,
        "+ notify = { on = [\"end\"], cmd = [\"sh\", \"-c\", \"echo $PLANWRIGHT_EVENT > told\"] }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n",
    ),
    case(
        "Plan.vars",
        PROGRAM,
        "+ vars = { x = \"one\" }\n- vars = { x = \"two\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ${{ vars.x }} > said\" }\n",
    ),
    case(
        "Plan.params",
        PROGRAM,
        "+ params = { x = \"one\" }\n- params = { x = \"two\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ${{ params.x }} > said\" }\n",
    ),
    case(
        "Plan.tasks",
        PROGRAM,
        "+ tasks = [{ id = \"a\", run = { shell = \"touch a\" } }]\n- tasks = [{ id = \"b\", run = { shell = \"touch b\" } }]\n",
    ),
    case(
        "Plan.nodes",
        PROGRAM,
        "+ nodes = [{ id = \"a\", run = { shell = \"touch a\" } }]\n- nodes = [{ id = \"b\", run = { shell = \"touch b\" } }]\n",
    ),
    // What a task waits for.
    case("Task.resources", Paused, SHARED),
    case(
        "Task.pool",
        Paused,
        "[resources]\ndb = 1\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ pool = \"db\"\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ pool = \"db\"\n",
    ),
    case(
        "Task.depends_on",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ depends_on = [\"a\"]\n",
    ),
    case(
        "Task.dependencies",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ dependencies = [\"a\"]\n",
    ),
    case(
        "Link.task",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ depends_on = [{ task = \"a\" }]\n",
    ),
    case(
        "Link.kind",
        Paused,
        "[[tasks]]\nid = \"long\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ depends_on = [{ task = \"long\", kind = \"FF\" }]\n- depends_on = [{ task = \"long\" }]\n",
    ),
    case(
        "Link.lag",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ depends_on = [{ task = \"a\", lag = \"2m\" }]\n- depends_on = [{ task = \"a\" }]\n",
    ),
    case(
        "Link.lag_minutes",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n+ depends_on = [{ task = \"a\", lag_minutes = 2 }]\n- depends_on = [{ task = \"a\" }]\n",
    ),
    case("Link.lag_basis", Paused, LAG_BASIS),
    case("Calendar.tz", Paused, CALENDAR_ZONE),
    case("Calendar.time_zone", Paused, CALENDAR_ZONE_ALIAS),
    case("Calendar.working", Paused, CALENDAR_HOURS),
    case("Calendar.days_off", Paused, CALENDAR_DAYS_OFF),
    case("Calendar.extra_working", Paused, CALENDAR_EXTRA),
    case(
        "Task.priority",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"c\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"d\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"e\"\nrun = { shell = \"true\" }\n+ priority = 5\n",
    ),
    case("Task.tool_affinity", Paused, AFFINITY),
    case("Task.affinity", Paused, AFFINITY_ALIAS),
    case(
        "Task.at_scheduled_time",
        Paused,
        "[calendar]\ntz = \"UTC\"\nstart = \"2026-11-18\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nduration = \"30m\"\n+ at_scheduled_time = true\n",
    ),
    case(
        "Task.fixed_start",
        Paused,
        "calendar = { tz = \"UTC\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ fixed_start = \"2026-11-17T12:00\"\n",
    ),
    case(
        "Task.not_before",
        Paused,
        "calendar = { tz = \"UTC\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ not_before = \"2026-11-17T12:00\"\n",
    ),
    // Whether it runs, how often, and what its end means.
    case(
        "Task.exit_criteria",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"command\", command = \"false\" }]\n",
    ),
    case(
        "Task.criteria",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ criteria = [{ kind = \"command\", command = \"false\" }]\n",
    ),
    case(
        "Task.retries",
        Paused,
        "[[tasks]]\nid = \"flaky\"\nrun = { shell = \"true\" }\n+ retries = 1\n",
    ),
    case(
        "RetryPolicy.max",
        Paused,
        "[[tasks]]\nid = \"exit\"\nrun = { shell = \"true\" }\n+ retries = { max = 2 }\n- retries = { max = 1 }\n",
    ),
    case(
        "RetryPolicy.backoff",
        Paused,
        "[[tasks]]\nid = \"flaky\"\nrun = { shell = \"true\" }\n+ retries = { max = 1, backoff = \"7s\" }\n- retries = { max = 1 }\n",
    ),
    case(
        "RetryPolicy.factor",
        Paused,
        "[[tasks]]\nid = \"exit\"\nrun = { shell = \"true\" }\n+ retries = { max = 3, backoff = \"4s\", factor = 5 }\n- retries = { max = 3, backoff = \"4s\" }\n",
    ),
    case(
        "RetryPolicy.max_delay",
        Paused,
        "[[tasks]]\nid = \"exit\"\nrun = { shell = \"true\" }\n+ retries = { max = 4, backoff = \"40s\", max_delay = \"50s\" }\n- retries = { max = 4, backoff = \"40s\" }\n",
    ),
    case(
        "RetryPolicy.on",
        Paused,
        "[[tasks]]\nid = \"exit\"\nrun = { shell = \"true\" }\n+ retries = { max = 1, on = [\"timeout\"] }\n- retries = { max = 1 }\n",
    ),
    case(
        "Task.when",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [\"a\"]\n+ when = \"failed\"\n",
    ),
    case(
        "WhenTable.if",
        Paused,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [\"a\"]\n+ when = { if = \"true == false\" }\n- when = { if = \"true == true\" }\n",
    ),
    case(
        "WhenTable.on",
        Paused,
        "[[tasks]]\nid = \"exit\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [\"exit\"]\n+ when = { if = \"true == true\", on = \"always\" }\n- when = { if = \"true == true\" }\n",
    ),
    case(
        "Task.continue_on_error",
        Paused,
        "[[tasks]]\nid = \"exit\"\nrun = { shell = \"true\" }\n+ continue_on_error = true\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [\"exit\"]\n",
    ),
    case(
        "Task.repeat",
        Resumed,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ repeat = \"safe\"\n",
    ),
    // Which tasks there are, and which are chosen.
    case(
        "Task.id",
        PROGRAM,
        "[[tasks]]\n+ id = \"a\"\nrun = { shell = \"echo hi\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"touch second\" }\n",
    ),
    case(
        "Task.run",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\n+ run = { shell = \"touch ran\" }\n- run = { human = {} }\n",
    ),
    // What an agent that is set up does with a task is in `own_agents`; here nobody is set up.
    case(
        "Agent.with",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\n+ run = { agent = { with = \"claude\" } }\n- run = { agent = {} }\n",
    ),
    case(
        "Agent.best_of",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\n+ run = { agent = { best_of = [\"claude\", \"codex\"] } }\n- run = { agent = { with = \"claude\" } }\n",
    ),
    case(
        "Task.group",
        Program { args: &["some"], runs: 1 },
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"touch a\" }\n+ group = \"some\"\n[[tasks]]\nid = \"b\"\nrun = { shell = \"touch b\" }\n",
    ),
    case(
        "Task.tags",
        Program { args: &["--tag", "some"], runs: 1 },
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"touch a\" }\n+ tags = [\"some\"]\n[[tasks]]\nid = \"b\"\nrun = { shell = \"touch b\" }\n",
    ),
    case(
        "Task.matrix",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\n+ run = { shell = \"touch ${{ matrix.x }}\" }\n+ matrix = { x = [\"one\", \"two\"] }\n- run = { shell = \"touch one\" }\n",
    ),
    // What a command has, sees and leaves.
    case(
        "Task.timeout",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"sleep 1.5; touch late\" }\n+ timeout = \"1s\"\n",
    ),
    case(
        "Task.timeout_seconds",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"sleep 1.5; touch late\" }\n+ timeout_seconds = 1\n",
    ),
    case(
        "Task.shell",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"false; touch on\" }\n+ shell = [\"sh\", \"-euc\"]\n",
    ),
    case(
        "Task.env",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$X > said\" }\n+ env = { X = \"1\" }\n",
    ),
    case(
        "Task.cwd",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"touch here\" }\n+ cwd = \"web\"\n",
    ),
    case(
        "Task.env_file",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$FROM_FILE > said\" }\n+ env_file = \"more.env\"\n",
    ),
    case(
        "Task.pass_env",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$OPENAI_API_KEY > said\" }\n+ pass_env = [\"OPENAI_API_KEY\"]\n",
    ),
    case(
        "Task.secrets",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo hunter-two-long; echo x$PASS > said\" }\n+ secrets = { PASS = { command = [\"echo\", \"hunter-two-long\"] } }\n",
    ),
    case(
        "Task.outputs",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo one; echo two\" }\n+ outputs = { x = \"last_line\" }\n- outputs = { x = \"file:input.txt\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"echo ${{ tasks.a.outputs.x }} > said\" }\ndepends_on = [\"a\"]\n",
    ),
    case(
        "Task.artifacts",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo one > made.txt\" }\n+ artifacts = [\"made.txt\"]\n",
    ),
    case(
        "Task.inputs",
        Program { args: &[], runs: 2 },
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ran >> ran.txt; echo more >> input.txt\" }\n+ inputs = [\"input.txt\"]\n- inputs = [\"more.env\"]\ncache = true\n",
    ),
    case(
        "Task.cache",
        Program { args: &[], runs: 2 },
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ran >> ran.txt\" }\n+ inputs = [\"input.txt\"]\n+ cache = true\n",
    ),
    case(
        "Task.service",
        PROGRAM,
        "[[tasks]]\nid = \"s\"\nrun = { shell = \"touch up; sleep 2; touch ended\" }\n+ service = { ready = \"test -e up\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [\"s\"]\n",
    ),
    case(
        "Service.ready",
        PROGRAM,
        "[[tasks]]\nid = \"s\"\nrun = { shell = \"sleep 0.5; touch up; sleep 60\" }\n+ service = { ready = \"test -e up\" }\n- service = { ready = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"test ! -e up || touch was-up\" }\ndepends_on = [\"s\"]\n",
    ),
    case(
        "Service.stop",
        PROGRAM,
        "[[tasks]]\nid = \"s\"\nrun = { shell = \"trap 'touch interrupted; exit 0' INT; touch up; while :; do sleep 0.05; done\" }\n+ service = { ready = \"test -e up\", stop = \"SIGINT\" }\n- service = { ready = \"test -e up\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [\"s\"]\n",
    ),
    case(
        "Task.interactive",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"touch ran\" }\n+ interactive = true\n",
    ),
    case(
        "Task.on",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$REACHED > where\" }\n+ on = \"elsewhere\"\n",
    ),
    case(
        "Task.sandbox",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"touch inside; touch ../outside && touch out\" }\n+ sandbox = \"workspace\"\n",
    ),
    case(
        "Task.origin",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"touch ../outside && touch out\" }\n+ origin = \"ai_adaptation\"\n",
    ),
    // What all commands have.
    case(
        "Defaults.shell",
        PROGRAM,
        "[defaults]\n+ shell = [\"sh\", \"-euc\"]\n[[tasks]]\nid = \"a\"\nrun = { shell = \"false; touch on\" }\n",
    ),
    case(
        "Defaults.env",
        PROGRAM,
        "[defaults]\n+ env = { X = \"1\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$X > said\" }\n",
    ),
    case(
        "Defaults.env_file",
        PROGRAM,
        "[defaults]\n+ env_file = \"more.env\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$FROM_FILE > said\" }\n",
    ),
    case(
        "Defaults.pass_env",
        PROGRAM,
        "[defaults]\n+ pass_env = [\"OPENAI_API_KEY\"]\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$OPENAI_API_KEY > said\" }\n",
    ),
    case(
        "Defaults.secrets",
        PROGRAM,
        "[defaults]\n+ secrets = { PASS = { command = [\"echo\", \"hunter-two-long\"] } }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$PASS > said\" }\n",
    ),
    case(
        "Defaults.on",
        PROGRAM,
        "[defaults]\n+ on = \"elsewhere\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo x$REACHED > where\" }\n[[tasks]]\nid = \"b\"\non = \"here\"\nrun = { shell = \"echo x$REACHED > own\" }\n",
    ),
    case(
        "Defaults.cwd",
        PROGRAM,
        "[defaults]\n+ cwd = \"web\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"touch here\" }\n",
    ),
    case(
        "Defaults.timeout",
        PROGRAM,
        "[defaults]\n+ timeout = \"1s\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"sleep 1.5; touch late\" }\n",
    ),
    case(
        "Defaults.retries",
        Paused,
        "[defaults]\n+ retries = 1\n[[tasks]]\nid = \"flaky\"\nrun = { shell = \"true\" }\n",
    ),
    case(
        "Defaults.sandbox",
        PROGRAM,
        "[defaults]\n+ sandbox = \"workspace\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"touch inside; touch ../outside && touch out\" }\n",
    ),
    case(
        "Defaults.pool",
        Paused,
        "[resources]\ndb = 1\n[defaults]\n+ pool = \"db\"\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\n",
    ),
    // Tables of their own.
    case(
        "ParameterTable.type",
        Program { args: &["x=word"], runs: 1 },
        "[params]\n+ x = { type = \"integer\" }\n- x = { type = \"string\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ${{ params.x }} > said\" }\n",
    ),
    case(
        "ParameterTable.default",
        PROGRAM,
        "[params]\n+ x = { default = \"one\" }\n- x = { default = \"two\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ${{ params.x }} > said\" }\n",
    ),
    case(
        "ParameterTable.required",
        PROGRAM,
        "[params]\n+ x = { default = \"one\", required = true }\n- x = { default = \"one\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ${{ params.x }} > said\" }\n",
    ),
    case(
        "ParameterTable.description",
        PROGRAM,
        "[params]\n+ x = { type = \"string\", description = \"The release\" }\n- x = { type = \"string\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"echo ${{ params.x }} > said\" }\n",
    ),
    case(
        "Pool.capacity",
        Paused,
        "[pools]\n+ db = { capacity = 1 }\n- db = { capacity = 2 }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\nresources = { db = 1 }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\nresources = { db = 1 }\n",
    ),
    case(
        "Pool.scope",
        Together,
        r#"
[pools]
+ db = { capacity = 1, scope = "machine" }
- db = { capacity = 1 }
[[tasks]]
id = "a"
run = { shell = "touch in.$$; i=0; while [ $i -lt 60 ]; do [ $(ls in.* | wc -l) -gt 1 ] && touch both && break; sleep 0.05; i=$((i+1)); done; rm -f in.$$" }
resources = { db = 1 }
"#,
    ),
    case(
        "Notify.on",
        PROGRAM,
        "+ notify = { on = [\"end\"], cmd = [\"sh\", \"-c\", \"echo $PLANWRIGHT_EVENT > told\"] }\n- notify = { on = [\"failed\"], cmd = [\"sh\", \"-c\", \"echo $PLANWRIGHT_EVENT > told\"] }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n",
    ),
    case(
        "Notify.cmd",
        PROGRAM,
        "+ notify = { on = [\"end\"], cmd = [\"sh\", \"-c\", \"echo one > told\"] }\n- notify = { on = [\"end\"], cmd = [\"sh\", \"-c\", \"echo two > told\"] }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n",
    ),
    // Agents.
    case(
        "Task.tools",
        Agent,
        "[[tasks]]\nid = \"a\"\ndescription = \"Find out what notes.txt says\"\nrun = { agent = {} }\ntask_type = \"research\"\n+ tools = [\"file.read\"]\n",
    ),
    case(
        "Task.task_type",
        Agent,
        "[[tasks]]\nid = \"a\"\ndescription = \"Find out what notes.txt says\"\nrun = { agent = {} }\n+ task_type = \"research\"\n",
    ),
    case(
        "Task.agent_role",
        Agent,
        "[[tasks]]\nid = \"a\"\ndescription = \"Find out what notes.txt says\"\nrun = { agent = {} }\ntask_type = \"research\"\n+ agent_role = \"reviewer\"\n",
    ),
];

/// Without a calendar working time is the clock's.
const LAG_WITH_CALENDAR: &str = r#"
+ calendar = { tz = "UTC", working = { tue = "09:00-11:00", wed = "09:00-12:00" } }
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
depends_on = [{ task = "a", lag = "2h" }]
"#;

const LAG_BASIS: &str = r#"
calendar = { tz = "UTC", working = { tue = "09:00-11:00", wed = "09:00-12:00" } }
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
+ depends_on = [{ task = "a", lag = "2h", lag_basis = "elapsed" }]
- depends_on = [{ task = "a", lag = "2h" }]
"#;

const CALENDAR_ZONE: &str = r#"
[calendar]
+ tz = "Asia/Tokyo"
- tz = "UTC"
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
depends_on = [{ task = "a", lag = "1h" }]
"#;

const CALENDAR_ZONE_ALIAS: &str = r#"
[calendar]
+ time_zone = "Asia/Tokyo"
- time_zone = "UTC"
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
depends_on = [{ task = "a", lag = "1h" }]
"#;

const CALENDAR_HOURS: &str = r#"
[calendar]
tz = "UTC"
+ working = { tue = "09:00-11:00", wed = "09:00-12:00" }
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
depends_on = [{ task = "a", lag = "2h" }]
"#;

const CALENDAR_DAYS_OFF: &str = r#"
[calendar]
tz = "UTC"
working = { tue = "09:00-11:00", wed = "09:00-12:00", thu = "09:00-12:00" }
+ days_off = ["2026-11-18"]
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
depends_on = [{ task = "a", lag = "2h" }]
"#;

const CALENDAR_EXTRA: &str = r#"
[calendar]
tz = "UTC"
working = { tue = "09:00-11:00", wed = "09:00-12:00" }
+ extra_working = { "2026-11-17" = "09:00-20:00" }
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
depends_on = [{ task = "a", lag = "2h" }]
"#;

/// Of five tasks for four places the one whose tools fit best is not the last.
const AFFINITY: &str = r#"
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
[[tasks]]
id = "c"
run = { shell = "true" }
[[tasks]]
id = "d"
run = { shell = "true" }
[[tasks]]
id = "e"
run = { shell = "true" }
tools = ["grep"]
+ tool_affinity = { grep = 0.9 }
"#;

const AFFINITY_ALIAS: &str = r#"
[[tasks]]
id = "a"
run = { shell = "true" }
[[tasks]]
id = "b"
run = { shell = "true" }
[[tasks]]
id = "c"
run = { shell = "true" }
[[tasks]]
id = "d"
run = { shell = "true" }
[[tasks]]
id = "e"
run = { shell = "true" }
tools = ["grep"]
+ affinity = { grep = 0.9 }
"#;
