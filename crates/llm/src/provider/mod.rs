//! Provider selection with its reasons, provider definitions, and opening of models.

#[cfg(feature = "providers")]
mod live_models;
mod model_factory;
#[cfg(not(feature = "providers"))]
mod not_built_in;
mod provider_choice;
mod registry;
mod roles;

pub use model_factory::{KeyObserver, ModelFactory};
pub use provider_choice::{
    KeyConsent, OFFLINE, OllamaProbe, ProviderChoice, ProviderContext, choose_provider,
};
pub(crate) use registry::ProviderDef;
pub use registry::{ProviderKind, ProviderRegistry, apply_environment};
pub use roles::{ModelRole, RoleOptions};
