//! Which provider is used and why, what is known about it, and how a model of it is opened.

mod choice;
mod models;
mod registry;
mod roles;

pub use choice::{Choice, Consent, OFFLINE, OllamaProbe, RECORDED, Situation, choose};
pub use models::Models;
pub use registry::{Kind, ProviderDef, Registry};
pub use roles::{ModelRole, RoleOptions};
