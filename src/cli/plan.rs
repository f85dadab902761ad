//! `planwright plan`: from a goal to an approved plan, on a screen or as lines.

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::guard::refuse_model;
use super::session::{
    ResumeRequest, block_on, follow_quietly, report_ending, require_screen, show_or_follow,
};
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter, plan_text};
use crate::app::App;
use crate::app::planning::{GoalSubmission, check_goal};
use crate::headless::PresetAnswers;
use planwright_drafting::goal_reading::{self, GoalReading};
use planwright_files::{self as files, FileLimit};
use planwright_model::PolicyOverride;
use planwright_plan::export::{self, CalendarEdition, PlanExport};
use planwright_state::PlanningSlice;

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// What you want to get done, in one sentence
    #[arg(required = true, num_args = 1..)]
    goal: Vec<String>,
    /// How the plan is printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: PlanFormat,
    /// Plan around the events of a calendar file
    #[arg(long, value_name = "FILE.ics")]
    calendar: Option<PathBuf>,
    /// The kind of plan, as `planwright template list` names it
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// Reply to the next question (repeatable, in order; `-` reads replies from standard input)
    #[arg(long, value_name = "REPLY")]
    answer: Vec<String>,
    /// Directory the tasks will run in [default: the current one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlanFormat {
    Text,
    Json,
    Markdown,
    /// A Mermaid flowchart
    Mermaid,
    /// A Mermaid Gantt chart
    Gantt,
    Dot,
    /// iCalendar, one event per block
    Ics,
}

pub(super) fn execute_plan(shared: &SharedArgs, args: &PlanArgs) -> anyhow::Result<CliExit> {
    refuse_model("start a plan")?;
    require_screen(shared)?;
    let goal = args.goal.join(" ");
    check_goal(&goal)?;
    let app = App::settings_only(shared)?;
    app.check_screen(shared)?;
    if let Some(kind) = &args.kind {
        super::template::find_kind(&app.load_library()?, kind)?;
    }
    let request = GoalSubmission {
        goal,
        kind: args.kind.clone(),
        policy: parse_policy(&shared.policy)?,
        calendar: args.calendar.clone(),
    };
    let workspace = match &args.workspace {
        Some(named) => super::run::existing_directory(named)?,
        None => std::env::current_dir().context("finding the current directory")?,
    };
    let answers = PresetAnswers {
        approve_plans: shared.yes,
        offline_fallback: app.settings.models.offline_fallback.value,
        keeps_plans: true,
        replies: collect_replies(&args.answer)?,
        ..PresetAnswers::default()
    };
    let store = app.open_store()?;
    block_on(async {
        let handle = app.start_goal(&store, &request, &workspace, !shared.headless).await?;
        if !shared.headless {
            return show_or_follow(shared, &app, &store, handle, answers.into()).await;
        }
        let request = ResumeRequest::from(answers);
        let (id, state, exit) = follow_quietly(&store, handle, request).await?;
        let format = if shared.json { PlanFormat::Json } else { args.format };
        let talk = &state.planning;
        let failed = crate::headless::model_failure(&state).is_some();
        if let Some(failure) = plan_text::replaced_model_failure(talk) {
            super::eprint_line(&format!(
                "planwright: the offline planner drafted this instead of {}, which failed: {}",
                planwright_text::clean_line(talk.drafter.as_str()),
                planwright_text::clean_line(failure)
            ));
        }
        let now = Timestamp::now();
        let today = now.to_zoned(crate::config::time_zone()).date();
        let reading = said_reading(talk, today);
        if talk.roadmap.is_none() && !shared.json {
            // What waits is asked about a goal: what was read of it comes first.
            for line in plan_text::reading_lines(talk, &reading) {
                super::eprint_line(&line);
            }
        }
        let has_plan = talk.roadmap.is_some() && !failed;
        if has_plan || args.format == PlanFormat::Json {
            let text = match format {
                PlanFormat::Json => plan_text::render_plan_json(&id, &state)?,
                _ => format_plan(talk, format, &reading, now)?,
            };
            match &args.output {
                Some(path) => write_atomically(path, &text)?,
                None if format == PlanFormat::Text => print_hanging(&text)?,
                None => StdoutWriter::new().write_text(&text)?,
            }
        }
        report_ending(&store, &id, &state, exit, shared.json);
        store.close();
        Ok(exit)
    })
}

