//! `planwright themes`: the built-in themes and the person's own.

use super::{Exit, Out, Shared};
use crate::app::App;

pub(super) fn themes(shared: &Shared) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let mut out = Out::new();
    let chosen = &app.settings.theme.value;
    for name in app.theme_names() {
        if shared.json {
            out.line(&serde_json::json!({ "name": name, "chosen": name == *chosen }).to_string())?;
        } else {
            out.line(&format!("{} {name}", if name == *chosen { '*' } else { ' ' }))?;
        }
    }
    Ok(Exit::Success)
}
