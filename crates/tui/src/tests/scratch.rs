use super::fixture::{Fixture, pass};
use planwright_model::event::Record;

#[test]
fn scratch_draws() {
    let Ok(path) = std::env::var("PW_J") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut records: Vec<Record> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if let Some(n) = std::env::var("PW_N").ok().and_then(|n| n.parse().ok()) {
        records.truncate(n);
    }
    println!("{} records", records.len());
    let fixture = Fixture::from_records(records);
    let keys = std::env::var("PW_KEYS").unwrap_or_default();
    let sizes = std::env::var("PW_SIZES").unwrap_or("120x40".into());
    for size in sizes.split(' ') {
        let (w, h) = size.split_once('x').unwrap();
        let (w, h) = (w.parse().unwrap(), h.parse().unwrap());
        let mut shown = match std::env::var("PW_AT").ok().and_then(|n| n.parse().ok()) {
            Some(at) => fixture.replay(at),
            None => fixture.live(),
        };
        shown.draw(w, h);
        pass(400);
        for key in keys.split_whitespace() {
            if let Some(text) = key.strip_prefix("text:") {
                shown.type_text(&text.replace('_', " "));
            } else {
                shown.press(&[key]);
            }
            shown.draw(w, h);
            if let Some(sent) = shown.sent() {
                println!("sent {sent:?}");
            }
        }
        println!("==== {size} {keys}\n{}", shown.text(w, h));
    }
}
