use crate::model::*;
#[derive(Clone, Debug)]
pub enum ContextChange {
    X,
}
impl std::fmt::Display for ContextChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("x")
    }
}
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub edits: Vec<PlanEdit>,
    pub context: Vec<ContextChange>,
    pub unread: Vec<String>,
}
pub fn read(
    _t: &str,
    _o: &PlanOutline,
    _r: Option<&Roadmap>,
    _m: &[TaskId],
    _d: jiff::civil::Date,
) -> Reading {
    Reading::default()
}
pub fn change(_c: &mut PlanContext, _x: &ContextChange) {}
