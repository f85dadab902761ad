//! Secrets of this process: keys of model providers, tokens of tool servers, and variables that are named like secrets.

use super::App;
use crate::environment_secrets::ENVIRONMENT_SECRETS;
use planwright_text::{Redactor, is_secret_variable};

impl App {
    /// Covers what the settings name as secret in the diagnostic log, if there is one.
    pub(super) fn cover_log(&self) {
        if crate::diagnostics::is_logging() {
            let secrets = self.secret_variables().into_iter().map(|(_, value)| value);
            crate::diagnostics::add_secrets(secrets);
        }
    }

    /// Knows the keys of model providers, so that they are found wherever they turn up.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor_with::<&str>([])
    }

    /// The same with further secrets. What a command prints as a secret later is known to all of them.
    pub(crate) fn redactor_with<S: AsRef<str>>(
        &self,
        secrets: impl IntoIterator<Item = S>,
    ) -> Redactor {
        Redactor::with_variables(self.secret_variables(), secrets).sharing(&self.learned_secrets)
    }

    /// What must not show anywhere: keys of model providers, tokens of servers of tools, and values of variables that
    /// are named like secrets.
    fn secret_variables(&self) -> Vec<(String, String)> {
        let tokens = self.settings.mcp.values().filter_map(|server| server.token_variable.clone());
        let agents = self.settings.own_agents.agents.values();
        // What an agent is given by name may be anything; only what is named like a secret is one.
        let agents = agents.flat_map(|agent| agent.env.iter().cloned()).filter(|name| {
            std::env::var(name).is_ok_and(|value| is_secret_variable(name, &value, &[]))
        });
        let names = self.key_variables().into_iter().chain(tokens).chain(agents);
        let known = names.filter_map(|name| {
            let value = std::env::var(&name).ok()?;
            Some((name, value))
        });
        known
            .chain(ENVIRONMENT_SECRETS.iter().cloned())
            .chain(self.plan_secrets.covered.iter().cloned())
            .chain(self.literal_secrets().map(|(name, value)| (name.clone(), value.clone())))
            .collect()
    }

    /// Values written into the config itself: headers of providers and variables of tool servers that are named like
    /// secrets.
    fn literal_secrets(&self) -> impl Iterator<Item = (&String, &String)> {
        let providers = self.settings.models.providers.values();
        let headers = providers.flat_map(|provider| provider.value.headers.iter());
        let variables = self.settings.mcp.values().flat_map(|server| server.set.iter());
        headers.chain(variables).filter(|(name, value)| {
            let name = name.to_uppercase().replace('-', "_");
            name == "AUTHORIZATION" || is_secret_variable(&name, value, &[])
        })
    }
}
