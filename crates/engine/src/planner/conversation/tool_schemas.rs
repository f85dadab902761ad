//! The tools that a model sees in each stage of planning, with the shape of their arguments.

use serde_json::{Value, json};

use planwright_drafting::agent_messages::ideas_shown;
use planwright_model::agent_conversation::ConversationTool;
use planwright_model::{BrainstormingPreference, InteractionPolicy, PatternType, PlanState};

/// Asks the person.
pub(super) const ELICIT: &str = "ContextElicitor";
pub(super) const FACT: &str = "record_fact";
pub(super) const PATTERN: &str = "PatternSelector";
pub(super) const NODES: &str = "NodeGenerator";
pub(super) const LINKS: &str = "DependencyResolver";
pub(super) const ROADMAP: &str = "RoadmapBuilder";
pub(super) const SCHEDULE: &str = "ScheduleGenerator";
pub(super) const VALIDATE: &str = "GrammarValidator";
/// Shows ideas to the person.
pub(super) const IDEAS: &str = "Brainstormer";
pub(super) const OPTIONS: &str = "OptionCrafter";
/// Asks the person once how they like their days.
pub(super) const PREFERENCE: &str = "PreferenceProbe";
/// Compares the draft with the person's other plans and their calendar.
pub(super) const PORTFOLIO: &str = "PortfolioProbe";
/// Replaces what was said so far by a summary.
pub(super) const SUMMARIZE: &str = "Summarizer";
/// Shows a result again that was shortened.
pub(super) const READ_RESULT: &str = "result.read";
/// Hands a stage in.
pub(super) const HAND_IN: &str = "StageResult";

/// Every tool of planning that is our own: what they answer is not data of somebody else's.
const OWN: [&str; 14] = [
    ELICIT, FACT, PATTERN, NODES, LINKS, ROADMAP, SCHEDULE, VALIDATE, IDEAS, OPTIONS, PREFERENCE,
    PORTFOLIO, SUMMARIZE, HAND_IN,
];

/// Whether what a tool answers is our own.
pub(super) fn is_own_tool(name: &str) -> bool {
    OWN.contains(&name)
}

