//! What only a person may do: approve what they have seen, and decide about their own data.

use crate::agents::{code, words};
use crate::program::{Place, json_lines};

/// A plan with a command that a model drafted, whose second half is hidden by a direction mark.
const DRAFTED: &str = "title = \"Drafted\"\n\
    [[tasks]]\nid = \"own\"\ndescription = \"Mine\"\nrun = { shell = \"echo own >> done\" }\n\
    [[tasks]]\nid = \"theirs\"\ndescription = \"Harmless\"\norigin = \"ai_adaptation\"\n\
    run = { shell = \"echo theirs  >> done # \\u202Ekcatta\\necho second >> done\" }\n";

const OWN: &str = "title = \"Own\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\n\
    run = { shell = \"echo a >> done\" }\n";

fn written(place: &Place) -> String {
    std::fs::read_to_string(place.work().join("done")).unwrap_or_default()
}

fn shows_the_drafted(text: &str) {
    assert!(text.contains("theirs: echo theirs  >> done # <U+202E>kcatta"), "{text}");
    assert!(text.contains("| echo second >> done"), "{text}");
    assert!(!text.contains('\u{202e}'), "nothing hides: {text}");
}

/// The command line that, according to the program, approves the plan, without the program's name.
fn suggested_command(text: &str) -> Vec<String> {
    let at = text.find("planwright answer").unwrap_or_else(|| panic!("{text}"));
    let line = text[at..].lines().next().unwrap();
    line.split_whitespace().skip(1).map(str::to_owned).collect()
}

#[test]
fn drafted_commands_are_shown_and_named_before_they_are_approved() {
    let place = Place::new();
    let file = place.plan(DRAFTED);
    let asked = place.run(&["run", &file, "--headless"]);
    assert_eq!(code(&asked), 3, "{}", words(&asked));
    shows_the_drafted(&words(&asked));
    shows_the_drafted(&words(&place.run(&["sessions", "show", "last"])));
    let shown = json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0);
    assert_eq!(shown["drafted_commands"][0]["task"], "theirs");
    for reply in ["approve", "approve and stop"] {
        let blind = place.answer_and_resume(&["answer", "last", "next", reply, "--headless"]);
        assert_eq!(code(&blind), 3, "{}", words(&blind));
        shows_the_drafted(&words(&blind));
    }
    let wrong =
        place.answer_and_resume(&["answer", "last", "next", "approve", "--revision", "0000000"]);
    assert_eq!(code(&wrong), 3, "{}", words(&wrong));
    assert!(words(&wrong).contains("not 0000000"), "{}", words(&wrong));
    let shown = json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0);
    assert!(shown["approval"].is_null(), "{shown}");
    assert_eq!(written(&place), "", "nothing ran");

    let mut line = suggested_command(&words(&asked));
    line.push("--headless".to_owned());
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let approved = place.answer_and_resume(&line);
    // Where nothing can confine a model's command, it needs a separate approval.
    assert!(matches!(code(&approved), 0 | 3), "{}", words(&approved));
    let shown = json_lines(&place.run(&["sessions", "show", "last", "--json"])).remove(0);
    assert!(!shown["approval"].is_null(), "{shown}");
    assert!(written(&place).contains("own"), "{}", words(&approved));
}

#[test]
fn a_question_about_a_command_shows_it_byte_for_byte() {
    let place = Place::new();
    let file = place.plan(DRAFTED);
    let strict = ["--policy", "approval_policy=strict_every_step"];
    let output = place.run(&["run", &file, "--headless", "--yes", strict[0], strict[1]]);
    assert_eq!(code(&output), 3, "{}", words(&output));
    let shown = words(&place.run(&["sessions", "show", "last"]));
    assert!(shown.contains("Command: echo theirs  >> done # <U+202E>kcatta"), "{shown}");
    assert!(shown.contains("| echo second >> done"), "{shown}");
}

