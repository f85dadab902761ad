//! Finds definitions line by line, without a full parser.

/// Languages whose definitions can be recognized from single lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceLanguage {
    Rust,
    Python,
    Script,
    Go,
}

impl SourceLanguage {
    pub(super) fn from_path(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "rs" => Some(Self::Rust),
            "py" | "pyi" => Some(Self::Python),
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Some(Self::Script),
            "go" => Some(Self::Go),
            _ => None,
        }
    }
}

/// A definition in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeSymbol {
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// 1-based.
    pub(super) line: usize,
    /// The nesting depth, derived from the indentation.
    pub(super) depth: usize,
}

pub(super) fn list_symbols(text: &str, language: SourceLanguage) -> Vec<CodeSymbol> {
    let mut levels: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let Some((kind, name)) = parse_definition(trimmed, language) else { continue };
        let indent = line.len() - trimmed.len();
        while levels.last().is_some_and(|level| *level >= indent) {
            levels.pop();
        }
        found.push(CodeSymbol { name, kind, line: number + 1, depth: levels.len() });
        levels.push(indent);
    }
    found
}

fn parse_definition(line: &str, language: SourceLanguage) -> Option<(&'static str, String)> {
    match language {
        SourceLanguage::Rust => parse_rust(line),
        SourceLanguage::Python => parse_python(line),
        SourceLanguage::Script => parse_script(line),
        SourceLanguage::Go => parse_go(line),
    }
}

/// The name at the beginning of a text, if any.
fn leading_name(text: &str) -> Option<String> {
    let text = text.trim_start();
    let end = text
        .find(|c: char| !(c == '_' || c == '$' || c == '#' || c.is_alphanumeric()))
        .unwrap_or(text.len());
    (end > 0).then(|| text[..end].trim_start_matches("r#").to_owned())
}

/// Removes leading words as long as they are in the list.
fn strip_leading_words<'a>(mut line: &'a str, words: &[&str]) -> &'a str {
    while let Some((first, rest)) = line.split_once(char::is_whitespace) {
        let visibility = first.starts_with("pub(") && first.ends_with(')');
        if !visibility && !words.contains(&first) {
            break;
        }
        line = rest.trim_start();
    }
    line
}

fn parse_rust(line: &str) -> Option<(&'static str, String)> {
    if let Some(rest) = line.strip_prefix("macro_rules!") {
        return Some(("macro", leading_name(rest)?));
    }
    let line = strip_leading_words(line, &["pub", "async", "unsafe", "extern", "\"C\"", "default"]);
    let line = line.strip_prefix("const fn ").map_or(line, |_| &line["const ".len()..]);
    let (word, rest) = line.split_once([' ', '<'])?;
    let kind = match word {
        "fn" => "fn",
        "struct" => "struct",
        "enum" => "enum",
        "trait" => "trait",
        "type" => "type",
        "mod" => "mod",
        "union" => "union",
        "const" => "const",
        "static" => "static",
        "impl" => {
            let rest = line["impl".len()..].trim_end_matches(['{', ' ']).trim();
            return Some(("impl", rest.to_owned()));
        }
        _ => return None,
    };
    Some((kind, leading_name(rest.trim_start_matches("mut "))?))
}

fn parse_python(line: &str) -> Option<(&'static str, String)> {
    let line = strip_leading_words(line, &["async"]);
    if let Some(rest) = line.strip_prefix("def ") {
        return Some(("def", leading_name(rest)?));
    }
    line.strip_prefix("class ").and_then(|rest| Some(("class", leading_name(rest)?)))
}