/// The command that a goal nearly is: more likely a slip than a goal. A word alone, or one that is followed by what
/// commands take, such as `last` or a file.
pub(super) fn nearest_command(words: &[String]) -> Option<(&str, String)> {
    use clap::CommandFactory as _;
    let mut bare = words.iter().filter(|word| !word.starts_with('-'));
    let word = bare.next()?;
    if word.contains(char::is_whitespace) || !bare.all(|next| is_command_argument(next)) {
        return None;
    }
    if Path::new(word).is_file() && is_command_argument(word) {
        return Some((word, format!("run {word}")));
    }
    if let Some((_, near)) = USUAL_COMMANDS.iter().find(|(usual, _)| *usual == word) {
        return Some((word, (*near).to_owned()));
    }
    let command = super::Cli::command();
    let names: Vec<String> =
        command.get_subcommands().map(|known| known.get_name().to_owned()).collect();
    let near = planwright_text::nearest_name(word, names.iter().map(String::as_str))?;
    Some((word, near.to_owned()))
}

/// What other programs call our commands. A goal of one such word is hardly meant.
const USUAL_COMMANDS: &[(&str, &str)] = &[
    ("delete", "sessions rm"),
    ("history", "sessions list"),
    ("init", "config init"),
    ("list", "sessions list"),
    ("log", "logs"),
    ("ls", "sessions list"),
    ("new", "plan"),
    ("open", "replay"),
    ("remove", "sessions rm"),
    ("rm", "sessions rm"),
    ("settings", "config show"),
    ("show", "sessions show"),
    ("start", "run"),
    ("status", "ps"),
    ("tasks", "today"),
    ("update", "doctor"),
    ("validate", "check"),
    ("verify", "sessions verify"),
    ("version", "--version"),
    ("view", "replay"),
];

/// Whether a word is what commands take and sentences do not have: a session or a file.
fn is_command_argument(word: &str) -> bool {
    let is_id = word.len() >= 6 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    word == "last" || is_id || matches!(ending, Some("toml" | "json" | "md" | "jsonl" | "zst"))
}

/// `planwright GOAL` is read as `planwright plan GOAL`; what comes here is a slip.
pub(super) fn unknown_command_error(words: &[String]) -> anyhow::Error {
    let Some((word, near)) = nearest_command(words) else {
        return CliProblem::usage("there is no such command")
            .with_remedy("planwright --help lists them")
            .into();
    };
    let (what, remedy) = if Path::new(word).is_file() {
        (format!("`{word}` is a file"), format!("run it with `planwright {near}`."))
    } else {
        (format!("there is no command `{word}`"), format!("did you mean `planwright {near}`?"))
    };
    CliProblem::usage(what)
        .with_remedy(format!("{remedy} To plan that as a goal: planwright plan {word}"))
        .into()
}

pub(super) fn parse_policy(given: &[String]) -> anyhow::Result<PolicyOverride> {
    let mut policy = PolicyOverride::default();
    for pair in given {
        let (field, value) = pair.split_once('=').ok_or_else(|| {
            CliProblem::usage(format!("`{pair}` is not key=value"))
                .with_remedy("try --policy tone=neutral")
        })?;
        let set = planwright_drafting::policy_text::set_control(field.trim(), value.trim())
            .map_err(|error| CliProblem::usage(error.to_string()).with_remedy(error.hint()))?;
        policy = policy.merged_with(&set);
    }
    Ok(policy)
}

