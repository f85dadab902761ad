//! An agent whose process is killed around a write: what the disk shows is not asked about, and nothing is written twice.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::models::server::Server;
use crate::models::wire::Format;
use crate::tools::{PROGRAM, Place};

const PLAN: &str = "title = \"Double it\"\n[[tasks]]\nid = \"double\"\ndescription = \"Double the a\"\ntools = [\"file.edit\"]\nrun = { agent = {} }\n";

fn config(model: &Server) -> String {
    format!(
        "worktrees = false\nprovider = \"mock\"\nprotocol = \"tools\"\n[providers.mock]\nkind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\n\
         api_key_cmd = \"echo a-key-for-tests\"\nconsent = true\n",
        model.url
    )
}

/// Runs the plan and kills it this many lines after the call was decided. Returns what was printed.
fn killed(place: &Place, plan: &str, lines_after: usize) -> Vec<Value> {
    let mut child = Command::new(PROGRAM)
        .args(["run", plan, "--headless", "--yes", "--json"])
        .current_dir(place.work())
        .env("PLANWRIGHT_DATA_DIR", place.dir.path().join("data"))
        .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut seen: Vec<Value> = Vec::new();
    while let Some(line) = lines.next() {
        let decided = line.contains("\"kind\":\"acted\"");
        seen.push(serde_json::from_str(&line).unwrap());
        if decided {
            seen.extend(
                lines
                    .by_ref()
                    .take(lines_after)
                    .filter_map(|line| serde_json::from_str(&line).ok()),
            );
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_around_a_write_leaves_no_question_and_no_second_write() {
    for (lines_after, copies) in (0..5).flat_map(|lines| [(lines, false), (lines, true)]) {
        // A second edit would find two matches, and fail.
        let edit =
            Format::OpenAi.call("file_edit", &json!({ "path": "a.txt", "old": "a", "new": "aa" }));
        let done = Format::OpenAi.call("task_done", &json!({ "answer": "It is doubled." }));
        let acts = vec![Format::OpenAi.stream(edit), Format::OpenAi.stream(done)];
        let model = Server::start(acts).await;
        let written = config(&model).replace("= false", &format!("= {copies}"));
        let place = Place::new(&written);
        std::fs::write(place.work().join("a.txt"), "a\n").unwrap();
        let plan = place.dir.path().join("plan.toml");
        std::fs::write(&plan, PLAN).unwrap();
        let (printed, output) = tokio::task::block_in_place(|| {
            let printed = killed(&place, plan.to_str().unwrap(), lines_after);
            (printed, place.run(&["resume", "last", "--headless", "--yes", "--json"]))
        });
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!stdout.contains("in_doubt"), "{lines_after}: {stdout}");
        let mut ended = output.status.code();
        if copies {
            // It was written in the copy of the task, once, and waits to be applied.
            assert_eq!(ended, Some(3), "{lines_after}: {stdout}\n{printed:?}");
            let before = std::fs::read_to_string(place.work().join("a.txt")).unwrap();
            assert_eq!(before, "a\n", "{lines_after}: {stdout}");
            let apply = ["answer", "last", "next", "apply", "--headless", "--json"];
            ended = tokio::task::block_in_place(|| place.answer_and_resume(&apply)).status.code();
        }
        assert_eq!(ended, Some(0), "{lines_after}: {stdout}\n{printed:?}");
        let text = std::fs::read_to_string(place.work().join("a.txt")).unwrap();
        assert_eq!(text, "aa\n", "{lines_after}: {stdout}");
    }
}