/// The tools of a stage; `looks` are those that only look at the workspace. Ideas are not offered to a person who wants
/// them on request only.
pub(super) fn stage_tools(
    state: PlanState,
    policy: &InteractionPolicy,
    looks: Vec<ConversationTool>,
) -> Vec<ConversationTool> {
    let mut tools = match state {
        PlanState::DraftOutline => {
            vec![pattern_tool(), nodes_tool(), validate_tool(), options_tool()]
        }
        PlanState::DraftRoadmap | PlanState::DraftSchedule => {
            vec![nodes_tool(), links_tool(), roadmap_tool(), schedule_tool(), validate_tool()]
        }
        _ => Vec::new(),
    };
    match state {
        PlanState::DraftOutline
            if policy.brainstorming_preference != BrainstormingPreference::OnDemand =>
        {
            tools.push(ideas_tool(ideas_shown(policy)));
        }
        PlanState::DraftSchedule => tools.push(preference_tool()),
        _ => {}
    }
    tools.extend([elicit_tool(), fact_tool(), portfolio_tool()]);
    tools.extend(looks);
    tools.extend([read_result_tool(), summarize_tool(), hand_in_tool()]);
    tools
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> ConversationTool {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    ConversationTool {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        read_only: false,
    }
}

fn words() -> Value {
    json!({"type": "string"})
}

fn described(kind: &str, description: &str) -> Value {
    json!({"type": kind, "description": description})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn elicit_tool() -> ConversationTool {
    let question = object(
        &json!({
            "question": words(),
            "why": described("string", "what the answer changes, in a sentence"),
            "assumed": described("string", "what you assume if it is skipped"),
            "choices": list(&words()),
        }),
        &["question", "assumed"],
    );
    tool(
        ELICIT,
        "Ask the person 1 to 3 questions that only they can answer. The stage pauses until they answer.",
        &json!({"questions": list(&question)}),
        &["questions"],
    )
}

fn fact_tool() -> ConversationTool {
    let time = object(
        &json!({"weekdays": list(&words()), "start_time": words(), "end_time": words()}),
        &[],
    );
    let fact = object(
        &json!({
            "text": described("string", "the words, exactly as the person wrote them, as short as possible; for a file, what was found"),
            "file": described("string", "path:lines, if it was found in the workspace"),
            "kind": {"type": "string", "enum": ["none", "deadline", "start", "fixed_date", "window", "absence", "capacity",
                "working_times", "person", "budget", "duration", "order", "count", "place"]},
            "on": described("string", "YYYY-MM-DD: deadline, start, fixed_date"),
            "from": described("string", "YYYY-MM-DD: first day of a window or an absence"),
            "to": described("string", "YYYY-MM-DD: last day of it"),
            "node": described("string", "id of the node it is about"),
            "subject": described("string", "or words that only the title of its node will have; without either it is about the whole plan"),
            "then": described("string", "order: id or words of what comes later"),
            "person": described("string", "name; without one it is the person you talk with; for days on which nobody works, everybody"),
            "role": words(),
            "weekly_hours": described("number", "capacity: the most of a week"),
            "daily_hours": described("number", "capacity: or the most of a day"),
            "minutes": described("integer", "duration: minutes of work"),
            "days": described("integer", "duration: the most days from first to last"),
            "times": described("array", "working_times: when somebody works, hours as HH:MM; several for several days or spans"),
            "weekdays": described("array", "absence: mon to sun, for somebody who never works on them"),
            "amount": {"type": "integer"},
            "currency": words(),
            "noun": described("string", "count: singular"),
            "place": words(),
            "replaces": described("array", "numbers of facts that these later words of the person change or take back"),
        }),
        &["text", "kind"],
    );
    let mut fact = fact;
    fact["properties"]["times"]["items"] = time;
    fact["properties"]["weekdays"]["items"] = words();
    fact["properties"]["replaces"]["items"] = json!({"type": "integer"});
    tool(
        FACT,
        "Record what was said, with the reading that the rules check later. Give all of them in one call.",
        &json!({"facts": list(&fact)}),
        &["facts"],
    )
}

fn limits_schema() -> Value {
    json!({
        "type": "object",
        "description": "what you assume where nobody stated it; shown to the person as assumed",
        "properties": {
            "start": described("string", "YYYY-MM-DD"),
            "horizon_weeks": {"type": "integer"},
            "weekly_hours": described("number", "of the person you talk with"),
            "daily_hours": described("number", "the most of a day"),
        },
    })
}

fn pattern_tool() -> ConversationTool {
    let types: Vec<&str> = PatternType::ALL.iter().map(|kind| kind.as_str()).collect();
    tool(
        PATTERN,
        "Choose the kind of plan, before its nodes.",
        &json!({
            "pattern_type": {"type": "string", "enum": types},
            "subtype": words(),
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "why": words(),
            "rfc": words(),
            "source_pattern": words(),
            "proposed_pattern": words(),
            "limits": limits_schema(),
        }),
        &["pattern_type", "confidence"],
    )
}

/// Fields of an operation that are words, with what they mean where the name does not say it.
const OPERATION_WORDS: [(&str, &str); 20] = [
    ("id", "the node; for add its new id, short and in plain letters, used in later operations"),
    ("under", "add, move: last below this node; goal is the top"),
    ("after", ""),
    ("before", ""),
    ("title", ""),
    ("description", ""),
    ("done_when", "a check that a stranger could make"),
    ("owner", "name of whoever does it; without one it is the person you talk with"),
    ("command", "for doer shell"),
    ("task_type", ""),
    ("stream", "names a parallel lane among siblings"),
    ("fixed_start", "YYYY-MM-DD or YYYY-MM-DDTHH:MM: it starts then, whatever else moves"),
    ("fixed_end", "it ends then, whatever else moves"),
    ("not_before", "it starts then at the earliest"),
    ("due", "it ends then at the latest"),
    ("why", ""),
    ("cost", "such as 120 EUR"),
    ("from", "link, unlink"),
    ("to", "link, unlink"),
    ("date", "without it the date is cleared"),
];

/// Fields that are one of a few words.
const OPERATION_CHOICES: [(&str, &[&str], &str); 6] = [
    (
        "op",
        &[
            "add", "change", "move", "remove", "split", "merge", "link", "unlink", "assign",
            "date", "lock",
        ],
        "add, change: id and fields of the node; move: id and under, after or before; remove, lock: id; link, unlink: from, to; assign: id, owner; date: id, field, date",
    ),
    (
        "kind",
        &["phase", "cycle", "sub_goal", "task", "sub_task", "milestone"],
        "of an added node; task unless named",
    ),
    ("doer", &["human", "agent", "shell"], ""),
    (
        "role",
        &["work", "practice", "reflection", "review", "deliverable", "gate", "setup", "habit"],
        "work unless named; a gate is a point at which somebody decides, without work of its own",
    ),
    ("link", &["FS", "SS", "FF", "SF"], "FS unless named"),
    ("field", &["fixed_start", "fixed_end", "not_before", "due"], "date"),
];

/// Fields that are lists of words.
const OPERATION_LISTS: [(&str, &str); 7] = [
    ("ids", "merge"),
    ("needs", "ids that it waits for; in change exactly these"),
    ("needed_by", "ids that wait for it; in change exactly these"),
    ("risks", ""),
    ("assumptions", ""),
    ("evidence", "numbers of facts as listed, or path:lines"),
    ("tags", ""),
];

/// Fields that are whole numbers.
const OPERATION_NUMBERS: [(&str, &str); 4] = [
    ("minutes", "work on a task"),
    ("intensity", "1 to 5"),
    ("lag_minutes", "working minutes between; negative is a lead"),
    ("lag_days", "days that pass between, such as a delivery"),
];

/// One operation: which fields it needs follows from `op`.
fn operation_schema() -> Value {
    let mut properties = serde_json::Map::new();
    let mut add = |name: &str, mut schema: Value, meaning: &str| {
        if !meaning.is_empty() {
            schema["description"] = json!(meaning);
        }
        properties.insert(name.to_owned(), schema);
    };
    for (name, meaning) in OPERATION_WORDS {
        add(name, words(), meaning);
    }
    for (name, values, meaning) in OPERATION_CHOICES {
        add(name, json!({"type": "string", "enum": values}), meaning);
    }
    for (name, meaning) in OPERATION_LISTS {
        add(name, list(&words()), meaning);
    }
    for (name, meaning) in OPERATION_NUMBERS {
        add(name, json!({"type": "integer"}), meaning);
    }
    add("optional", json!({"type": "boolean"}), "");
    add(
        "one_sitting",
        json!({"type": "boolean"}),
        "in one go on one day, whatever hours that day has",
    );
    add("repeat", repeat_schema(), "");
    add("exit_criteria", list(&criterion_schema()), "");
    // A list for split, a title for merge.
    add("into", json!({}), "merge: the title; split: a list of {title, minutes}");
    object(&Value::Object(properties), &["op"])
}

fn repeat_schema() -> Value {
    let weekday =
        json!({"type": "string", "enum": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]});
    object(
        &json!({
            "freq": {"type": "string", "enum": ["daily", "weekly", "monthly", "quarterly", "yearly"]},
            "interval": {"type": "integer"},
            "days": list(&weekday),
            "at": described("string", "HH:MM"),
            "count": {"type": "integer"},
            "from": words(),
            "until": words(),
        }),
        &["freq"],
    )
}

fn criterion_schema() -> Value {
    let kinds = ["command", "file_exists", "json_path", "text", "judged"];
    object(
        &json!({
            "kind": {"type": "string", "enum": kinds, "description": "judged: an agent's work is judged by `text`; text: for people to read"},
            "command": described("string", "command: run in the workspace by a shell; met if it exits with 0"),
            "path": described("string", "file_exists: the file; json_path: such as $.warnings, in what the task's command printed"),
            "equals": {"description": "json_path: the value there"},
            "text": words(),
        }),
        &["kind"],
    )
}

fn nodes_tool() -> ConversationTool {
    tool(
        NODES,
        "Change the plan by operations, in their order. A first draft is a list of add. What no operation names stays as it is.",
        &json!({"operations": list(&operation_schema())}),
        &["operations"],
    )
}

fn links_tool() -> ConversationTool {
    let link = object(
        &json!({
            "from": words(), "to": words(),
            "link": {"type": "string", "enum": ["FS", "SS", "FF", "SF"]},
            "lag_minutes": {"type": "integer"},
            "lag_days": {"type": "integer"},
            "why": words(),
        }),
        &["from", "to"],
    );
    let pair = object(&json!({"from": words(), "to": words()}), &["from", "to"]);
    tool(
        LINKS,
        "Draw links, change their lags, and remove links. All links are yours.",
        &json!({"links": list(&link), "unlink": list(&pair)}),
        &[],
    )
}

fn option_schema() -> Value {
    object(
        &json!({
            "label": words(),
            "summary": described("string", "how it goes about it"),
            "tasks": described("string", "how it differs in tasks"),
            "effort_hours": {"type": "number"},
            "span_weeks": {"type": "integer"},
            "risk": {"type": "string", "enum": ["low", "medium", "high"]},
            "chosen": {"type": "boolean"},
            "rationale": words(),
        }),
        &["label", "summary", "effort_hours", "span_weeks", "risk", "chosen"],
    )
}

fn options_tool() -> ConversationTool {
    tool(
        OPTIONS,
        "Keep two or three ways to go about the plan, each by how it differs from the first, exactly one chosen. The person sees them and may pick another.",
        &json!({"options": list(&option_schema()), "rationale": words()}),
        &["options"],
    )
}

fn ideas_tool(most: usize) -> ConversationTool {
    tool(
        IDEAS,
        &format!(
            "Show the person {most} ideas for the goal, one line each, each from another direction. They decide; the stage goes on."
        ),
        &json!({"ideas": list(&words())}),
        &["ideas"],
    )
}

fn preference_tool() -> ConversationTool {
    tool(
        PREFERENCE,
        "Ask the person once, where two ways to place the same work are equally good, which they prefer: mornings or evenings, few long or many short days. The stage pauses until they answer.",
        &json!({
            "question": words(),
            "choices": list(&words()),
            "assumed": described("string", "what you assume if it is skipped"),
        }),
        &["question", "choices", "assumed"],
    )
}

fn portfolio_tool() -> ConversationTool {
    tool(
        PORTFOLIO,
        "Compare the draft with the person's other plans and their calendar: conflicts, how full the weeks are, and where a task could move. Before there is a draft it lists what is taken.",
        &json!({}),
        &[],
    )
}

fn summarize_tool() -> ConversationTool {
    tool(
        SUMMARIZE,
        "Replace what was said in this conversation so far by your own summary, if it has become long. Goal, facts and the stage stay as they are, and every item can be read again by its id.",
        &json!({"text": described("string", "what later work needs: decisions, paths with lines, figures, open questions")}),
        &["text"],
    )
}

fn roadmap_tool() -> ConversationTool {
    let estimate =
        object(&json!({"id": words(), "minutes": {"type": "integer"}}), &["id", "minutes"]);
    let owner = object(&json!({"id": words(), "owner": words()}), &["id", "owner"]);
    tool(
        ROADMAP,
        "Estimates, owners, the two or three options that you compared (exactly one chosen, with a rationale), and what the plan as a whole rests on.",
        &json!({
            "estimates": list(&estimate),
            "owners": list(&owner),
            "options": list(&option_schema()),
            "rationale": words(),
            "risks": list(&words()),
            "assumptions": list(&words()),
        }),
        &[],
    )
}

fn schedule_tool() -> ConversationTool {
    tool(
        SCHEDULE,
        "Run the scheduler on the draft: dates, what does not fit, and what breaks a fact.",
        &json!({"limits": limits_schema()}),
        &[],
    )
}

fn validate_tool() -> ConversationTool {
    tool(VALIDATE, "Check the draft against the rules.", &json!({}), &[])
}

fn read_result_tool() -> ConversationTool {
    tool(
        READ_RESULT,
        "Show a result again that is shown shortened (call_N), or an item of the conversation that was summarized (item_N).",
        &json!({"id": words()}),
        &["id"],
    )
}

fn hand_in_tool() -> ConversationTool {
    let report = object(
        &json!({
            "number": described("integer", "of the request in the list"),
            "wish": described("string", "where a request has several wishes: the words of the one that this is about; give a report for each"),
            "status": {"type": "string", "enum": ["met", "partly", "not", "answered"]},
            "nodes": described("array", "ids of the nodes that changed for it"),
            "words": described("string", "a sentence for the person: what was done, or the answer to their question"),
        }),
        &["number", "status", "words"],
    );
    let mut schema = tool(
        HAND_IN,
        "Hand the stage in. The draft is checked first; if it breaks rules, the findings come back and the stage goes on.",
        &json!({
            "status": {"type": "string", "enum": ["success", "low_confidence", "error"]},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "summary": described("string", "one or two sentences for the person"),
            "requests": list(&report),
        }),
        &["status", "summary"],
    );
    schema.schema["properties"]["requests"]["items"]["properties"]["nodes"]["items"] = words();
    schema
}
