//! What a model did while it planned, in a line that a person reads: the tool's name and its whole result stay in the
//! details.

use planwright_text::units::format_counted;

/// One call of a planning conversation in a few words.
pub(super) fn planning_step_text(tool: &str, ok: bool, text: &str) -> String {
    let heading = text.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    if let Some(what) = look_text(tool, text) {
        return if ok { what } else { format!("{what}: {heading}") };
    }
    match (tool, ok) {
        ("record_fact", _) => recorded_text(text),
        ("PatternSelector", true) => "chose the kind of plan".to_owned(),
        ("PatternSelector", false) => format!("kind of plan not taken: {heading}"),
        ("NodeGenerator", _) => format!("changed the plan: {}", applied_text(heading)),
        ("DependencyResolver", _) => format!("changed links: {}", applied_text(heading)),
        ("RoadmapBuilder", _) => {
            format!("changed estimates and options: {}", applied_text(heading))
        }
        ("ScheduleGenerator", _) => format!("tried the dates: {heading}"),
        ("GrammarValidator", _) => format!("checked the plan: {heading}"),
        ("ContextElicitor" | "PreferenceProbe", true) => "asked you".to_owned(),
        ("Brainstormer", true) => "offered ideas".to_owned(),
        ("OptionCrafter", _) => format!("compared options: {}", applied_text(heading)),
        ("PortfolioProbe", _) => format!("looked at your other plans: {heading}"),
        ("Summarizer", true) => "summed up what was said so far".to_owned(),
        ("result.read", true) => "read an earlier result again".to_owned(),
        ("StageResult", true) => "finished this step".to_owned(),
        ("StageResult", false) => {
            let findings = text.lines().filter(|line| line.starts_with("- ")).count();
            format!("sent back to fix {}", format_counted(findings, "finding"))
        }
        _ => format!("{tool}: {heading}"),
    }
}

/// What was looked at in the workspace.
fn look_text(tool: &str, text: &str) -> Option<String> {
    let field = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.map(str::trim).filter(|value| !value.is_empty())
    };
    let counted = |name: &str| field(name).and_then(|value| value.parse::<usize>().ok());
    Some(match tool {
        "file.read" => match field("path") {
            Some(path) => format!("read {path}"),
            None => "read a file".to_owned(),
        },
        "file.list" => match field("path") {
            Some(path) => format!("listed {path}"),
            None => "listed a directory".to_owned(),
        },
        "glob" => match counted("count") {
            Some(files) => format!("looked for files: {}", format_counted(files, "file")),
            None => "looked for files".to_owned(),
        },
        "grep" => match counted("matches") {
            Some(1) => "searched the files: 1 match".to_owned(),
            Some(matches) => format!("searched the files: {matches} matches"),
            None => "searched the files".to_owned(),
        },
        "code.navigate" => "looked through the code".to_owned(),
        "memory.search" => "searched what is remembered".to_owned(),
        "explore_context" => "looked into questions about the workspace".to_owned(),
        "git.log" => "looked at the commits".to_owned(),
        "git.status" => "looked at what is not committed".to_owned(),
        "git.diff" => "looked at differences".to_owned(),
        _ => return None,
    })
}

fn recorded_text(text: &str) -> String {
    let noted = text.lines().filter(|line| line.starts_with("fact ")).count();
    let refused = text.lines().filter(|line| line.starts_with("item ")).count();
    let not = if refused == 0 { String::new() } else { format!(", {refused} not taken") };
    format!("noted {}{not}", format_counted(noted, "fact"))
}

/// `7 of 7 applied` is no more than that it was done.
fn applied_text(heading: &str) -> String {
    let counts = heading.strip_suffix(" applied").and_then(|rest| rest.split_once(" of "));
    match counts.map(|(done, all)| (done.trim().parse::<usize>(), all.trim().parse::<usize>())) {
        Some((Ok(done), Ok(all))) if done == all => format_counted(all, "change"),
        Some((Ok(done), Ok(all))) => format!("{done} of {}", format_counted(all, "change")),
        _ => heading.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_name_what_was_done_and_no_tool() {
        let said = |tool, ok, text| planning_step_text(tool, ok, text);
        assert_eq!(
            said("file.read", true, "path: src/a.rs\ntotal_lines: 2\n1\tx"),
            "read src/a.rs"
        );
        assert_eq!(said("grep", true, "matches: 36\nlines:"), "searched the files: 36 matches");
        assert_eq!(
            said("file.read", false, "there is no file x"),
            "read a file: there is no file x"
        );
        let facts = "fact 2: \"by May\": read as \"until 31 May\"\nfact 3: \"x\": kept as words";
        assert_eq!(said("record_fact", true, facts), "noted 2 facts");
        assert_eq!(
            said("record_fact", false, "item 1 not recorded: y"),
            "noted 0 facts, 1 not taken"
        );
        assert_eq!(said("NodeGenerator", true, "7 of 7 applied."), "changed the plan: 7 changes");
        assert_eq!(
            said("NodeGenerator", false, "6 of 7 applied.\n- Not applied: z"),
            "changed the plan: 6 of 7 changes"
        );
        assert_eq!(
            said("StageResult", false, "Not handed in yet.\n- to fix: a\n- to fix: b\nFix it"),
            "sent back to fix 2 findings"
        );
        assert_eq!(said("git.log", true, "lines: 3\noutput:"), "looked at the commits");
        assert_eq!(said("other.tool", true, "3 things"), "other.tool: 3 things");
    }
}
