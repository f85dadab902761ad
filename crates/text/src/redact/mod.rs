//! The redactor: replaces secrets with `[redacted:KIND]` before text is journaled, logged, exported or sent.
//!
//! Values that Planwright loaded itself are always found, in any context. Other secrets are recognized by their shape
//! or by the name before them; ordinary source code, hashes and identifiers are left alone. Redaction is idempotent.
//! Text should be [cleaned](super::clean_text()) first: an escape sequence inside a key would hide it. Redacting a
//! stream gives exactly the result of redacting its entire text, regardless of how it was split into chunks.

mod assignment;
mod environment;
mod learned_secrets;
mod literal;
mod loaded_secrets;
mod pem;
mod scan;
mod stream;
mod tokens;
mod value_shape;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

pub use environment::is_secret_variable;
pub use learned_secrets::LearnedSecrets;
use loaded_secrets::LoadedSecrets;
use scan::{RedactionRules, RedactionScan, RedactionVerdict, ScanInput, TriggerPairs};
pub use stream::StreamRedactor;

/// The kind of a detected secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretKind {
    /// A value that Planwright loaded.
    LoadedKey,
    /// A key of a model provider.
    ApiKey,
    /// An Amazon access key.
    AwsKey,
    /// A GitHub token.
    GithubToken,
    /// A GitLab token.
    GitlabToken,
    /// A Slack token or hook.
    SlackToken,
    /// A Google key or token.
    GoogleKey,
    /// A Stripe key.
    StripeKey,
    /// An npm token.
    NpmToken,
    /// A token of another vendor.
    Token,
    /// A web token in three parts.
    Jwt,
    /// A private key block.
    PrivateKey,
    /// Credentials in a request.
    Authorization,
    /// A password in a URL.
    UrlPassword,
    /// A value named as a password.
    Password,
    /// A value named as a secret, token or key.
    Secret,
}

impl SecretKind {
    /// Returns the name used in the label.
    pub fn name(self) -> &'static str {
        match self {
            Self::LoadedKey => "loaded_key",
            Self::ApiKey => "api_key",
            Self::AwsKey => "aws_key",
            Self::GithubToken => "github_token",
            Self::GitlabToken => "gitlab_token",
            Self::SlackToken => "slack_token",
            Self::GoogleKey => "google_key",
            Self::StripeKey => "stripe_key",
            Self::NpmToken => "npm_token",
            Self::Token => "token",
            Self::Jwt => "jwt",
            Self::PrivateKey => "private_key",
            Self::Authorization => "authorization",
            Self::UrlPassword => "url_password",
            Self::Password => "password",
            Self::Secret => "secret",
        }
    }
}

/// The location of the first secret in a text, for reporting it without showing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    /// The kind of the secret.
    pub kind: SecretKind,
    /// The bytes that identified it; a long secret may extend past them.
    pub span: Range<usize>,
}

/// Finds and replaces secrets. Cheap to clone; contains the loaded values and never prints them.
#[derive(Clone)]
pub struct Redactor(Arc<RedactorRules>);

struct RedactorRules {
    /// The values that were loaded from the start.
    values: Vec<String>,
    /// Values that turned up later.
    learned: LearnedSecrets,
    /// What finds all of them, and how many learned ones it knows.
    finder: RwLock<(usize, Arc<LoadedSecrets>)>,
    /// Names and values of the environment variables that are among the loaded values.
    variables: Vec<(String, String)>,
    patterns: SecretPatterns,
}

