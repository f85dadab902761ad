//! Whether a command that the user forbids occurs anywhere in a line.
//!
//! The line is parsed like a shell parses it, and each of its commands is compared by base name and arguments, wherever
//! it occurs. The words of a forbidden prefix must occur in order, with anything between them, because options and
//! their values may precede a subcommand: `git push` is found in `git -C . push`, and in `git stash push` as well. A
//! command that cannot be parsed, or is only known when it runs, is treated as the forbidden one.

use globset::Glob;

use super::destructive::runs_unseen_text;
use super::shell::{
    ShellWord, SimpleCommand, any_starter, base_name, interpreter_code, parse_shell_line,
    setting_names_program, simple_commands,
};

/// Whether a line runs a command that begins with the words of `prefix`.
pub(super) fn runs_prefix(line: &str, prefix: &str) -> bool {
    compare_prefix(line, prefix) != DenyMatch::None
}

/// Whether a line runs exactly this command, alone or among others.
pub(super) fn runs_command(line: &str, command: &str) -> bool {
    compare_command(line, command) != DenyMatch::None
}

pub(super) fn compare_prefix(line: &str, prefix: &str) -> DenyMatch {
    compare_line(line, prefix, DenyExtent::Prefix)
}

pub(super) fn compare_command(line: &str, command: &str) -> DenyMatch {
    if line == command {
        return DenyMatch::Certain;
    }
    compare_line(line, command, DenyExtent::Whole)
}

/// How a line relates to a forbidden command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DenyMatch {
    None,
    /// Part of the line cannot be parsed or is only known when it runs, and could be the forbidden command.
    Possible,
    Certain,
}

impl DenyMatch {
    fn certain_if(found: bool) -> Self {
        if found { Self::Certain } else { Self::None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DenyExtent {
    Prefix,
    Whole,
}

fn compare_line(line: &str, forbidden: &str, extent: DenyExtent) -> DenyMatch {
    let parsed = parse_shell_line(line);
    let unreadable = if parsed.unreadable { DenyMatch::Possible } else { DenyMatch::None };
    let found = match simple_commands(forbidden).as_slice() {
        [one] if !one.words.is_empty() => {
            let forbidden: Vec<String> = one.words.iter().map(|word| word.text.clone()).collect();
            let compare = |command| compare_simple(command, &forbidden, extent);
            parsed.commands.iter().map(compare).max().unwrap_or(DenyMatch::None)
        }
        // A rule for several commands at once can only be compared as text.
        _ => {
            let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            DenyMatch::certain_if(spaced(line).contains(&spaced(forbidden)))
        }
    };
    found.max(unreadable)
}

fn compare_simple(command: &SimpleCommand, forbidden: &[String], extent: DenyExtent) -> DenyMatch {
    let Some(head) = command.words.first() else { return DenyMatch::None };
    let hidden = head.is_hidden() && !command.uncertain && can_become(head, &forbidden[0]);
    if hidden || runs_unseen_text(command) {
        return DenyMatch::Possible;
    }
    DenyMatch::certain_if(is_forbidden(command, head, forbidden, extent))
}

/// Whether a program that is only known when it runs can be the forbidden one, or one that starts others. `*` and `?`
/// do not match `/`, so the base name decides.
fn can_become(head: &ShellWord, forbidden: &str) -> bool {
    let base = base_name(&head.text);
    if head.dynamic || !head.text.contains('/') || head.text.contains(['[', '{', '\\']) {
        return true;
    }
    // What cannot be read counts as a match.
    let Ok(glob) = Glob::new(base) else { return true };
    let glob = glob.compile_matcher();
    glob.is_match(base_name(forbidden)) || any_starter(|name| glob.is_match(name))
}

fn is_forbidden(
    command: &SimpleCommand,
    head: &ShellWord,
    forbidden: &[String],
    extent: DenyExtent,
) -> bool {
    let program = base_name(&head.text);
    let code = interpreter_code(command);
    if code.is_some_and(|code| mentions_words(&code, forbidden))
        || renames_program(command, program, forbidden)
    {
        return true;
    }
    let last = if takes_data_only(command, program) { 1 } else { command.words.len() };
    (0..last).any(|at| {
        let rest = &command.words[at + 1..];
        base_name(&command.words[at].text) == base_name(&forbidden[0])
            && match extent {
                DenyExtent::Prefix => words_follow(command, &forbidden[0], rest, &forbidden[1..]),
                DenyExtent::Whole => rest.iter().map(|word| &word.text).eq(&forbidden[1..]),
            }
    })
}

/// Whether the words of a rule follow the program: options in any position, the others in order.
fn words_follow(
    command: &SimpleCommand,
    program: &str,
    words: &[ShellWord],
    forbidden: &[String],
) -> bool {
    let (options, operands): (Vec<&String>, Vec<&String>) =
        forbidden.iter().partition(|word| word.starts_with('-') && word.len() > 1);
    if !options.iter().all(|option| has_option(words, option) || command.fed_arguments) {
        return false;
    }
    if operands.is_empty() {
        return true;
    }
    // A subcommand that is not known yet may be the forbidden one.
    let first = first_operand(base_name(program), words);
    if first.map_or(command.fed_arguments, ShellWord::is_hidden) {
        return true;
    }
    let mut remaining = operands.into_iter().peekable();
    for word in words {
        remaining.next_if(|operand| **operand == word.text);
    }
    remaining.peek().is_none()
}

fn has_option(words: &[ShellWord], option: &str) -> bool {
    let short = |text: &str| text.starts_with('-') && !text.starts_with("--");
    let letters = || words.iter().filter(|word| short(&word.text));
    let equal = words.iter().any(|word| {
        let rest = word.text.strip_prefix(option);
        word.dynamic || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    });
    equal
        || short(option)
            && option.chars().skip(1).all(|c| letters().any(|word| word.text.contains(c)))
}

/// The subcommand: the first word that is neither an option nor the value of an option known to take one.
fn first_operand<'w>(program: &str, words: &'w [ShellWord]) -> Option<&'w ShellWord> {
    const VALUED: [(&str, &[&str]); 6] = [
        ("git", &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]),
        ("cargo", &["-C", "-Z", "--config", "--manifest-path", "--color"]),
        ("docker", &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"]),
        ("kubectl", &["-n", "--namespace", "--context", "--kubeconfig", "--cluster", "-s"]),
        ("npm", &["-C", "--prefix", "-w", "--workspace", "--registry"]),
        ("make", &["-C", "-f", "-I", "-j"]),
    ];
    let valued = VALUED.iter().find(|(name, _)| *name == program).map_or(&[][..], |known| known.1);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.text.starts_with('-') || word.dynamic {
            return Some(word);
        }
        if valued.contains(&word.text.as_str()) {
            words.next();
        }
    }
    None
}

