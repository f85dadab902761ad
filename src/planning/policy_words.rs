use crate::model::PolicyOverride;
pub fn set(_f: &str, _v: &str) -> Result<PolicyOverride, String> {
    Ok(PolicyOverride::default())
}
