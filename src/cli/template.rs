//! `planwright template`: the kinds of plan there are, what one consists of, and keeping a plan as a kind of your own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::plan::write_atomically;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::{self, App};
use planwright_drafting::offline::TemplateLibrary;
use planwright_drafting::offline::blueprint::{
    Blueprint, BlueprintGroup, BlueprintTask, SavedBlueprint, write_blueprint,
};
use planwright_model::pattern::is_valid_subtype_name;
use planwright_text::units;

#[derive(Debug, Args)]
pub(crate) struct TemplateArgs {
    #[command(subcommand)]
    command: Option<TemplateCommand>,
}

#[derive(Debug, Subcommand)]
enum TemplateCommand {
    /// List the kinds of plan, by family
    List,
    /// Show the phases and tasks of a kind
    Show {
        /// The name of the kind, as in the list
        name: String,
    },
    /// Keep the plan of a session as a kind of your own
    Save {
        /// The session: its id, the beginning of it, or `last`
        session: String,
        /// The name of the new kind: letters, digits and _
        name: String,
        /// Name used in questions, such as "our summer party"
        #[arg(long)]
        label: Option<String>,
        /// Replace a kind of yours that has this name
        #[arg(long)]
        force: bool,
    },
}

pub(super) fn execute_template(
    shared: &SharedArgs,
    args: &TemplateArgs,
) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    match args.command.as_ref().unwrap_or(&TemplateCommand::List) {
        TemplateCommand::List => list_kinds(shared, &app.load_library()?),
        TemplateCommand::Show { name } => {
            let library = app.load_library()?;
            show_kind(shared, find_kind(&library, name)?)
        }
        TemplateCommand::Save { session, name, label, force } => {
            save_kind(&app, session, name, label.as_deref(), *force)
        }
    }
}

/// Finds a kind by its name, or says which are spelled alike.
pub(super) fn find_kind<'a>(
    library: &'a TemplateLibrary,
    name: &str,
) -> Result<&'a Blueprint, CliProblem> {
    library.named_blueprint(name).ok_or_else(|| {
        let similar = library.similar_names(name);
        let remedy = if similar.is_empty() {
            "planwright template list shows the kinds".to_owned()
        } else {
            format!("did you mean {}? planwright template list shows all", similar.join(", "))
        };
        CliProblem::usage(format!("there is no kind of plan `{name}`")).with_remedy(remedy)
    })
}

fn list_kinds(shared: &SharedArgs, library: &TemplateLibrary) -> anyhow::Result<CliExit> {
    let mut families: BTreeMap<&str, Vec<&Blueprint>> = BTreeMap::new();
    for file in library.all_blueprints() {
        let family = if file.family.is_empty() { "your own" } else { file.family.as_str() };
        families.entry(family).or_default().push(file);
    }
    let mut out = StdoutWriter::new();
    let width = library.all_blueprints().map(|file| file.name.len()).max().unwrap_or(0);
    for (family, files) in families {
        if !shared.json {
            out.write_line(family)?;
        }
        for file in files {
            let label = file.label.get_ref();
            if shared.json {
                let object =
                    serde_json::json!({ "name": file.name, "label": label, "family": family });
                out.write_line(&object.to_string())?;
            } else {
                out.write_hanging(&format!("  {:<width$}  {label}", file.name), width + 4)?;
            }
        }
    }
    Ok(CliExit::Success)
}

