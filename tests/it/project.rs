//! Settings of a project: what they may set before and after the person trusts them.

use serde_json::json;

use crate::tools::{Place, small_command};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn project(place: &Place, more: &str) {
    let command: Vec<String> = small_command().iter().map(|word| format!("{word:?}")).collect();
    let settings = format!(
        "{more}run_token_limit = 5000\n[[permissions.deny]]\ntool = \"file.write\"\n\
         [[permissions.allow]]\ntool = \"mcp.small.twice\"\n\
         [mcp.small]\ncommand = [{}]\nset = {{ SMALL_SERVER = \"Says a word twice\" }}\n",
        command.join(", ")
    );
    std::fs::create_dir_all(place.work().join(".planwright")).unwrap();
    std::fs::write(place.work().join(".planwright/config.toml"), settings).unwrap();
}

#[test]
fn a_project_may_tighten_and_needs_trust_for_everything_else() {
    let place = Place::new("");
    project(&place, "");
    let listed = place.run(&["tools", "list"]);
    assert!(!text(&listed.stdout).contains("mcp.small"), "{listed:?}");
    assert!(text(&listed.stderr).contains("is not trusted, left out: permissions, mcp.small"));
    let arguments = json!({ "path": "a.txt", "content": "x" });
    let (code, refused) = place.call("file.write", &arguments);
    assert_eq!((code, &refused["data"]["error"]["code"]), (1, &json!("denied")), "{refused}");
    let shown = text(&place.run(&["config", "show"]).stdout);
    let row = |name: &str| {
        shown.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(row("run_token_limit")[0].ends_with(".planwright/config.toml"), "{shown}");
    assert!(row("mcp.small")[0].ends_with("not trusted: left out"), "{shown}");
    let doctor = text(&place.run(&["doctor"]).stdout);
    assert!(doctor.contains("sandbox") && doctor.contains("left out: permissions, mcp.small"));

    let by_a_tool = std::process::Command::new(crate::tools::PROGRAM)
        .args(["config", "trust"])
        .current_dir(place.work())
        .env("PLANWRIGHT_DATA_DIR", place.dir.path().join("data"))
        .env("PLANWRIGHT_CALL_ID", "x/1/1")
        .output()
        .unwrap();
    assert_eq!(by_a_tool.status.code(), Some(2), "{by_a_tool:?}");

    let trusted = place.run(&["config", "trust"]);
    assert_eq!(trusted.status.code(), Some(0), "{trusted:?}");
    assert!(text(&trusted.stdout).contains("is trusted; after a change it must be trusted again"));
    assert!(text(&place.run(&["tools", "list"]).stdout).contains("mcp.small.twice"));
    let rules = text(&place.run(&["tools", "rules"]).stdout);
    assert!(rules.contains("by the project"), "{rules}");
    assert_eq!(place.run(&["tools", "rules", "revoke", "1"]).status.code(), Some(2));

    project(&place, "ascii = true\n");
    assert!(
        !text(&place.run(&["tools", "list"]).stdout).contains("mcp.small"),
        "a change asks again"
    );
}