impl Redactor {
    /// Creates a redactor that knows these values in addition to the built-in patterns. Values under six bytes are
    /// ignored.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        Self::with_variables(Vec::new(), secrets)
    }

    /// Creates a redactor that also knows the values of environment variables and can name the variable that was found.
    pub fn with_variables<S: AsRef<str>>(
        variables: Vec<(String, String)>,
        secrets: impl IntoIterator<Item = S>,
    ) -> Self {
        let secrets: Vec<S> = secrets.into_iter().collect();
        let values = variables.iter().map(|(_, value)| value.as_str());
        let values: Vec<String> =
            values.chain(secrets.iter().map(AsRef::as_ref)).map(str::to_owned).collect();
        Self::from_values(values, variables, LearnedSecrets::default())
    }

    fn from_values(
        values: Vec<String>,
        variables: Vec<(String, String)>,
        learned: LearnedSecrets,
    ) -> Self {
        let finder = RwLock::new(learned.build_finder(&values));
        let patterns = SecretPatterns::new();
        Self(Arc::new(RedactorRules { values, learned, finder, variables, patterns }))
    }

    /// The same with values that turn up later, which it shares with others.
    pub fn sharing(&self, learned: &LearnedSecrets) -> Self {
        let (values, variables) = (self.0.values.clone(), self.0.variables.clone());
        Self::from_values(values, variables, learned.clone())
    }

    /// Adds a value that became known later, for this redactor, its clones and all that share its learned values. Streams
    /// that have begun know it from their next chunk on.
    pub fn add_secret(&self, value: &str) {
        self.0.learned.add(value);
    }

    /// How many values it knows, loaded and learned.
    pub fn value_count(&self) -> usize {
        self.0.values.len() + self.0.learned.count()
    }

    /// All values it knows, for another process of this program that has to cover them as well. They go nowhere else.
    pub fn known_values(&self) -> Vec<String> {
        let mut values = self.0.values.clone();
        values.extend(self.0.learned.values());
        values
    }

    /// What finds the loaded and the learned values, as of now.
    fn loaded(&self) -> Arc<LoadedSecrets> {
        let count = self.0.learned.count();
        {
            let known = self.0.finder.read().unwrap_or_else(PoisonError::into_inner);
            if known.0 >= count {
                return Arc::clone(&known.1);
            }
        }
        let mut known = self.0.finder.write().unwrap_or_else(PoisonError::into_inner);
        if known.0 < count {
            *known = self.0.learned.build_finder(&self.0.values);
        }
        Arc::clone(&known.1)
    }

    /// Returns the name of the environment variable whose value appears in a text.
    pub fn find_variable(&self, text: &str) -> Option<&str> {
        let input = ScanInput { bytes: text.as_bytes(), more: false };
        let stands = |value: &str| {
            let loaded = LoadedSecrets::new([value]);
            !loaded.is_empty() && RedactionScan::default().next_hit(&loaded, input).is_some()
        };
        let found = self.0.variables.iter().find(|(_, value)| stands(value));
        found.map(|(name, _)| name.as_str())
    }

    /// Replaces every secret in a text with its label.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // Loaded values are replaced in a pass of their own, before the patterns, so that no pattern match can end in
        // the middle of one.
        match self.redact_loaded(text) {
            Cow::Borrowed(text) => scan::redact_whole_text(&self.0.patterns, text),
            Cow::Owned(text) => match scan::redact_whole_text(&self.0.patterns, &text) {
                Cow::Owned(redacted) => Cow::Owned(redacted),
                Cow::Borrowed(_) => Cow::Owned(text),
            },
        }
    }

    fn redact_loaded<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let loaded = self.loaded();
        if loaded.is_empty() {
            Cow::Borrowed(text)
        } else {
            scan::redact_whole_text(&*loaded, text)
        }
    }

    /// Returns whether [`redact`](Self::redact) would change a text.
    pub fn would_change(&self, text: &str) -> bool {
        self.find_secret(text).is_some()
    }

    /// Finds a secret in a text: the first loaded value, or else the first match of a pattern.
    pub fn find_secret(&self, text: &str) -> Option<SecretFinding> {
        let input = ScanInput { bytes: text.as_bytes(), more: false };
        let hit = RedactionScan::default()
            .next_hit(&*self.loaded(), input)
            .or_else(|| RedactionScan::default().next_hit(&self.0.patterns, input))?;
        Some(SecretFinding { kind: hit.kind, span: hit.span })
    }

    /// Starts redacting a stream.
    pub fn start_stream(&self) -> StreamRedactor {
        StreamRedactor::new(self.clone())
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new::<&str>([])
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// The built-in patterns.
struct SecretPatterns {
    triggers: TriggerPairs,
    /// The byte pairs that must follow the trigger of a token, so that most words are rejected at the third byte.
    seconds: TriggerPairs,
}

impl SecretPatterns {
    fn new() -> Self {
        let (mut triggers, mut seconds) = (TriggerPairs::new(), TriggerPairs::new());
        tokens::add_triggers(&mut triggers, &mut seconds);
        assignment::add_triggers(&mut triggers);
        Self { triggers, seconds }
    }
}

impl RedactionRules for SecretPatterns {
    fn triggers(&self) -> &TriggerPairs {
        &self.triggers
    }

    fn judge_candidate(&self, input: ScanInput<'_>, at: usize) -> RedactionVerdict {
        match (input.bytes[at], input.bytes[at + 1]) {
            (b':', b'/') => tokens::judge_url(input, at),
            (b':' | b'=' | b'>' | b'"' | b'\'', _) => assignment::judge_assignment(input, at),
            (b'-', _) => match pem::judge_pem(input, at)? {
                None => assignment::judge_option(input, at),
                found => Ok(found),
            },
            (_, second) => match input.byte_at(at + 2)? {
                Some(third) if self.seconds.contains(second, third) => {
                    tokens::judge_token(input, at)
                }
                _ => Ok(None),
            },
        }
    }
}
