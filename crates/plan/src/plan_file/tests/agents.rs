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

#[test]
fn each_of_several_agents_tries_the_task_and_the_task_picks_one() {
    let text = "[[tasks]]\nid = \"plan\"\ndescription = \"Plan it\"\nrun = { human = {} }\n\
        [[tasks]]\nid = \"fix\"\ndescription = \"Fix it\"\ndepends_on = [\"plan\"]\nduration = \"30m\"\n\
        exit_criteria = [{ kind = \"command\", command = \"make test\" }]\n\
        run = { agent = { best_of = [\"claude\", \"codex\", \"claude\"] } }\n\
        [[tasks]]\nid = \"ship\"\ndescription = \"Ship it\"\ndepends_on = [\"fix\"]\nrun = { human = {} }\n";
    let inputs = PlanFileInputs {
        agents: Some(vec!["claude".to_owned(), "codex".to_owned()]),
        ..PlanFileInputs::default()
    };
    let read = |text: &str| {
        parse_with_inputs(text, PlanFileFormat::Toml, "plan.toml", &inputs).unwrap().plan
    };
    let plan = read(text);
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["plan", "fix.claude", "fix.codex", "fix.claude-2", "fix", "ship"]);
    let needs = |at: usize| -> Vec<&str> {
        plan.tasks[at].dependencies.iter().map(|link| link.task.as_str()).collect()
    };
    for at in 1..4 {
        let task = &plan.tasks[at];
        assert_eq!((needs(at), task.run.candidate_of()), (vec!["plan"], Some(&"fix".into())));
        assert!(task.continue_on_error && task.duration_minutes == Some(30));
        assert_eq!(task.exit_criteria.len(), 1);
    }
    assert_eq!(plan.tasks[3].description, "Fix it (Claude Code, try 2)");
    assert_eq!(needs(4), ["fix.claude", "fix.codex", "fix.claude-2"]);
    assert!(plan.tasks[4].run.is_pick() && plan.tasks[4].duration_minutes == Some(0));
    assert_eq!(needs(5), ["fix"]);
    let written = write_toml(&plan);
    assert_eq!(written.matches("[[tasks]]").count(), 3, "{written}");
    assert!(written.contains("best_of = [\"claude\", \"codex\", \"claude\"]"), "{written}");
    assert_eq!(read(&written), plan, "{written}");
}

#[test]
fn several_agents_are_a_list_that_stands_alone() {
    let known = ["a", "b"];
    let (message, _) = wrong(r#"{ agent = { with = "a", best_of = ["a", "b"] } }"#, &known);
    assert!(message.ends_with("stands beside `with`"), "{message}");
    for list in [r#"["a"]"#, "[]", r#"["a", "b", "a", "b", "a", "b"]"#] {
        let (message, _) = wrong(&format!("{{ agent = {{ best_of = {list} }} }}"), &known);
        assert!(message.ends_with("must name 2 to 5 agents"), "{message}");
    }
    let (message, fix) = wrong(r#"{ agent = { best_of = "a" } }"#, &known);
    assert!(message.ends_with("must be a list of agents"), "{message}");
    assert!(fix.contains("best_of = ["), "{fix}");
    let (message, fix) = wrong(r#"{ agent = { best_of = ["a", "c"] } }"#, &known);
    assert!(message.contains("not set up, \"c\""), "{message}");
    assert!(fix.contains("Set up are a, b."), "{fix}");
}

#[test]
fn the_id_of_a_try_must_be_free() {
    let text = "[[tasks]]\nid = \"a\"\ndescription = \"Fix it\"\n\
        run = { agent = { best_of = [\"x\", \"y\"] } }\n\
        [[tasks]]\nid = \"a.y\"\ndescription = \"Another\"\n";
    let read = crate::plan_file::parse_plan_file(text, PlanFileFormat::Toml, "plan.toml");
    let error = read.unwrap_err();
    let messages: Vec<&str> = error.violations().iter().map(|one| one.message.as_str()).collect();
    assert!(messages[0].contains("needed for a try at `a`"), "{messages:?}");
    assert_eq!(error.violations()[0].line, Some(4));
}
