//! The environment of a confined command: nothing of the user's except what is listed here or by them.

use std::collections::BTreeMap;
use std::path::Path;

/// Variables that are passed on unchanged.
const KEPT: [&str; 6] = ["PATH", "LANG", "LANGUAGE", "USER", "LOGNAME", "TZ"];
/// Parts of names whose variables may contain secrets or change how programs are loaded.
const SENSITIVE_PARTS: [&str; 5] = ["KEY", "SECRET", "TOKEN", "PASS", "CRED"];

/// Builds the environment from the user's. `listed` are names the user allows; a name may end in `*`, which never
/// matches sensitive names: those must be listed individually.
pub fn build_environment(
    user_env: &BTreeMap<String, String>,
    listed: &[String],
    private: &Path,
    more: &[(String, String)],
) -> BTreeMap<String, String> {
    let kept = user_env.iter().filter(|(name, _)| {
        KEPT.contains(&name.as_str()) || name.starts_with("LC_") || is_listed(name, listed)
    });
    let mut built: BTreeMap<String, String> =
        kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    let path = |name: &str| private.join(name).display().to_string();
    let fixed = [
        ("HOME", path("home")),
        ("TMPDIR", path("tmp")),
        ("TERM", "dumb".to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("CI", "1".to_owned()),
        ("PAGER", "cat".to_owned()),
        ("GIT_PAGER", "cat".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        // Inside the sandbox, root cannot change the owner of files, which tar would try.
        ("TAR_OPTIONS", "--no-same-owner".to_owned()),
    ];
    for (name, value) in fixed {
        // A name that the user lists keeps the user's value, except for directories that are not readable.
        let own = matches!(name, "HOME" | "TMPDIR") || !is_listed(name, listed);
        if own || !built.contains_key(name) {
            built.insert(name.to_owned(), value);
        }
    }
    built.entry("PATH".to_owned()).or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    built.extend(more.iter().cloned());
    built
}

fn is_listed(name: &str, listed: &[String]) -> bool {
    listed.iter().any(|entry| match entry.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix) && !is_sensitive_name(name),
        None => entry == name,
    })
}

/// Whether a name must be listed individually.
fn is_sensitive_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SENSITIVE_PARTS.iter().any(|part| upper.contains(part))
        || upper.starts_with("LD_")
        || upper.starts_with("DYLD_")
        || upper.ends_with("_PROXY")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(listed: &[&str]) -> BTreeMap<String, String> {
        let names = [
            "PATH",
            "LC_ALL",
            "HOME",
            "OPENAI_API_KEY",
            "MY_FLAG",
            "MY_TOKEN",
            "LD_PRELOAD",
            "HTTPS_PROXY",
        ];
        let user_env =
            names.iter().map(|name| ((*name).to_owned(), format!("person's {name}"))).collect();
        let listed: Vec<String> = listed.iter().map(|name| (*name).to_owned()).collect();
        build_environment(
            &user_env,
            &listed,
            Path::new("/private"),
            &[("PLANWRIGHT_CALL_ID".into(), "x".into())],
        )
    }

    #[test]
    fn only_listed_variables_of_the_user_are_passed_on() {
        let none = built(&[]);
        assert_eq!(none["HOME"], "/private/home");
        assert_eq!(none["TERM"], "dumb");
        assert_eq!(none["LC_ALL"], "person's LC_ALL");
        assert_eq!(none["PLANWRIGHT_CALL_ID"], "x");
        for name in ["OPENAI_API_KEY", "MY_FLAG", "MY_TOKEN", "LD_PRELOAD", "HTTPS_PROXY"] {
            assert!(!none.contains_key(name), "{name}");
        }
    }

    #[test]
    fn sensitive_names_must_be_listed_individually() {
        let some = built(&["MY_*", "*"]);
        assert!(some.contains_key("MY_FLAG") && !some.contains_key("MY_TOKEN"));
        assert!(!some.contains_key("LD_PRELOAD") && !some.contains_key("HTTPS_PROXY"));
        assert!(built(&["MY_TOKEN"]).contains_key("MY_TOKEN"));
        assert_eq!(built(&["HOME"])["HOME"], "/private/home");
    }
}
