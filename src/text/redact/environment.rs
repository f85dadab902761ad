//! Which variables of an environment hold secrets, by their names and values. The environment itself is read by others.

/// Shorter values are too likely to be part of ordinary text.
const SHORTEST: usize = 8;

/// Returns whether the value of a variable is to be covered wherever it turns up.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    names_secret(name) && is_telling(value.trim())
}

/// `AWS_SECRET_ACCESS_KEY`, `DB_PASSWORD`, `GITHUB_TOKEN`, but not `PWD` or `SSH_PUBLIC_KEY`.
fn names_secret(name: &str) -> bool {
    const ENDINGS: [&str; 14] = [
        "KEY",
        "SECRET",
        "TOKEN",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "PASSCODE",
        "_PASS",
        "_PWD",
        "_PAT",
        "CREDENTIAL",
        "CREDENTIALS",
        "_AUTH",
        "SECRET_KEY_BASE",
    ];
    const OPEN: [&str; 3] = ["PUBLIC_KEY", "PUBKEY", "HOTKEY"];
    let name = name.to_ascii_uppercase();
    let counter = |c: char| c.is_ascii_digit() || c == '_';
    let name = name.trim_end_matches(counter);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    (ends(&ENDINGS) || name == "PASS" || name.contains("SECRET"))
        && name != "OLD_PWD"
        && !ends(&OPEN)
}

/// Whether a value is no path, address, switch, number of a few digits or word that every text has.
fn is_telling(value: &str) -> bool {
    const WORDS: [&str; 18] = [
        "disabled",
        "enabled",
        "required",
        "optional",
        "password",
        "changeme",
        "development",
        "production",
        "localhost",
        "postgres",
        "undefined",
        "keychain",
        "external",
        "internal",
        "anonymous",
        "administrator",
        "keyring",
        "gnome-keyring",
    ];
    let path = value.starts_with(['/', '~', '.', '$']) || value.contains("://");
    let lower = value.to_ascii_lowercase();
    let same = value.chars().all(|c| value.starts_with(c));
    value.len() >= SHORTEST
        && !path
        && !same
        && !value.contains(char::is_whitespace)
        && !WORDS.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_by_their_names_and_values() {
        for (name, value) in [
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
            ("DB_PASSWORD", "swordfish"),
            ("db_password_2", "correct-horse"),
            ("GITHUB_TOKEN", "abcdefghijkl"),
            ("STRIPE_SECRET", "hunter2hunter2"),
            ("MYSQL_PWD", "12345678"),
            ("SIGNING_KEY", "abcdefgh"),
            ("APP_SECRET_KEY_BASE", "aaaabbbbcccc"),
        ] {
            assert!(is_secret_variable(name, value), "{name}");
        }
        for (name, value) in [
            ("PWD", "/home/me/work"),
            ("SSH_KEY", "/home/me/.ssh/id"),
            ("TOKEN", "true"),
            ("API_KEY", "short"),
            ("PUBLIC_KEY", "abcdefghijkl"),
            ("AUTH_TOKEN_PASSWORD", "disabled"),
            ("PASSWORD", "********"),
            ("KEYCLOAK_SECRET", "https://example.org/secret"),
            ("EDITOR", "some-editor"),
            ("GREETING_TOKEN", "several words of text"),
        ] {
            assert!(!is_secret_variable(name, value), "{name}");
        }
    }
}
