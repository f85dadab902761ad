//! Decides which environment variables contain secrets, by their names and values. Callers read the environment.

use super::value_shape::ValueShape;

/// Shorter values are too likely to be part of ordinary text.
const MIN_VALUE_LEN: usize = 8;
/// A single lowercase word shorter than this is as likely a name as a password.
const LONGEST_WORD: usize = 11;

/// Returns whether the value of a variable must be redacted everywhere. `ordinary` are words that appear in any text of
/// this user, such as the user name and the parts of the working directory.
pub fn is_secret_variable(name: &str, value: &str, ordinary: &[String]) -> bool {
    let value = value.trim();
    let looks_secret = match classify_variable_name(name) {
        Some(VariableNameClass::Password) => !is_short_word(value),
        Some(VariableNameClass::Key) => looks_generated(value),
        None => false,
    };
    looks_secret
        && is_distinctive(value)
        && !ordinary.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// What the name of a variable indicates about its value.
enum VariableNameClass {
    /// A password or token, which the user may have chosen.
    Password,
    /// A key or secret. Many variables with such a name contain an identifier, so the value must look generated.
    Key,
}

/// Matches `AWS_SECRET_ACCESS_KEY`, `DB_PASSWORD`, `GITHUB_TOKEN`, but not `PWD`, `SSH_PUBLIC_KEY` or
/// `AWS_SECRETS_REGION`.
fn classify_variable_name(name: &str) -> Option<VariableNameClass> {
    const PASSWORDS: [&str; 10] = [
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
    ];
    const KEYS: [&str; 5] = ["KEY", "SECRET", "_AUTH", "SECRET_ID", "SECRET_KEY_BASE"];
    const OPEN: [&str; 3] = ["PUBLIC_KEY", "PUBKEY", "HOTKEY"];
    let name = name.to_ascii_uppercase();
    let counter = |c: char| c.is_ascii_digit() || c == '_';
    let name = name.trim_end_matches(counter);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if name == "OLD_PWD" || ends(&OPEN) {
        None
    } else if ends(&PASSWORDS) || name == "PASS" {
        Some(VariableNameClass::Password)
    } else {
        ends(&KEYS).then_some(VariableNameClass::Key)
    }
}

fn is_short_word(value: &str) -> bool {
    value.len() <= LONGEST_WORD && value.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns whether a value looks generated, as keys do, rather than chosen by a person: `k3Vq9…`, not `acme-shop-2` or
/// `AcmeShopBackend`.
fn looks_generated(value: &str) -> bool {
    let shape = ValueShape::from_bytes(value.as_bytes());
    let mixed =
        (shape.digits > 0 && shape.letter_count() > 0) || (shape.upper > 0 && shape.lower > 0);
    let breaks = count_breaks(value.as_bytes());
    let by_digits = shape.digits >= 2 && value.len() >= 12 && breaks * 5 >= value.len();
    let by_length = value.len() >= 32 && breaks * 5 >= value.len();
    // The first letter of a capitalized word is not a break, so camel case names have few.
    let by_case = shape.is_likely_random() && breaks * 4 >= value.len();
    let by_signs = shape.signs >= 2 && shape.digits > 0 && value.len() >= 12;
    mixed && (by_digits || by_length || by_case || by_signs)
}

/// Counts the positions where an uppercase letter follows a lowercase one, or where a letter and a digit are adjacent.
fn count_breaks(value: &[u8]) -> usize {
    let is_break = |pair: &[u8]| {
        let (first, second) = (pair[0], pair[1]);
        (first.is_ascii_lowercase() && second.is_ascii_uppercase())
            || (first.is_ascii_alphabetic() && second.is_ascii_digit())
            || (first.is_ascii_digit() && second.is_ascii_alphabetic())
    };
    value.windows(2).filter(|pair| is_break(pair)).count()
}

/// Returns whether a value is something other than a path, an address, a switch, a short number or a common word.
fn is_distinctive(value: &str) -> bool {
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
    value.len() >= MIN_VALUE_LEN
        && !path
        && !same
        && !value.contains(char::is_whitespace)
        && !WORDS.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordinary() -> Vec<String> {
        ["jane.doe", "warehouse-web"].map(str::to_owned).to_vec()
    }

    #[test]
    fn recognizes_real_secrets_by_name_and_value() {
        for (name, value) in [
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            ("DB_PASSWORD", "swordfish7"),
            ("DB_PASSWORD", "wintergardenlamp"),
            ("db_password_2", "correct-horse"),
            ("GITHUB_TOKEN", "abcdefghijkl"),
            ("STRIPE_SECRET", "hunter2hunter2"),
            ("MYSQL_PWD", "12345678"),
            ("SIGNING_KEY", "9f86d081884c7d659a2feaa0c55ad015"),
            ("SERVICE_API_KEY", "kQzRtWvXbNmLpSdFgHjKlZxCvBnMqWeRtYuI5aBcDeFgH"),
            ("TOTP_KEY", "JBSW2Y3DPEHPK3PXPJ4Q6ZLM"),
            ("APP_SECRET_KEY_BASE", "4f1b0c9e77a2d35e8c61"),
            ("VAULT_SECRET_ID", "6a174c20-f6de-a53c-74d2-6018fcceff64"),
            ("DJANGO_SECRET_KEY", "x7$k(2m!q9#z&w4v"),
            ("NPM_AUTH", "bnBtOnMzY3IzdC1wYXNz"),
        ] {
            assert!(is_secret_variable(name, value, &ordinary()), "{name}");
        }
    }

    #[test]
    fn ordinary_values_are_not_secrets_in_any_variable() {
        for (name, value) in [
            ("PWD", "/home/me/work"),
            ("SSH_KEY", "/home/me/.ssh/id"),
            ("TOKEN", "true"),
            ("API_KEY", "short"),
            ("PUBLIC_KEY", "9f86d081884c7d659a2feaa0c55ad015"),
            ("AUTH_TOKEN_PASSWORD", "disabled"),
            ("PASSWORD", "********"),
            ("KEYCLOAK_SECRET", "https://example.org/secret"),
            ("EDITOR", "some-editor"),
            ("GREETING_TOKEN", "several words of text"),
            ("SONAR_PROJECT_KEY", "acmeshop"),
            ("SONAR_PROJECT_KEY", "acme-shop-backend-2"),
            ("SONAR_PROJECT_KEY", "AcmeShopBackend"),
            ("SONAR_PROJECT_KEY", "com.example:warehouse-web"),
            ("AWS_SECRETS_REGION", "us-east-1"),
            ("SECRETS_BACKEND", "k3Vq9x2Lm7Rt5Wz8"),
            ("KUBE_SECRET_NAME", "k3Vq9x2Lm7Rt5Wz8"),
            ("CACHE_KEY", "v2-dependencies-linux"),
            ("BASIC_AUTH", "required-for-all"),
            ("DB_PASSWORD", "swordfish"),
            ("DB_PASSWORD", "warehouse"),
            ("DB_PASSWORD", "Jane.Doe"),
            ("REGISTRY_TOKEN", "warehouse-web"),
        ] {
            assert!(!is_secret_variable(name, value, &ordinary()), "{name}={value}");
        }
    }
}