/// Replies from the command line, and from standard input where `-` stands.
fn collect_replies(given: &[String]) -> anyhow::Result<VecDeque<String>> {
    let mut replies = VecDeque::new();
    for reply in given {
        if reply != "-" {
            replies.push_back(reply.clone());
            continue;
        }
        if std::io::stdin().is_terminal() {
            return Err(CliProblem::usage(
                "`--answer -` reads replies, and standard input is a terminal",
            )
            .with_remedy("pipe one reply a line into it")
            .into());
        }
        let text = files::read_stream(std::io::stdin().lock(), FileLimit::ANSWERS)
            .context("reading replies from standard input")?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        replies.extend(lines.map(str::to_owned));
    }
    Ok(replies)
}

fn format_plan(
    talk: &PlanningSlice,
    format: PlanFormat,
    reading: &GoalReading,
    now: Timestamp,
) -> anyhow::Result<String> {
    let (Some(outline), Some(roadmap)) = (&talk.outline, &talk.roadmap) else {
        return Ok(String::new());
    };
    let context = &outline.plan_context;
    let exported = PlanExport { context, roadmap, schedule: talk.schedule.as_deref(), run: None };
    Ok(match format {
        PlanFormat::Text | PlanFormat::Json => plan_text::render_plan_text(talk, reading),
        PlanFormat::Markdown => export::render_markdown(&exported),
        PlanFormat::Mermaid => export::render_flowchart(&exported),
        PlanFormat::Gantt => export::render_gantt(&exported),
        PlanFormat::Dot => export::render_dot(&exported),
        PlanFormat::Ics => {
            let plan_id = context.goal_text.as_str();
            let edition = CalendarEdition { plan_id, stamp: now, revision: 0 };
            export::render_ical(&exported, &edition, &[])?
        }
    })
}

/// Prints a text whose lines may be long: on a terminal what is broken stays under its beginning.
fn print_hanging(text: &str) -> std::io::Result<()> {
    let mut out = StdoutWriter::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        out.write_hanging(line, indent + 2)?;
    }
    Ok(())
}

/// Whether a path names something that a file must not replace: a device, a pipe, a terminal.
pub(super) fn is_special_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Writes a file whole or not at all. A device or a pipe is written to as it is.
pub(super) fn write_atomically(path: &Path, text: &str) -> anyhow::Result<()> {
    if is_special_file(path) {
        return std::fs::write(path, text).with_context(|| format!("writing {}", path.display()));
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .with_context(|| format!("writing {}", path.display()))
}

/// What was read of the goal: by the model that plans in a conversation, or by the built-in reader.
fn said_reading(talk: &planwright_state::PlanningSlice, today: jiff::civil::Date) -> GoalReading {
    if !talk.is_read_by_model() {
        return goal_reading::read_goal(&talk.goal, today);
    }
    let readings = talk.facts.active().filter_map(|fact| fact.reading.as_ref());
    GoalReading {
        read: readings.map(|reading| reading.describe(today)).collect(),
        ..GoalReading::default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::FileTypeExt as _;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_stays_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan.md");
        for text in ["a longer first text\n", "second\n"] {
            write_atomically(&path, text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_named_pipe_is_written_to_and_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (pipe, link) = (dir.path().join("pipe"), dir.path().join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            let from = pipe.clone();
            let reader = std::thread::spawn(move || std::fs::read_to_string(from));
            write_atomically(path, "what is exported\n").unwrap();
            // A reader of a pipe that was replaced would wait forever.
            let kind = std::fs::metadata(&pipe).unwrap().file_type();
            assert!(kind.is_fifo(), "{} is not a pipe any more", pipe.display());
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(reader.join().unwrap().unwrap(), "what is exported\n");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left beside it");
    }

    #[test]
    fn what_leads_to_a_device_is_written_to_and_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        write_atomically(&link, "gone\n").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(std::fs::metadata(&link).unwrap().file_type().is_char_device());
    }
}
