//! Checks of a template beyond its syntax.

use std::collections::BTreeSet;

use toml::Spanned;

use super::{LinkSpec, TaskSpec, Template, TemplateGroup, TemplateSizing, TopicPack};

/// A fault and the position of its text in the file.
#[derive(Debug)]
pub(super) struct TemplateFault {
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) remedy: String,
}

fn fault_at(place: &Spanned<String>, message: String, remedy: &str) -> TemplateFault {
    TemplateFault { at: place.span().start, message, remedy: remedy.to_owned() }
}

/// Placeholders that titles and texts may contain.
const KNOWN: [&str; 10] =
    ["subject", "the subject", "The subject", "A", "B", "topic", "n", "project", "thing", "period"];

pub(super) fn check_template(template: &Template) -> Result<(), TemplateFault> {
    check_header(template)?;
    let mut keys = BTreeSet::new();
    let groups: Vec<&TemplateGroup> = template.phases.iter().chain(&template.cycles).collect();
    for group in &groups {
        collect_keys(group, &mut keys)?;
    }
    for task in &template.tasks {
        add_task_key(task, &mut keys)?;
    }
    if template.sizing == TemplateSizing::Shares && template.total_minutes.is_none() {
        check_shares(&template.phases)?;
    }
    for part in &groups {
        check_group(part, &keys)?;
    }
    template.tasks.iter().try_for_each(|part| check_task(part, &keys))
}

fn check_header(template: &Template) -> Result<(), TemplateFault> {
    let fault = |message: String, remedy: &str| {
        Err(TemplateFault { at: 0, message, remedy: remedy.to_owned() })
    };
    if !planwright_model::pattern::is_valid_subtype_name(&template.subtype) {
        return fault(
            format!("\"{}\" is not a name for a subtype", template.subtype),
            "use 3 to 40 of a-z, 0-9 and _, letter first",
        );
    }
    if !(1..=520).contains(&template.weeks) {
        return fault(
            format!("a horizon of {} weeks cannot be planned", template.weeks),
            "use 1 to 520 weeks",
        );
    }
    let hours = template.weekly_minutes.or(template.total_minutes);
    if hours.is_none_or(|minutes| minutes == 0) && template.sizing != TemplateSizing::ByTasks {
        return fault(
            "no time is given to share out".to_owned(),
            "add weekly_minutes, or sizing = \"by_tasks\"",
        );
    }
    if template.phases.is_empty() && template.cycles.is_empty() && template.tasks.is_empty() {
        return fault(
            "the template holds no work".to_owned(),
            "add a [[phase]] with a [[phase.task]]",
        );
    }
    Ok(())
}

fn check_shares(groups: &[TemplateGroup]) -> Result<(), TemplateFault> {
    let Some(first) = groups.iter().find(|group| group.share.is_some()) else { return Ok(()) };
    let sum: u32 = groups.iter().filter_map(|group| group.share).sum();
    if sum == 100 && groups.iter().all(|group| group.share.is_some()) {
        return Ok(());
    }
    Err(fault_at(
        &first.title,
        format!("the shares of the phases add up to {sum}, not to 100"),
        "change the shares",
    ))
}

fn collect_keys(group: &TemplateGroup, keys: &mut BTreeSet<String>) -> Result<(), TemplateFault> {
    add_key(group.key.as_ref(), &group.title, keys)?;
    for part in group.phases.iter().chain(&group.sub_goals) {
        collect_keys(part, keys)?;
    }
    group.tasks.iter().try_for_each(|task| add_task_key(task, keys))
}

fn add_task_key(task: &TaskSpec, keys: &mut BTreeSet<String>) -> Result<(), TemplateFault> {
    add_key(task.key.as_ref(), &task.title, keys)
}

fn add_key(
    key: Option<&String>,
    title: &Spanned<String>,
    keys: &mut BTreeSet<String>,
) -> Result<(), TemplateFault> {
    match key {
        Some(key) if !keys.insert(key.clone()) => Err(fault_at(
            title,
            format!("the key \"{key}\" is used twice"),
            "give each part a key of its own",
        )),
        _ => Ok(()),
    }
}

fn check_group(part: &TemplateGroup, keys: &BTreeSet<String>) -> Result<(), TemplateFault> {
    check_texts(&part.title, &[&part.description, &part.done_when])?;
    check_links(&part.title, part.after.as_deref(), keys)?;
    if part.phases.is_empty() && part.sub_goals.is_empty() && part.tasks.is_empty() {
        let message = format!("\"{}\" has no action in it", part.title.get_ref());
        return Err(fault_at(&part.title, message, "add a task to it or remove it"));
    }
    for inner in part.phases.iter().chain(&part.sub_goals) {
        check_group(inner, keys)?;
    }
    part.tasks.iter().try_for_each(|inner| check_task(inner, keys))
}

fn check_task(part: &TaskSpec, keys: &BTreeSet<String>) -> Result<(), TemplateFault> {
    check_texts(&part.title, &[&part.description, &part.done_when])?;
    if part.done_when.trim().is_empty() {
        let message = format!("nothing says when \"{}\" is done", part.title.get_ref());
        return Err(fault_at(
            &part.title,
            message,
            "add a done_when that somebody else could check",
        ));
    }
    check_links(&part.title, part.after.as_deref(), keys)
}

fn check_links(
    title: &Spanned<String>,
    after: Option<&[LinkSpec]>,
    keys: &BTreeSet<String>,
) -> Result<(), TemplateFault> {
    for link in after.unwrap_or_default() {
        if !keys.contains(&link.on) {
            let message = format!(
                "\"{}\" waits for \"{}\", which no part has as its key",
                title.get_ref(),
                link.on
            );
            return Err(fault_at(title, message, "correct the name after \"on\""));
        }
        if link.percent > 100 {
            let message = format!(
                "\"{}\" waits for {} percent of \"{}\"",
                title.get_ref(),
                link.percent,
                link.on
            );
            return Err(fault_at(title, message, "use 0 to 100 percent"));
        }
    }
    Ok(())
}

fn check_texts(title: &Spanned<String>, more: &[&String]) -> Result<(), TemplateFault> {
    if title.get_ref().trim().is_empty() {
        return Err(fault_at(
            title,
            "a title is empty".to_owned(),
            "say in a few words what is done",
        ));
    }
    for text in more.iter().copied().chain([title.get_ref()]) {
        if let Some(name) = unknown_placeholder(text) {
            let message = format!("\"{{{name}}}\" stands for nothing");
            let remedy = format!("use one of {{{}}}", KNOWN.join("}, {"));
            return Err(fault_at(title, message, &remedy));
        }
    }
    Ok(())
}

fn unknown_placeholder(text: &str) -> Option<&str> {
    text.split('{').skip(1).find_map(|rest| {
        let name = rest.split('}').next().unwrap_or(rest);
        (!KNOWN.contains(&name)).then_some(name)
    })
}

pub(super) fn check_pack(pack: &TopicPack) -> Result<(), TemplateFault> {
    if pack.subjects.iter().any(|name| name.trim().is_empty()) || pack.subjects.is_empty() {
        return Err(TemplateFault {
            at: 0,
            message: "the pack is for no subject".to_owned(),
            remedy: "name one in subjects, in lower case".to_owned(),
        });
    }
    for topic in &pack.topics {
        if topic.name.get_ref().trim().is_empty() {
            return Err(fault_at(&topic.name, "a topic has no name".to_owned(), "name it"));
        }
    }
    Ok(())
}
