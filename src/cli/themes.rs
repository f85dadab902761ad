//! `planwright themes`: the built-in themes and the person's own.

use super::{CliExit, SharedArgs, StdoutWriter};
use crate::app::App;

pub(super) fn execute_themes(shared: &SharedArgs) -> anyhow::Result<CliExit> {
    let app = App::settings_only(shared)?;
    let mut out = StdoutWriter::new();
    let chosen = &app.settings.theme.value;
    for name in app.theme_names() {
        if shared.json {
            out.write_line(
                &serde_json::json!({ "name": name, "chosen": name == *chosen }).to_string(),
            )?;
        } else {
            out.write_line(&format!("{} {name}", if name == *chosen { '*' } else { ' ' }))?;
        }
    }
    Ok(CliExit::Success)
}