#[test]
fn a_flag_that_approves_shows_what_a_model_drafted() {
    let place = Place::new();
    let drafted = place.plan(DRAFTED);
    shows_the_drafted(&words(&place.run(&["run", &drafted, "--headless", "--yes"])));
    let own = place.plan(OWN);
    let output = place.run(&["run", &own, "--headless", "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert!(!words(&output).contains("a model wrote"), "{}", words(&output));
}

/// A model's command can neither decide for the person nor change their data; it can read.
#[test]
fn a_models_command_decides_nothing_and_changes_no_session() {
    let place = Place::new();
    let file = place.plan(OWN);
    assert_eq!(code(&place.run(&["run", &file, "--headless"])), 3);
    let before = place.sessions();
    let inside = |args: &[&str], by: Option<&str>| {
        let mut command = place.command(args);
        command.env("PLANWRIGHT_CALL_ID", "x/a.1.1");
        by.map(|by| command.env("PLANWRIGHT_CALL_BY", by));
        command.output().unwrap()
    };
    let refused: [&[&str]; 17] = [
        &["run", "last", "--headless", "--yes"],
        &["run", &file, "--headless", "--yes"],
        &["plan", "a goal", "--headless", "--yes"],
        &["resume", "last", "--headless"],
        &["resume", "last", "--headless", "--in-doubt", "done"],
        &["resume", "last", "--headless", "--retry", "failed"],
        &["answer", "last", "next", "approve"],
        &["today", "done", "1"],
        &["today", "skip", "1"],
        &["today", "move", "1", "tomorrow"],
        &["sessions", "rm", "last", "--yes"],
        &["sessions", "prune", "--older-than", "1d", "--yes"],
        &["fork", "last", "--at", "1"],
        &["import", "export.json"],
        &["config", "trust"],
        &["tools", "trust", "mcp.x"],
        &["tools", "rules", "revoke", "1"],
    ];
    for args in refused {
        let output = inside(args, None);
        assert_eq!(code(&output), 2, "{args:?}: {}", words(&output));
        assert!(words(&output).contains("cannot"), "{args:?}: {}", words(&output));
    }
    for args in [
        &["sessions", "list"][..],
        &["sessions", "show", "last"],
        &["export", "last", "--format", "json"],
        &["today"],
        &["tools", "rules"],
        &["check", &file],
    ] {
        let output = inside(args, None);
        assert_eq!(code(&output), 0, "{args:?}: {}", words(&output));
    }
    assert_eq!(place.sessions(), before);
    assert_eq!(written(&place), "");
    // A task of the person's own plan may start things, but never answers for them.
    assert_eq!(code(&inside(&["run", "last", "--headless", "--yes"], Some("person"))), 2);
    assert_eq!(code(&inside(&["answer", "last", "next", "approve"], Some("person"))), 2);
    let started = inside(&["run", &file, "--headless", "--yes"], Some("person"));
    assert_eq!(code(&started), 0, "{}", words(&started));
    assert_eq!(written(&place), "a\n");
}

/// Planwright marks the tasks that it really starts, and a model cannot claim to be the person.
#[test]
fn a_task_of_the_person_may_run_another_plan_and_a_command_of_a_model_may_not() {
    let place = Place::new();
    let program = assert_cmd::cargo::cargo_bin("planwright");
    let other = place.dir.path().join("other.toml");
    std::fs::write(&other, OWN).unwrap();
    let script = format!("'{}' run '{}' --headless --yes", program.display(), other.display());
    let outer = format!(
        "title = \"Outer\"\n[[tasks]]\nid = \"nest\"\ndescription = \"x\"\nrun = {{ shell = \"{script}\" }}\n"
    );
    let output = place.run(&["run", &place.plan(&outer), "--headless", "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(written(&place), "a\n");
    // A shell with a model's mark starts one that claims to be the person's.
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("PLANWRIGHT_CALL_BY=person {script}; exit $?")])
        .env("PLANWRIGHT_CALL_ID", "x/a.1.1")
        .env("PLANWRIGHT_DATA_DIR", place.data())
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .current_dir(place.work())
        .output()
        .unwrap();
    assert_eq!(code(&output), 2, "{}", words(&output));
    assert_eq!(written(&place), "a\n");
}

#[test]
fn values_of_secret_variables_are_redacted_everywhere() {
    let place = Place::new();
    // In two halves, so that no file of the repository contains it; and nothing about it looks like a secret.
    let secret = ["winter", "garden", "lamp"].concat();
    let file = place.plan(
        "title = \"Says it\"\n[[tasks]]\nid = \"a\"\ndescription = \"x\"\n\
         run = { shell = \"printenv SHOP_DB_PASSWORD; echo said\" }\n",
    );
    let mut command = place.command(&["run", &file, "--headless", "--yes", "--json"]);
    let output = command.env("SHOP_DB_PASSWORD", &secret).output().unwrap();
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert!(words(&output).contains("[redacted:loaded_key]"), "{}", words(&output));
    let export = place.run(&["export", "last", "--format", "json"]);
    for text in [words(&output), words(&export)] {
        assert!(!text.contains(&secret), "{text}");
    }
}
