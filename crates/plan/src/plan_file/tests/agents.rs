//! Which agent does a task, as a plan file says it.

use super::*;
use crate::plan_file::{PlanFileInputs, parse_with_inputs, write_toml};
use planwright_model::AgentRun;

fn read(run: &str, known: Option<&[&str]>) -> Result<PlanFile, PlanFileError> {
    let agents = known.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    let inputs = PlanFileInputs { agents, ..PlanFileInputs::default() };
    let text = format!("[[tasks]]\nid = \"a\"\ndescription = \"Fix it\"\nrun = {run}\n");
    parse_with_inputs(&text, PlanFileFormat::Toml, "plan.toml", &inputs)
}

fn wrong(run: &str, known: &[&str]) -> (String, String) {
    let error = read(run, Some(known)).unwrap_err();
    let [one] = error.violations() else { panic!("{:?}", error.violations()) };
    assert_eq!(one.line, Some(4));
    (one.message.clone(), one.suggested_fix.clone())
}

#[test]
fn a_task_names_its_agent_and_is_written_as_it_was() {
    let one = read(r#"{ agent = { with = "claude" } }"#, Some(&["claude"])).unwrap().plan;
    assert_eq!(one.tasks[0].run, RunKind::Agent(AgentRun::with_agent("claude")));
    let text = write_toml(&one);
    let again = crate::plan_file::parse_plan_file(&text, PlanFileFormat::Toml, "plan.toml");
    assert_eq!(again.unwrap().plan.tasks[0].run, one.tasks[0].run, "{text}");
    assert_eq!(read("{ agent = {} }", None).unwrap().plan.tasks[0].run, RunKind::agent());
}

#[test]
fn an_agent_that_is_not_set_up_is_an_error_with_a_remedy() {
    let (message, fix) = wrong(r#"{ agent = { with = "cluade" } }"#, &["claude", "codex"]);
    assert_eq!(message, "`tasks[0].run.agent.with` names an agent that is not set up, \"cluade\"");
    assert_eq!(
        fix,
        "Did you mean \"claude\"? Set up are claude, codex. `planwright agents list` shows what else is installed."
    );
    let (_, fix) = wrong(r#"{ agent = { with = "claude" } }"#, &[]);
    assert!(fix.starts_with("Run `planwright agents list`"), "{fix}");
    // Where nobody can tell which agents there are, no name is wrong.
    assert!(read(r#"{ agent = { with = "x" } }"#, None).is_ok());
}

#[test]
fn a_field_of_agents_that_nobody_knows_is_an_error() {
    let (message, _) = wrong(r#"{ agent = { wth = "a" } }"#, &["a"]);
    assert!(message.contains("wth"), "{message}");
}
