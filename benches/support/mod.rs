//! What the benchmarks share: a comparison of their ratios with the kept ones.
//!
//! Times depend on the machine and on who else uses it; ratios of two sides that took turns hardly do. So the ratios
//! are kept in `benches/kept.toml`, and a run reports which of them became more than a tenth worse.
//! `PLANWRIGHT_KEEP=1` keeps the ratios of this run instead.

use std::path::PathBuf;

use toml_edit::{DocumentMut, Item, Table, value};

/// How much worse a ratio may become before it is flagged.
const SLACK: f64 = 0.10;

/// The ratios of one benchmark, compared with the kept ones.
#[derive(Debug)]
pub struct Kept {
    bench: &'static str,
    document: DocumentMut,
    measured: Vec<(String, f64)>,
    worse: Vec<String>,
}

impl Kept {
    /// Reads the kept ratios of a benchmark. A missing file keeps nothing.
    pub fn of(bench: &'static str) -> Self {
        let text = std::fs::read_to_string(file()).unwrap_or_default();
        let document = text.parse().expect("the kept ratios are a TOML file");
        Self { bench, document, measured: Vec::new(), worse: Vec::new() }
    }

    /// Compares one ratio, a cost of Planwright over one of the other side, with the kept one of the same name.
    pub fn compare(&mut self, name: &str, ratio: f64) {
        self.measured.push((name.to_owned(), ratio));
        let kept = self.document.get(self.bench).and_then(|table| table.get(name));
        let Some(kept) = kept.and_then(Item::as_float) else { return };
        if ratio > kept * (1.0 + SLACK) {
            self.worse.push(format!("{name}: {ratio:.3}, kept {kept:.3}"));
        }
    }

    /// What to print at the end. Keeps this run's ratios on request.
    pub fn verdict(mut self) -> String {
        if std::env::var_os("PLANWRIGHT_KEEP").is_some() {
            self.keep();
            return format!("kept {} ratios", self.measured.len());
        }
        if self.worse.is_empty() {
            return format!(
                "no ratio of {} is more than 10 % worse than kept",
                self.measured.len()
            );
        }
        format!("MORE THAN 10 % WORSE than kept:\n  {}", self.worse.join("\n  "))
    }

    fn keep(&mut self) {
        let table = self.document.entry(self.bench).or_insert(Item::Table(Table::new()));
        for (name, ratio) in &self.measured {
            table[name.as_str()] = value((ratio * 1000.0).round() / 1000.0);
        }
        std::fs::write(file(), self.document.to_string()).expect("the kept ratios can be written");
    }
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/kept.toml")
}
