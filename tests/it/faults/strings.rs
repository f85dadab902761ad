//! Hostile strings on every path that writes to a terminal without a screen: no control sequence gets through.
//!
//! The frames of screens are covered by `tui::tests::hostile`.

use crate::program::Place;
use crate::screen::Terminal;

/// Sequences that terminals act on, and characters that hide or reverse text.
const HOSTILE: [&str; 16] = [
    "\u{1b}[2J",
    "\u{1b}]0;owned\u{7}",
    "\u{1b}]52;c;QQ==\u{1b}\\",
    "\u{1b}]8;;http://x\u{1b}\\",
    "\u{1b}P+q\u{1b}\\",
    "\u{1b}",
    "\u{9b}31m",
    "\u{9d}0;x\u{9c}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}",
    "\u{2028}",
    "\u{8}\u{7f}",
    "\u{85}",
];

fn hostile() -> String {
    HOSTILE.join("x")
}

/// Everything in a terminal's input that it must not receive.
fn found(raw: &str) -> Vec<String> {
    // The progress bar below the lines of a run erases itself.
    raw.replace("\r\x1b[2K", "")
        .chars()
        .filter(|letter| {
            (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
                || matches!(letter, '\u{61c}' | '\u{ad}' | '\u{180e}' | '\u{feff}')
                || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
                || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2069}')
                || matches!(letter, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        })
        .map(|letter| format!("{letter:?}"))
        .collect()
}

/// Escaped for TOML, which accepts no raw control characters.
fn quoted(text: &str) -> String {
    let escaped: Vec<String> =
        text.chars().map(|letter| format!("\\U{:08X}", letter as u32)).collect();
    format!("\"{}\"", escaped.concat())
}

/// A session with hostile strings wherever a plan, its commands and a person can put them.
fn place() -> Place {
    let place = Place::new();
    let text = hostile();
    let words = quoted(&text);
    let output = std::fs::write(place.work().join("said"), format!("{text}\n{text}"));
    output.unwrap();
    let folder = place.work().join(text.replace('/', "_"));
    std::fs::create_dir(folder).unwrap();
    place.plan(&format!(
        "title = {words}\ngoal = {words}\n[[tasks]]\nid = \"a\"\ndescription = {words}\n\
         run = {{ shell = \"cat said; cat said >&2; exit 3\" }}\n\
         [[tasks]]\nid = \"b\"\ndescription = {words}\ndepends_on = [\"a\"]\nrun = {{ shell = \"cat said\" }}\n\
         [[tasks]]\nid = \"c\"\ndescription = {words}\nrun = {{ human = {{}} }}\n"
    ));
    place
}

/// What a terminal receives from a command.
fn received(place: &Place, args: &[&str]) -> String {
    let terminal = Terminal::start(place, args, 40, 120);
    terminal.end().1
}

#[test]
fn no_command_sends_control_sequences_to_a_terminal() {
    let place = place();
    let text = hostile();
    let commands: Vec<Vec<&str>> = vec![
        vec!["check", "../plan.toml"],
        vec!["graph", "../plan.toml"],
        vec!["run", "../plan.toml", "--headless", "--yes"],
        vec!["run", "../plan.toml", "--headless", "--yes", "--json"],
        vec!["resume", "last", "--headless"],
        vec!["sessions", "list"],
        vec!["sessions", "list", "--json"],
        vec!["sessions", "show", "last"],
        vec!["sessions", "show", "last", "--json"],
        vec!["sessions", "show", "last", "--result"],
        vec!["sessions", "show", "last", "--profile"],
        vec!["sessions", "traces", "last"],
        vec!["sessions", "search", "owned"],
        vec!["sessions", "bookmark", "last", "3", &text],
        vec!["sessions", "verify"],
        vec!["replay", "last", "--headless"],
        vec!["replay", "last", "--headless", "--json"],
        vec!["export", "last", "--format", "json"],
        vec!["export", "last", "--format", "jsonl"],
        vec!["export", "last", "--format", "markdown"],
        vec!["export", "last", "--format", "mermaid"],
        vec!["export", "last", "--format", "dot"],
        vec!["export", "last", "--format", "html"],
        vec!["export", "last", "--format", "otlp"],
        vec!["export", "last", "--format", "result"],
        vec!["export", "last", "--format", "plan-json"],
        vec!["export", "last", "--format", "toml"],
        vec!["diff", "last", "last"],
        vec!["plan", &text, "--headless", "--yes"],
        vec!["plan", &text, "--headless", "--yes", "--format", "markdown"],
        // Error messages repeat what was typed.
        vec!["run", &text, "--headless"],
        vec!["check", &text],
        vec!["import", &text],
        vec!["resume", &text],
        vec!["replay", &text],
        vec!["sessions", "show", &text],
        vec!["sessions", &text],
        vec!["--theme", &text, "run", "../plan.toml"],
        vec!["--provider", &text, "plan", "x", "--headless"],
        vec!["--jobs", &text, "sessions", "list"],
        vec!["--config", &text, "sessions", "list"],
        vec!["answer", "last", &text, "yes"],
        vec!["answer", "last", "next", &text],
        vec!["tools", "show", &text],
        vec!["tools", "call", &text, "{}"],
        vec!["config", "show"],
    ];
    let mut bad = Vec::new();
    for args in &commands {
        let raw = received(&place, args);
        let found = found(&raw);
        if !found.is_empty() {
            let shown: String = args.join(" ").escape_debug().take(60).collect();
            bad.push(format!("{shown}: {}", found[..found.len().min(8)].join(" ")));
        }
        assert!(!raw.contains("panicked"), "{args:?}: {raw}");
    }
    assert!(bad.is_empty(), "{} of {} commands: {bad:#?}", bad.len(), commands.len());
}

/// Linear mode prints, asks and repeats, and its output is still only text.
#[test]
fn linear_mode_sends_a_terminal_only_text() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["--plain", "run", "../plan.toml"], 40, 120);
    terminal.shows("Run this plan?");
    terminal.press_until("what\n", "Not one of the choices");
    terminal.keys("approve\n");
    terminal.shows("failed");
    terminal.keys("quit\n");
    let (_, raw) = terminal.end();
    assert!(found(&raw).is_empty(), "{:?}", found(&raw));
}
