//! What agents changed in the workspace up to an event, as a patch that `git apply` takes.

use std::fmt::Write;

use super::file_changes::{ChangedFile, EditLog};
use planwright_model::Seq;

/// Renders the patch. Its first lines, which no program reads as part of it, tell what is not in it.
pub fn render_workspace_patch(log: &EditLog, at: Seq) -> String {
    let files = log.files_at(at);
    let commands = log.commands_up_to(at);
    let mut text = format!("Edits of agents up to event {}: {} files.\n", at.0, files.len());
    if commands > 0 {
        let _ = writeln!(
            text,
            "{commands} commands were started until then; what they changed is not in the journal and not in this patch."
        );
    }
    for file in &files {
        text.push('\n');
        write_file(file, &mut text);
    }
    text
}

/// A file that is new is whole; another one has one patch for each edit, which apply one after the other.
fn write_file(file: &ChangedFile<'_>, text: &mut String) {
    let path = file.path;
    let created = file.edits.iter().rposition(|edit| edit.created);
    if let Some(lines) = file.content().filter(|_| created.is_some()) {
        let _ = writeln!(text, "diff --git a/{path} b/{path}\nnew file mode 100644");
        if !lines.is_empty() {
            let _ = writeln!(text, "--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@", lines.len());
            for line in &lines {
                let _ = writeln!(text, "+{line}");
            }
        }
        return;
    }
    for edit in file.edits.iter().filter(|edit| !edit.diff.is_empty()) {
        let _ = writeln!(text, "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}");
        text.push_str(&edit.diff);
        if !edit.diff.ends_with('\n') {
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_edits_is_a_patch_without_files() {
        let text = render_workspace_patch(&EditLog::default(), Seq(4));
        assert_eq!(text, "Edits of agents up to event 4: 0 files.\n");
    }
}
