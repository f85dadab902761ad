//! The parser against the real shell: everything a line really starts must be found in it.

use std::process::{Command, Stdio};

use super::deny_match::runs_prefix;

/// Lines that are easy to misread. Each contains `touch started`, which leaves a file behind if it runs.
const LINES: [&str; 56] = [
    "touch started",
    "true; touch started",
    "false || touch started",
    "set -- 1; for x do touch started; done",
    "set -- 1; for x\ndo touch started; done",
    "set -- 1; for x d\\\no touch started; done",
    "for do in a; do touch started; done",
    "for x in do case y in a\ndo touch started\ndone",
    "for x in for do in; do touch started; done",
    "((touch started); (true))",
    "((touch started))",
    "(( touch started ) )",
    "echo \"$( (touch started); (true))\"",
    "echo \"$((touch started); (true))\"",
    "echo $((1 + $(touch started; echo 1)))",
    "false && echo \"$((1)'))\"; touch started #')\"",
    "(( 1 \" )) \" )); touch started\n: \"",
    "(( 1 # ))\ntouch started ))",
    "[[ \"a ]]\" ]]; touch started #\"",
    "[[ a || touch started ]]",
    "[[ a; touch started; ]]",
    "[[ a # ]]\ntouch started",
    "cat <<EOF\nfoo\\\nEOF\n: '\nEOF\ntouch started #'",
    "cat <<EOF\nfoo\\\\\nEOF\ntouch started",
    "cat <<EOF\n\\\nEOF\ntouch started\nEOF",
    "cat <<'EOF'\nfoo\\\nEOF\ntouch started",
    "cat <<-EOF\n\t'\n\tEOF\ntouch started #'",
    "cat <<E\\\nOF\n$(touch started)\nEOF",
    "cat <\\\n<EOF\n'\nEOF\ntouch started #'",
    "cat <<A <<B\n'\nA\n\"\nB\ntouch started #'\"",
    "cat <<EOF\n${x:-'}\n$(touch started)\n'}\nEOF",
    "cat <<EOF; touch started\n'\nEOF",
    "cat <<EOF\n`touch started`\nEOF",
    "echo \"${x:-'}\"; touch started #'}\"",
    "echo ${x:-'}'}; touch started",
    "echo \"${x:-\"}\"}\"; touch started",
    "echo \"${x:-$(touch started)}\"",
    "echo \"$\\\n(touch started)\"",
    "echo \"`echo \\\"; touch started; echo \\\"`\"",
    "echo `echo \\`touch started\\``",
    "env - PATH=\"$PATH\" touch started",
    "env -i PATH=\"$PATH\" touch started",
    "printf 'touch started' | sh",
    "echo 'touch started' | (cat | sh)",
    "echo started | xargs touch",
    "echo a#b; touch started",
    "echo a\\\n#b; touch started",
    "echo \\# ; touch started",
    "echo '\\'; touch started #'",
    "echo \"\\\\\"; touch started #\"",
    "case x in (x) touch started;; esac",
    "case x in y) ;; x) touch started; esac",
    "case esac in esac) ;; (esac) touch started;; esac; touch started",
    "i\\\nf true; then touch started; fi",
    "f() (touch started); f",
    "x='touch started'; eval \"$x\"",
];

/// Whether `/bin/sh` starts `touch started` when it runs the line.
fn really_starts(line: &str) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).current_dir(directory.path());
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().unwrap();
    directory.path().join("started").exists()
}

#[test]
fn everything_the_shell_starts_is_found_by_the_parser() {
    let started: Vec<_> = LINES.into_iter().filter(|line| really_starts(line)).collect();
    assert!(started.len() > LINES.len() / 2, "the lines run: {started:#?}");
    let missed: Vec<_> =
        started.into_iter().filter(|line| !runs_prefix(line, "touch started")).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