fn parse_script(line: &str) -> Option<(&'static str, String)> {
    let line = strip_leading_words(
        line,
        &[
            "export",
            "default",
            "async",
            "declare",
            "abstract",
            "public",
            "private",
            "protected",
            "static",
            "readonly",
        ],
    );
    let starts = |word: &str| {
        line.strip_prefix(word)
            .filter(|rest| rest.starts_with([' ', '*']))
            .map(|rest| rest.trim_start_matches('*'))
    };
    for (word, kind) in [
        ("function", "function"),
        ("class", "class"),
        ("interface", "interface"),
        ("enum", "enum"),
        ("namespace", "namespace"),
    ] {
        if let Some(rest) = starts(word) {
            return Some((kind, leading_name(rest)?));
        }
    }
    if let Some(rest) = starts("type") {
        return rest.contains('=').then(|| Some(("type", leading_name(rest)?)))?;
    }
    for word in ["const", "let", "var"] {
        if let Some(rest) = starts(word) {
            let value = rest.split_once('=')?.1.trim_start();
            let function =
                value.starts_with("function") || value.contains("=>") || value.starts_with("async");
            return Some((if function { "function" } else { "const" }, leading_name(rest)?));
        }
    }
    parse_method(line)
}

/// A method of a class: a name, parentheses, and an opening brace at the end.
fn parse_method(line: &str) -> Option<(&'static str, String)> {
    const STATEMENTS: [&str; 7] = ["if", "for", "while", "switch", "catch", "return", "function"];
    let line = strip_leading_words(line, &["get", "set", "async"]);
    let found = leading_name(line)?;
    let rest = &line[found.len()..];
    let is_method = rest.starts_with('(')
        && line.trim_end().ends_with('{')
        && !STATEMENTS.contains(&found.as_str());
    is_method.then_some(("method", found))
}

fn parse_go(line: &str) -> Option<(&'static str, String)> {
    if let Some(rest) = line.strip_prefix("func ") {
        let rest = match rest.strip_prefix('(') {
            Some(receiver) => receiver.split_once(')')?.1,
            None => rest,
        };
        return Some(("func", leading_name(rest)?));
    }
    for word in ["type", "const", "var", "package"] {
        if let Some(rest) = line.strip_prefix(word).filter(|rest| rest.starts_with(' ')) {
            let kind = match word {
                "type" => "type",
                "const" => "const",
                "var" => "var",
                _ => "package",
            };
            return Some((kind, leading_name(rest)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, language: SourceLanguage) -> Vec<String> {
        list_symbols(text, language)
            .into_iter()
            .map(|symbol| format!("{}{} {}", " ".repeat(symbol.depth), symbol.kind, symbol.name))
            .collect()
    }

    #[test]
    fn rust() {
        let text = "pub(crate) struct A<T> {\n}\nimpl<T> A<T> {\n    pub async fn go(&self) {}\n    const fn x() {}\n}\nmacro_rules! m { }\nlet fnord = 3;\n";
        let expected = ["struct A", "impl <T> A<T>", " fn go", " fn x", "macro m"];
        assert_eq!(names(text, SourceLanguage::Rust), expected);
    }

    #[test]
    fn python() {
        let text =
            "class A(B):\n    async def go(self):\n        pass\ndef f(): pass\nclassy = 1\n";
        assert_eq!(names(text, SourceLanguage::Python), ["class A", " def go", "def f"]);
    }

    #[test]
    fn javascript_and_typescript() {
        let text = "export default class A {\n  async run(x) {\n    if (x) {\n    }\n  }\n}\nexport const f = (a) => a;\nfunction* g() {}\ninterface I {}\ntype T = string;\nlet n = 3;\n";
        let expected = [
            "class A",
            " method run",
            "function f",
            "function g",
            "interface I",
            "type T",
            "const n",
        ];
        assert_eq!(names(text, SourceLanguage::Script), expected);
    }

    #[test]
    fn go() {
        let text = "package main\ntype A struct {}\nfunc (a *A) Run() {}\nfunc main() {}\n";
        assert_eq!(
            names(text, SourceLanguage::Go),
            ["package main", "type A", "func Run", "func main"]
        );
    }

    #[test]
    fn nothing_panics_on_strange_lines() {
        for language in [
            SourceLanguage::Rust,
            SourceLanguage::Python,
            SourceLanguage::Script,
            SourceLanguage::Go,
        ] {
            list_symbols("fn\nfn \nimpl\nfunc (\nclass\nconst =\n\u{0}\u{7f}é(){\n", language);
        }
    }
}
