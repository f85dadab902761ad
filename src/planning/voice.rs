use crate::model::InteractionPolicy;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cta {
    Approval,
    Rfc,
    Escalation,
    Cap,
    Budget,
    Questions,
    Goal,
    Words,
}
#[derive(Clone, Debug, Default)]
pub struct Speech {
    pub lead: Vec<String>,
    pub points: Vec<String>,
    pub violations: Vec<String>,
    pub why: Option<String>,
    pub next_step: Option<String>,
    pub cta: Option<Cta>,
}
pub fn say(_p: &InteractionPolicy, _first: bool, s: &Speech) -> String {
    s.lead.join(" ")
}
pub fn options_shown(_p: &InteractionPolicy) -> usize {
    3
}