/// Whether code of another language contains the forbidden words, in order.
fn mentions_words(code: &str, forbidden: &[String]) -> bool {
    let mut remaining = forbidden.iter().peekable();
    for word in code.split(|c: char| !(c.is_alphanumeric() || "_-./".contains(c))) {
        remaining.next_if(|next| next.as_str() == word || next.as_str() == base_name(word));
    }
    remaining.peek().is_none()
}

/// Whether the forbidden program gets another name: `alias g=git`, or a git alias.
fn renames_program(command: &SimpleCommand, program: &str, forbidden: &[String]) -> bool {
    let arguments = command.arguments();
    let target = |value: &str| {
        value
            .split_whitespace()
            .next()
            .is_some_and(|word| base_name(word) == base_name(&forbidden[0]))
    };
    match program {
        "alias" => arguments
            .iter()
            .any(|word| word.text.split_once('=').is_some_and(|(_, value)| target(value))),
        "git" if base_name(&forbidden[0]) == "git" => {
            let aliases = |word: &ShellWord| word.text.to_lowercase().starts_with("alias.");
            arguments.windows(2).any(|pair| pair[0].text == "-c" && aliases(&pair[1]))
        }
        _ => false,
    }
}

/// Whether the arguments of a program are data and never start anything, so that a command name there is harmless.
fn takes_data_only(command: &SimpleCommand, program: &str) -> bool {
    const READERS: [&str; 47] = [
        "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "cat", "ls", "cd", "test", "[",
        "which", "type", "hash", "whereis", "head", "tail", "wc", "sort", "uniq", "cut", "tr",
        "diff", "cmp", "stat", "file", "touch", "mkdir", "rmdir", "rm", "cp", "mv", "ln", "chmod",
        "basename", "dirname", "realpath", "readlink", "pwd", "true", "false", "export", "read",
        "sed", "tee", "man",
    ];
    let arguments = command.arguments();
    match program {
        "command" => {
            arguments.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
        }
        "git" => !arguments.iter().enumerate().any(|(at, word)| {
            let setting = at > 0 && arguments[at - 1].text == "-c";
            matches!(
                word.text.as_str(),
                "foreach" | "run" | "-x" | "--exec" | "--extcmd" | "filter-branch" | "difftool"
            ) || setting
                && word.text.split_once('=').is_some_and(|(name, _)| setting_names_program(name))
        }),
        name => READERS.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_command_is_found_anywhere_in_a_line() {
        let lines = [
            "git push",
            "git  push",
            "git\tpush origin main",
            "git -C . push",
            "git --git-dir=x push",
            "git --git-dir x --no-pager push",
            "git -c user.name=x push",
            "/usr/bin/git push",
            "./../usr/bin/git push",
            "env git push",
            "env A=1 git push",
            "env -i PATH=/bin git push",
            "env -u HOME git push",
            "env -S 'git push'",
            "true; git push",
            "true && git push",
            "false || git push",
            "true | git push",
            "true & git push",
            "true\ngit push",
            "(git push)",
            "{ git push; }",
            "echo $(git push)",
            "echo \"$(git push)\"",
            "echo `git push`",
            "sh -c 'git push'",
            "bash -lc \"git push\"",
            "sh -c 'sh -c \"git push\"'",
            "eval git push",
            "eval 'git push'",
            "nice -n 5 git push",
            "nohup git push",
            "timeout 5 git push",
            "timeout --signal KILL 5 git push",
            "xargs git push < list",
            "echo origin | xargs -n 1 git push",
            "echo push | xargs git",
            "\\git push",
            "'gi't push",
            "\"git\" push",
            "g\"\"it pu's'h",
            "command git push",
            "exec git push",
            "busybox sh -c 'git push'",
            "flock lock git push",
            "sudo -u me git push",
            "if true; then git push; fi",
            "for r in a b; do git push $r; done",
            "case x in x) git push;; esac",
            "f() { git push; }; f",
            "f() { git \"$@\"; }; f push",
            "alias g=git\ng push",
            "g=git; $g push",
            "${GIT:-git} push",
            "git $(echo push)",
            "git \"$SUBCOMMAND\"",
            "X=push; git -C . $X",
            "sh <<EOF\ngit push\nEOF",
            "cat <<EOF\n$(git push)\nEOF",
            "bash <<< 'git push'",
            "cat <(git push)",
            "find . -exec git push {} \\;",
            "find . -name x -execdir sh -c 'git push' \\;",
            "python3 -c 'import os; os.system(\"git push\")'",
            "git -c alias.p=push p",
            "git -c alias.p='!git push' p",
            "git submodule foreach git push",
            "git bisect run git push",
            "parallel git push ::: origin",
            "watch 'git push'",
            "trap 'git push' EXIT",
            "/bin/g?t push",
            "{git,push}",
            "git push 'unclosed",
            "$(printf git) push",
            "time git push",
            "GIT_DIR=x git push",
            "ssh host git push",
            "docker run image git push",
            "git stash push",
            "set -- 1; for x do git push; done",
            "for ((i=0; i<1; i++)) do git push; done",
            "for ((i=0; i<1; i++)) { git push; }",
            "((git push); (true))",
            "((git push))",
            "echo \"$((git push); (true))\"",
            "[[ \"a ]]\" ]]; git push #\"",
            "[[ a || git push ]]",
            "cat <<EOF\nfoo\\\nEOF\n: '\nEOF\ngit push #'",
            "echo \"${x:-'}\"; git push #'}\"",
            "env - git push",
            "printf 'git push' | sh",
            "printf 'git push' | bash -s",
            "cat list | parallel",
            "sed '1e git push' f",
            "sed -n '/x/e git push' f",
            "sed 's/.*/git push/e' f",
            "sed \"$SCRIPT\" f",
            "/usr/bin/e?v git push",
            "/bin/s? -c 'git push'",
            "/usr/bin/* push",
        ];
        let missed: Vec<_> =
            lines.into_iter().filter(|line| !runs_prefix(line, "git push")).collect();
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn other_commands_are_not_affected() {
        let lines = [
            "git pull",
            "git status",
            "git commit -m 'git push'",
            "git add $FILES",
            "git -C \"$DIR\" status",
            "echo git push",
            "grep -rn 'git push' .",
            "grep push git",
            "cat <<'EOF'\ngit push\nEOF",
            "cargo test push",
            "echo 'git' | grep push",
            "git log --oneline # git push",
            "command -v git",
            "gitpush",
            "mygit push",
            "FOO='git push' make",
            "./scripts/*.sh push",
            "tests/run-? --all",
            "sed -n '1,20p' x",
            "sed -e 's/one/two/' x",
            "cat x.json | python3 -m json.tool",
            "bash <<EOF\nls\nEOF",
        ];
        let refused: Vec<_> =
            lines.into_iter().filter(|line| runs_prefix(line, "git push")).collect();
        assert!(refused.is_empty(), "{refused:#?}");
        assert!(!runs_prefix("grep curl README.md", "curl"));
        assert!(!runs_prefix("cat docs/curl", "curl"));
        assert!(!runs_prefix("cargo test $FILTER", "curl"));
    }

    #[test]
    fn options_of_a_forbidden_prefix_are_found_in_any_order() {
        for line in ["rm -rf x", "rm -fr x", "rm -r -f x", "rm x -rf", "/bin/rm -rfv x", "rm $X"] {
            assert!(runs_prefix(line, "rm -rf"), "{line}");
        }
        for line in ["rm -r x", "rm x", "git rm -f x"] {
            assert!(!runs_prefix(line, "rm -rf"), "{line}");
        }
        assert!(runs_prefix("docker --host x rm y --force=true", "docker rm --force"));
        assert!(runs_prefix("cargo --config x publish", "cargo publish"));
        assert!(runs_prefix("npm --prefix sub publish", "npm publish"));
        assert!(runs_prefix("kubectl -n x delete pod y", "kubectl delete"));
    }

    #[test]
    fn a_forbidden_exact_command_is_found_in_other_spellings_but_not_with_other_arguments() {
        for line in ["make x", "make  x", "/usr/bin/make x", "true; make x", "\\make 'x'", "$M x"] {
            assert!(runs_command(line, "make x"), "{line}");
        }
        assert!(!runs_command("make x y", "make x") && !runs_command("make", "make x"));
        assert!(runs_command("a  &&  b; c", "a && b"));
    }
}
