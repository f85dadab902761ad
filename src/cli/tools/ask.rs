//! Asking at the prompt of a terminal, and saying things beside the output.

use std::io::{BufRead, IsTerminal, Write};

use planwright_text::{clean_line, reveal_hidden};
use planwright_tools::permission::SandboxState;
use planwright_tools::{PermissionAnswer, PermissionRequest, ToolEffect};

/// Writes a line to standard error. If nobody reads it, nothing is lost.
pub(super) fn write_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether somebody can be asked here.
pub(super) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Shows what is asked and waits for an answer, for as long as it takes.
pub(super) fn ask_permission(ask: &PermissionRequest) -> PermissionAnswer {
    print_request(ask);
    // What was typed before the question appeared does not answer it.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    let rule = ask.offers.rule.clone();
    loop {
        let choices = if rule.is_some() {
            "a once · s this session · w always · x REASON deny · X stop"
        } else {
            "a once · x REASON deny · X stop"
        };
        // If nobody can see the question, nobody answers it, which the reading below finds.
        let _ = write!(std::io::stderr().lock(), "{choices}\n> ");
        let _ = std::io::stderr().flush();
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return PermissionAnswer::Nobody,
            Ok(_) => {}
        }
        match (line.trim(), rule.clone()) {
            ("a", _) => return PermissionAnswer::Once,
            ("s", Some(rule)) => return PermissionAnswer::Session { rule },
            ("w", Some(rule)) => return PermissionAnswer::Always { rule },
            ("X", _) => return PermissionAnswer::Stop,
            (line, _) if line == "x" || line.starts_with("x ") => {
                return PermissionAnswer::Deny { reason: line[1..].trim().to_owned() };
            }
            _ => write_stderr("that is none of the answers"),
        }
    }
}

/// What is asked, whole, with everything that could hide made visible.
fn print_request(ask: &PermissionRequest) {
    write_stderr(&format!("{} wants to run.", ask.tool));
    write_stderr(&format!("  why you are asked: {}", clean_line(&ask.why.describe())));
    let resolved = &ask.resolved;
    if let Some(command) = &resolved.command {
        for line in command.lines() {
            write_stderr(&format!("  command: {}", reveal_hidden(line)));
        }
    }
    if let Some(url) = &resolved.url {
        write_stderr(&format!("  address: {}", reveal_hidden(url)));
    }
    for touched in &resolved.paths {
        write_stderr(&format!("  place: {}", reveal_hidden(&touched.path)));
    }
    if resolved.command.is_none() && resolved.url.is_none() && resolved.paths.is_empty() {
        write_stderr(&format!("  arguments: {}", reveal_hidden(&resolved.args.to_string())));
    }
    if let Some(preview) = &resolved.preview {
        for line in preview.lines() {
            write_stderr(&format!("  | {}", reveal_hidden(line)));
        }
    }
    if resolved.effect == ToolEffect::ExecuteNetwork {
        write_stderr("  network: the command may reach any address");
    }
    if let SandboxState::NotEnforced { why } = &ask.sandbox {
        write_stderr(&format!("  commands are not confined here: {why}"));
    }
    if let Some(rule) = &ask.offers.rule {
        write_stderr(&format!("  session and always mean: {}", reveal_hidden(&rule.describe())));
    }
}
