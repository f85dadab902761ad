//! Provider selection with its reasons, provider definitions, and opening of models.

mod model_factory;
mod provider_choice;
mod registry;
mod roles;

pub use model_factory::{KeyObserver, ModelFactory};
pub use provider_choice::{
    KeyConsent, OFFLINE, OllamaProbe, ProviderChoice, ProviderContext, RECORDED, choose_provider,
};
pub use registry::{ProviderDef, ProviderKind, ProviderRegistry};
pub use roles::{ModelRole, RoleOptions};
