//! Checks of a blueprint beyond its syntax: names, texts, efforts, days and the shape of its pattern.

use std::collections::BTreeSet;

use toml::Spanned;

use planwright_model::requests::RESERVED_QUESTION_KEYS;
use planwright_model::{PatternType, Role};

use super::format::parse_time_of_day;
use super::link_checks;
use super::placeholders::{TextPiece, split_placeholders};
use super::{
    AnchorDate, Blueprint, BlueprintGroup, BlueprintSizing, BlueprintTask, EffortRange, LAST_DAY,
    TopicPack,
};

/// A fault and the position of its text in the file.
#[derive(Debug)]
pub(super) struct TemplateFault {
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) remedy: String,
}

pub(super) type CheckResult = Result<(), TemplateFault>;

pub(super) fn fault_at<T>(
    place: &Spanned<T>,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> TemplateFault {
    TemplateFault { at: place.span().start, message: message.into(), remedy: remedy.into() }
}

/// Placeholders that every text may contain.
const KNOWN: [&str; 22] = [
    "it",
    "It",
    "subject",
    "goal",
    "place",
    "in place",
    "budget",
    "from",
    "to",
    "n",
    "batch",
    "topic",
    "study",
    "studied_when",
    "practice",
    "practised_when",
    "project",
    "thing",
    "period",
    "people",
    "day",
    "monthly",
];

pub(super) fn check_blueprint(file: &Blueprint) -> CheckResult {
    check_header(file)?;
    check_questions(file)?;
    for task in file.all_tasks() {
        check_task(file, task)?;
    }
    for group in file.phases.iter().chain(&file.cycles) {
        check_group(file, group)?;
    }
    if let Some(finish) = &file.finish {
        check_texts(file, &finish.title, &[&finish.done_when])?;
    }
    check_shape(file)?;
    link_checks::check_links(file)
}

fn check_header(file: &Blueprint) -> CheckResult {
    if !planwright_model::pattern::is_valid_subtype_name(&file.name) {
        return Err(fault_at(
            &file.label,
            format!("\"{}\" is not a name for a kind", file.name),
            "rename the file: 3 to 40 of a-z, 0-9 and _, letter first",
        ));
    }
    if file.label.get_ref().trim().is_empty() {
        return Err(fault_at(&file.label, "the label is empty", "write one such as \"a wedding\""));
    }
    let known = file.pattern.subtypes();
    let subtype = file.subtype.get_ref();
    if !known.contains(&subtype.as_str()) {
        let near = planwright_text::nearest_name(subtype, known.iter().copied());
        let remedy = match near {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("use one of {}", known.join(", ")),
        };
        return Err(fault_at(
            &file.subtype,
            format!("{} has no subtype \"{subtype}\"", file.pattern),
            remedy,
        ));
    }
    check_match_words(file)?;
    if !(1..=520).contains(file.weeks.get_ref()) {
        let message = format!("a span of {} weeks cannot be planned", file.weeks.get_ref());
        return Err(fault_at(&file.weeks, message, "use 1 to 520 weeks"));
    }
    if file.why.get_ref().trim().is_empty() {
        return Err(fault_at(&file.why, "why is empty", "say in one sentence why this structure"));
    }
    if let (Some(day), None) = (&file.day, &file.day_question) {
        return Err(fault_at(
            day,
            "nothing asks for the day",
            "add day_question = \"On which day is it?\"",
        ));
    }
    check_usual_day(file)?;
    check_texts(file, &file.why, &[])
}

fn check_usual_day(file: &Blueprint) -> CheckResult {
    let Some(usual) = &file.usual_day else { return Ok(()) };
    if parse_month_day(usual.get_ref()).is_none() {
        let message = format!("\"{}\" is not a day of the year", usual.get_ref());
        return Err(fault_at(usual, message, "write month and day, such as \"05-15\""));
    }
    if file.day.is_none() {
        return Err(fault_at(usual, "the plan has no day", "add day and day_question"));
    }
    Ok(())
}

/// Parses a day of any year: "05-15".
pub(in super::super) fn parse_month_day(text: &str) -> Option<(i8, i8)> {
    let (month, day) = text.split_once('-')?;
    let (month, day) = (month.parse().ok()?, day.parse().ok()?);
    jiff::civil::Date::new(2027, month, day).is_ok().then_some((month, day))
}

fn check_match_words(file: &Blueprint) -> CheckResult {
    let words = file.match_words.get_ref();
    if words.is_empty() {
        return Err(fault_at(
            &file.match_words,
            "no words of a goal lead to this kind",
            "add some, as in match = { \"wedding\" = 10 }",
        ));
    }
    for (word, weight) in words {
        if !(1..=20).contains(weight) {
            return Err(fault_at(
                &file.match_words,
                format!("the weight of \"{word}\" is {weight}"),
                "use 1 to 20; 10 decides alone, 3 is a hint, more than 10 wins over a neighbor",
            ));
        }
        if *word != word.to_lowercase() || word.trim().is_empty() {
            return Err(fault_at(
                &file.match_words,
                format!("\"{word}\" never matches"),
                "write match words in lower case",
            ));
        }
    }
    Ok(())
}

fn check_questions(file: &Blueprint) -> CheckResult {
    if let Some(extra) = file.questions.get(3) {
        return Err(fault_at(
            &extra.key,
            format!("{} questions are too many", file.questions.len()),
            "keep the three that change most",
        ));
    }
    for question in &file.questions {
        if question.text.trim().is_empty() {
            let message = format!("the question \"{}\" has no text", question.key.get_ref());
            return Err(fault_at(&question.key, message, "write the question"));
        }
        if RESERVED_QUESTION_KEYS.contains(&question.key.get_ref().as_str()) {
            let message =
                format!("\"{}\" is a value of the planner itself", question.key.get_ref());
            return Err(fault_at(&question.key, message, "give the question another key"));
        }
        let counted = file.counts.contains_key(question.key.get_ref());
        if counted && question.default.trim().parse::<u32>().is_err() {
            let message = format!("\"{}\" is not a number", question.default);
            return Err(fault_at(&question.key, message, "a count has a number as its default"));
        }
    }
    Ok(())
}

fn check_group(file: &Blueprint, group: &BlueprintGroup) -> CheckResult {
    check_texts(file, &group.title, &[&group.why, &group.done_when])?;
    check_conditions(file, &group.when)?;
    check_time(group.at_time.as_ref())?;
    if group.all_tasks().is_empty() {
        let message = format!("\"{}\" has no task", group.title.get_ref());
        return Err(fault_at(&group.title, message, "add a task to it or remove it"));
    }
    group.phases.iter().chain(&group.sub_goals).try_for_each(|inner| check_group(file, inner))
}

fn check_task(file: &Blueprint, task: &BlueprintTask) -> CheckResult {
    let title = task.title.get_ref();
    check_texts(file, &task.title, &[&task.why, &task.done_when])?;
    if task.done_when.trim().is_empty() {
        return Err(fault_at(
            &task.title,
            format!("nothing says when \"{title}\" is done"),
            "add a done_when that somebody else could check",
        ));
    }
    if task.why.trim().is_empty() && !task.milestone {
        return Err(fault_at(
            &task.title,
            format!("nothing says why \"{title}\" is in the plan"),
            "add why = \"one sentence\"",
        ));
    }
    check_effort(file, task)?;
    for (anchor, field) in
        [(&task.at, "at"), (&task.by, "by"), (&task.from, "from"), (&task.until, "until")]
    {
        check_anchor(file, anchor.as_ref(), field)?;
    }
    check_conditions(file, &task.when)?;
    check_time(task.at_time.as_ref())?;
    let unrepeated = task.every.is_none()
        && file.sizing == BlueprintSizing::Tasks
        && (task.times.is_some() || task.from.is_some() || task.until.is_some());
    if unrepeated {
        return Err(fault_at(
            &task.title,
            format!("\"{title}\" has times, from or until, but does not repeat"),
            "add every = \"week\", or remove them",
        ));
    }
    Ok(())
}

fn check_effort(file: &Blueprint, task: &BlueprintTask) -> CheckResult {
    let title = task.title.get_ref();
    let count = task.per.keys().chain(task.split.iter().map(|split| &split.get_ref().by));
    for name in count {
        if !file.counts.contains_key(name) {
            return Err(fault_at(
                &task.title,
                format!("\"{title}\" counts \"{name}\", which is no count of this file"),
                format!("add [count.{name}], or correct the name"),
            ));
        }
    }
    if let Some(split) = task.split.as_ref().filter(|split| {
        let split = split.get_ref();
        split.size == 0 || split.most == 0
    }) {
        return Err(fault_at(split, "a split needs a size and a most above 0", "use 1 or more"));
    }
    match (&task.effort, task.share) {
        _ if task.is_instant() => Ok(()),
        (Some(effort), _) => check_range(effort),
        (None, Some(_)) if file.weekly.is_some() => Ok(()),
        (None, Some(_)) => Err(fault_at(
            &task.title,
            format!("\"{title}\" has a share, but the file has no weekly minutes"),
            "add weekly = 300 at the top, or give the task an effort",
        )),
        (None, None) => Err(fault_at(
            &task.title,
            format!("\"{title}\" has no effort"),
            "add effort = [30, 60, 90]: the least, the likely and the most minutes",
        )),
    }
}

fn check_range(effort: &Spanned<EffortRange>) -> CheckResult {
    let EffortRange(low, likely, high) = *effort.get_ref();
    if low == 0 || low > likely || likely > high {
        return Err(fault_at(
            effort,
            format!("an effort of [{low}, {likely}, {high}] does not rise"),
            "write the least, the likely and the most minutes, the least above 0",
        ));
    }
    if high > 60_000 {
        return Err(fault_at(
            effort,
            format!("an effort of {high} minutes is not one task"),
            "split it into tasks of at most 8 hours",
        ));
    }
    Ok(())
}

fn check_anchor(file: &Blueprint, date: Option<&Spanned<AnchorDate>>, field: &str) -> CheckResult {
    let Some(date) = date else { return Ok(()) };
    let name = date.get_ref().anchor.as_str();
    let own = file.day.as_ref().map(|day| day.get_ref().as_str());
    let last = name == LAST_DAY && own.is_some();
    if own == Some(name) || name == "start" || name == "end" || last {
        return Ok(());
    }
    let remedy = match own {
        Some(own) => format!("write {field} = \"{own}\", as after day ="),
        None => format!("add day = \"{name}\" at the top, or count from \"start\" or \"end\""),
    };
    Err(fault_at(date, format!("\"{name}\" is no day of this file"), remedy))
}

fn check_conditions(file: &Blueprint, conditions: &[Spanned<String>]) -> CheckResult {
    for condition in conditions {
        let name = condition.get_ref().as_str();
        let quoted = name.len() > 2 && name.starts_with('\'') && name.ends_with('\'');
        let known = ["place", "budget", "from", "to", "people", "day"].contains(&name)
            || file.counts.contains_key(name);
        if !quoted && !known {
            return Err(fault_at(
                condition,
                format!("\"{name}\" is nothing that a goal states"),
                "use place, budget, from, to, the name of a count, or a word in single quotes",
            ));
        }
    }
    Ok(())
}

fn check_time(time: Option<&Spanned<String>>) -> CheckResult {
    match time {
        Some(time) if parse_time_of_day(time.get_ref()).is_none() => Err(fault_at(
            time,
            format!("\"{}\" is not a time of day", time.get_ref()),
            "write it as \"18:00\"",
        )),
        _ => Ok(()),
    }
}

fn check_texts(file: &Blueprint, title: &Spanned<String>, more: &[&String]) -> CheckResult {
    if title.get_ref().trim().is_empty() {
        return Err(fault_at(title, "a title is empty", "say in a few words what is done"));
    }
    for text in more.iter().copied().chain([title.get_ref()]) {
        for piece in split_placeholders(text) {
            let TextPiece::Value { name, .. } = piece else { continue };
            if !is_known_placeholder(file, name) {
                let mut names: Vec<&str> = KNOWN.to_vec();
                names.extend(file.counts.keys().map(String::as_str));
                names.extend(file.questions.iter().map(|question| question.key.get_ref().as_str()));
                let near = planwright_text::nearest_name(name, names.iter().copied());
                let remedy = match near {
                    Some(near) => format!("did you mean {{{near}}}?"),
                    None => format!("use one of {{{}}}", names.join("}, {")),
                };
                return Err(fault_at(title, format!("{{{name}}} stands for nothing"), remedy));
            }
        }
    }
    Ok(())
}

fn is_known_placeholder(file: &Blueprint, name: &str) -> bool {
    let fixed = name.strip_prefix("count:").is_some_and(|number| number.parse::<u32>().is_ok());
    fixed
        || KNOWN.contains(&name)
        || file.counts.contains_key(name)
        || file.questions.iter().any(|question| question.key.get_ref() == name)
}

/// Checks that the parts make a plan of the pattern.
fn check_shape(file: &Blueprint) -> CheckResult {
    let fault = |message: &str, remedy: &str| Err(fault_at(&file.label, message, remedy));
    if file.all_tasks().is_empty() {
        return fault("the file has no task", "add a [[phase]] with a [[phase.task]]");
    }
    if file.small {
        let fits = file.phases.is_empty()
            && file.cycles.is_empty()
            && (1..=4).contains(&file.tasks.len())
            && file.pattern == PatternType::MilestoneProject;
        return if fits {
            Ok(())
        } else {
            fault("a small kind is one to four tasks", "write them as [[task]], without phases")
        };
    }
    match file.pattern {
        PatternType::MilestoneProject if file.phases.len() < 2 => {
            fault("a project has at least two phases", "add a [[phase]], or small = true")
        }
        PatternType::RecurringCycle
            if !file.phases.is_empty() || file.cycles.iter().all(|one| one.every.is_none()) =>
        {
            fault(
                "a routine is a [[cycle]] with every and tasks, without phases",
                "add [[cycle]] with every = \"cadence\" and a [[cycle.task]]",
            )
        }
        PatternType::ProgressiveAccumulationArc => check_arc(file),
        PatternType::HybridProjectCycle => check_rounds(file),
        PatternType::StrategicTransformation => check_streams(file),
        _ => Ok(()),
    }
}

fn check_arc(file: &Blueprint) -> CheckResult {
    if file.phases.len() < 2 {
        return Err(fault_at(
            &file.label,
            "it has fewer than two phases",
            "add a phase that builds on the first",
        ));
    }
    for phase in &file.phases {
        if !phase.all_tasks().iter().any(|task| task.role == Role::Practice) {
            let message = format!("nothing is practiced in \"{}\"", phase.title.get_ref());
            return Err(fault_at(&phase.title, message, "add a task with role = \"practice\""));
        }
    }
    Ok(())
}

fn check_rounds(file: &Blueprint) -> CheckResult {
    let complete = |cycle: &&BlueprintGroup| {
        cycle.phases.len() >= 2
            && cycle.every.is_some()
            && cycle.all_tasks().iter().any(|task| task.role == Role::Deliverable)
    };
    if !file.cycles.is_empty() && file.cycles.iter().all(|cycle| complete(&cycle)) {
        return Ok(());
    }
    Err(fault_at(
        &file.label,
        "each round needs two stages and a result",
        "add [[cycle]] with every = \"period\", two [[cycle.phase]] and a task with role = \"deliverable\"",
    ))
}

fn check_streams(file: &Blueprint) -> CheckResult {
    let streams: BTreeSet<&str> =
        file.phases.iter().map(|phase| phase.stream.as_deref().unwrap_or_default()).collect();
    let bare = file.phases.iter().find(|phase| phase.sub_goals.is_empty());
    match bare {
        _ if streams.len() < 2 => Err(fault_at(
            &file.label,
            "it has fewer than two streams",
            "give the phases a stream of their own each",
        )),
        Some(phase) => Err(fault_at(
            &phase.title,
            format!("\"{}\" has no sub-goal", phase.title.get_ref()),
            "put its tasks under [[phase.sub_goal]]",
        )),
        None => Ok(()),
    }
}

pub(super) fn check_pack(pack: &TopicPack) -> CheckResult {
    if pack.subjects.iter().any(|name| name.trim().is_empty()) || pack.subjects.is_empty() {
        return Err(TemplateFault {
            at: 0,
            message: "the pack is for no subject".to_owned(),
            remedy: "name one in subjects, in lower case".to_owned(),
        });
    }
    for topic in &pack.topics {
        if topic.name.get_ref().trim().is_empty() {
            return Err(fault_at(&topic.name, "a topic has no name", "name it"));
        }
    }
    Ok(())
}
