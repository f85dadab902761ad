//! The plans of tables inside tables: criteria by what they look at, who does a task, hours of work.

use super::FieldCase;
use super::cases::case;
use super::observers::FieldObserver::{Agent, Paused, Shown};
use super::observers::PROGRAM;

pub(super) const TABLE_CASES: &[FieldCase] = &[
    // Criteria, by what they look at.
    case(
        "ExitCriterion(text).kind",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"text\", text = \"It works\" }]\n- exit_criteria = [{ kind = \"file_exists\", path = \"none\" }]\n",
    ),
    case(
        "ExitCriterion(text).text",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"text\", text = \"It works\" }]\n- exit_criteria = [{ kind = \"text\", text = \"It is fast\" }]\n",
    ),
    case(
        "ExitCriterion(text).on",
        Shown,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"text\", text = \"It is down\", on = \"failure\" }]\n- exit_criteria = [{ kind = \"text\", text = \"It is down\" }]\n",
    ),
    case(
        "ExitCriterion(file_exists).kind",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"file_exists\", path = \"false\" }]\n- exit_criteria = [{ kind = \"command\", command = \"true\" }]\n",
    ),
    case(
        "ExitCriterion(file_exists).path",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"file_exists\", path = \"none\" }]\n- exit_criteria = [{ kind = \"file_exists\", path = \"input.txt\" }]\n",
    ),
    case(
        "ExitCriterion(file_exists).on",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"file_exists\", path = \"input.txt\", on = \"failure\" }]\n- exit_criteria = [{ kind = \"file_exists\", path = \"input.txt\" }]\n",
    ),
    case(
        "ExitCriterion(command).kind",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"command\", command = \"false\" }]\n- exit_criteria = [{ kind = \"text\", text = \"It works\" }]\n",
    ),
    case(
        "ExitCriterion(command).command",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"command\", command = \"false\" }]\n- exit_criteria = [{ kind = \"command\", command = \"true\" }]\n",
    ),
    case(
        "ExitCriterion(command).on",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"command\", command = \"true\", on = \"failure\" }]\n- exit_criteria = [{ kind = \"command\", command = \"true\" }]\n",
    ),
    case(
        "ExitCriterion(json_path).kind",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo '{ \\\"n\\\": 1 }'\" }\n+ exit_criteria = [{ kind = \"json_path\", path = \"$.n\", equals = 2 }]\n- exit_criteria = [{ kind = \"command\", command = \"true\" }]\n",
    ),
    case(
        "ExitCriterion(json_path).path",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo '{ \\\"n\\\": 1 }'\" }\n+ exit_criteria = [{ kind = \"json_path\", path = \"$.m\", equals = 1 }]\n- exit_criteria = [{ kind = \"json_path\", path = \"$.n\", equals = 1 }]\n",
    ),
    case(
        "ExitCriterion(json_path).equals",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo '{ \\\"n\\\": 1 }'\" }\n+ exit_criteria = [{ kind = \"json_path\", path = \"$.n\", equals = 2 }]\n- exit_criteria = [{ kind = \"json_path\", path = \"$.n\", equals = 1 }]\n",
    ),
    case(
        "ExitCriterion(json_path).on",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo '{ \\\"n\\\": 1 }'\" }\n+ exit_criteria = [{ kind = \"json_path\", path = \"$.n\", equals = 1, on = \"failure\" }]\n- exit_criteria = [{ kind = \"json_path\", path = \"$.n\", equals = 1 }]\n",
    ),
    case(
        "ExitCriterion(judged).kind",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n+ exit_criteria = [{ kind = \"judged\", text = \"It works\" }]\n- exit_criteria = [{ kind = \"text\", text = \"It works\" }]\n",
    ),
    case(
        "ExitCriterion(judged).text",
        Agent,
        "[[tasks]]\nid = \"a\"\ndescription = \"Find out what notes.txt says\"\nrun = { agent = {} }\ntask_type = \"research\"\n+ exit_criteria = [{ kind = \"judged\", text = \"The text is known\" }]\n- exit_criteria = [{ kind = \"judged\", text = \"It is quoted\" }]\n",
    ),
    case(
        "ExitCriterion(judged).on",
        Agent,
        "[[tasks]]\nid = \"a\"\ndescription = \"Find out what notes.txt says\"\nrun = { agent = {} }\ntask_type = \"research\"\n+ exit_criteria = [{ kind = \"judged\", text = \"The text is known\", on = \"failure\" }]\n- exit_criteria = [{ kind = \"judged\", text = \"The text is known\" }]\n",
    ),
    // Who does it.
    case(
        "Run.shell",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\n+ run = { shell = \"touch one\" }\n- run = { shell = \"touch two\" }\n",
    ),
    case(
        "Run.human",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\n+ run = { human = {} }\n- run = { shell = \"true\" }\n",
    ),
    case(
        "Run.agent",
        Agent,
        "[[tasks]]\nid = \"a\"\ndescription = \"Find out what notes.txt says\"\n+ run = { agent = {} }\n- run = { shell = \"true\" }\n",
    ),
    case(
        "Agent.with",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\ndescription = \"Find out what notes.txt says\"\n+ run = { agent = { with = \"nobody\" } }\n- run = { agent = {} }\n",
    ),
    case(
        "Secret.command",
        PROGRAM,
        "[[tasks]]\nid = \"a\"\nrun = { shell = \"echo hunter-two-long; echo x$PASS > said\" }\n+ secrets = { PASS = { command = [\"echo\", \"hunter-two-long\"] } }\n- secrets = { PASS = \"CI_TOKEN\" }\n",
    ),
    // Hours of work.
    case(
        "HoursSchema.start",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { wed = { start = \"10:00\", end = \"18:00\" } }\n- working = { wed = { start = \"08:00\", end = \"18:00\" } }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "HoursSchema.end",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { wed = { start = \"08:00\", end = \"09:00\" }, thu = \"08:00-18:00\" }\n- working = { wed = { start = \"08:00\", end = \"18:00\" }, thu = \"08:00-18:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.mon",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { mon = \"01:00-23:00\" }\n- working = { tue = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.monday",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { monday = \"01:00-23:00\" }\n- working = { tue = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.tue",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { tue = \"01:00-23:00\" }\n- working = { wed = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.tuesday",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { tuesday = \"01:00-23:00\" }\n- working = { wed = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.wed",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { wed = \"01:00-23:00\" }\n- working = { thu = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.wednesday",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { wednesday = \"01:00-23:00\" }\n- working = { thu = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.thu",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { thu = \"01:00-23:00\" }\n- working = { fri = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.thursday",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { thursday = \"01:00-23:00\" }\n- working = { fri = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.fri",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { fri = \"01:00-23:00\" }\n- working = { sat = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.friday",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { friday = \"01:00-23:00\" }\n- working = { sat = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.sat",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { sat = \"01:00-23:00\" }\n- working = { sun = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.saturday",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { saturday = \"01:00-23:00\" }\n- working = { sun = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.sun",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { sun = \"01:00-23:00\" }\n- working = { mon = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
    case(
        "Week.sunday",
        Paused,
        "[calendar]\ntz = \"UTC\"\n+ working = { sunday = \"01:00-23:00\" }\n- working = { mon = \"01:00-23:00\" }\n[[tasks]]\nid = \"a\"\nrun = { shell = \"true\" }\n[[tasks]]\nid = \"b\"\nrun = { shell = \"true\" }\ndepends_on = [{ task = \"a\", lag = \"2h\" }]\n",
    ),
];