fn show_kind(shared: &SharedArgs, file: &Blueprint) -> anyhow::Result<CliExit> {
    let mut out = StdoutWriter::new();
    let tasks = file.all_tasks();
    let efforts = tasks.iter().filter_map(|task| task.effort.as_ref());
    let total: u64 = efforts.map(|own| u64::from(own.get_ref().likely())).sum();
    if shared.json {
        let tasks: Vec<&str> =
            file.all_tasks().iter().map(|task| task.title.get_ref().as_str()).collect();
        let object = serde_json::json!({
            "name": file.name,
            "label": file.label.get_ref(),
            "weeks": file.weeks.get_ref(),
            "minutes": total,
            "tasks": tasks,
        });
        out.write_line(&object.to_string())?;
        return Ok(CliExit::Success);
    }
    out.write_line(&format!("{}: {}", file.name, file.label.get_ref()))?;
    out.write_hanging(file.why.get_ref(), 0)?;
    let weeks = units::format_counted((*file.weeks.get_ref()).into(), "week");
    out.write_line(&format!(
        "{} of work over {weeks} by default; counts and repeats change it",
        units::format_planned(total)
    ))?;
    for task in &file.tasks {
        write_task(&mut out, task, 1)?;
    }
    for group in file.phases.iter().chain(&file.cycles) {
        write_group(&mut out, group, 0)?;
    }
    for question in &file.questions {
        out.write_hanging(&format!("Asks: {}", question.text), 6)?;
    }
    Ok(CliExit::Success)
}

fn write_group(out: &mut StdoutWriter, group: &BlueprintGroup, depth: usize) -> anyhow::Result<()> {
    out.write_line(&format!("{}{}", "  ".repeat(depth), group.title.get_ref()))?;
    for inner in group.phases.iter().chain(&group.sub_goals) {
        write_group(out, inner, depth + 1)?;
    }
    for task in &group.tasks {
        write_task(out, task, depth + 1)?;
    }
    Ok(())
}

fn write_task(out: &mut StdoutWriter, task: &BlueprintTask, depth: usize) -> anyhow::Result<()> {
    let effort = task.effort.as_ref().map(|own| own.get_ref().likely());
    let effort = effort.map(|minutes| format!(", {}", units::format_planned(minutes.into())));
    let marks = [(task.optional, ", optional"), (task.every.is_some(), ", repeats")];
    let marks: String = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
    let indent = "  ".repeat(depth);
    let line = format!("{indent}{}{}{marks}", task.title.get_ref(), effort.unwrap_or_default());
    out.write_hanging(&line, indent.len() + 2)?;
    Ok(())
}

fn save_kind(
    app: &App,
    session: &str,
    name: &str,
    label: Option<&str>,
    force: bool,
) -> anyhow::Result<CliExit> {
    if !is_valid_subtype_name(name) {
        return Err(CliProblem::usage(format!("`{name}` is not a name for a kind of plan"))
            .with_remedy("use 3 to 40 of a-z, 0-9 and _, letter first")
            .into());
    }
    let Some(store) = app.read_store()? else {
        return Err(app::unknown_session_error(session));
    };
    let id = app::find_session(&store, session)?;
    let mut history = app::session_history(&store, &id)?;
    let head = history.head_seq()?;
    let state = history.state_at(head)?;
    let talk = &state.planning;
    let (Some(outline), Some(roadmap)) = (&talk.outline, &talk.roadmap) else {
        return Err(CliProblem::usage(format!("session {} has no plan to save", id.short_id()))
            .with_remedy("plan it first; a session made from a plan file has no phases to keep")
            .into());
    };
    let noun = format!("a plan like \"{}\"", talk.goal.trim());
    let saved =
        SavedBlueprint { label: label.unwrap_or(&noun), context: &outline.plan_context, roadmap };
    let text = write_blueprint(&saved);
    let path = blueprint_path(app, name, force)?;
    write_atomically(&path, &text)?;
    // What was written must load again; a file that does not is worse than none.
    let library = app.load_library()?;
    find_kind(&library, name)?;
    StdoutWriter::new().write_hanging(
        &format!("saved as {}; planwright template show {name} shows it", path.display()),
        2,
    )?;
    Ok(CliExit::Success)
}

fn blueprint_path(app: &App, name: &str, force: bool) -> anyhow::Result<PathBuf> {
    let folder = app.config_dir().join("blueprints");
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let path = folder.join(format!("{name}.toml"));
    if path.exists() && !force {
        return Err(CliProblem::usage(format!("{} exists already", path.display()))
            .with_remedy("choose another name, or add --force to replace it")
            .into());
    }
    Ok(path)
}
