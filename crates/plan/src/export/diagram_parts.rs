//! Diagrams that Mermaid would refuse, as several of them in one Markdown document.
//!
//! Mermaid limits the links and the length of one diagram. A page can raise these limits, a diagram cannot, so a large
//! plan is cut into parts in its own order. A link is drawn in the part of its end; its start is a dashed box there if
//! it belongs to another part.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::markdown::escape_markdown;

/// Mermaid refuses more than 500 links (`maxEdges`) and 50,000 characters (`maxTextSize`) in one diagram.
const MAX_LINKS: usize = 480;
const MAX_CHARS: usize = 45_000;

/// The declaration of classes and the name of a part are not counted for each box.
const OVERHEAD: usize = 2_000;

/// One box of a flowchart.
#[derive(Clone, Debug)]
pub(super) struct FlowBox {
    pub name: String,
    /// With its shape and label, as Mermaid reads it.
    pub declaration: String,
    /// Escaped.
    pub title: String,
}

/// One arrow between boxes, by their place in the list.
#[derive(Clone, Debug)]
pub(super) struct FlowLink {
    pub from: usize,
    pub to: usize,
    pub arrow: String,
}

/// A flowchart without nesting.
#[derive(Debug)]
pub(super) struct FlowGraph<'a> {
    pub title: &'a str,
    /// The first line: `flowchart TD`.
    pub head: &'a str,
    pub boxes: Vec<FlowBox>,
    pub links: Vec<FlowLink>,
}

/// Whether Mermaid draws this text as one diagram.
pub(super) fn fits_one_diagram(text: &str, links: usize) -> bool {
    links <= MAX_LINKS && text.chars().count() <= MAX_CHARS
}

/// The boxes and links of one diagram.
#[derive(Debug, Default)]
struct FlowPart {
    own: BTreeSet<usize>,
    others: BTreeSet<usize>,
    links: Vec<usize>,
    chars: usize,
}

impl FlowPart {
    fn add_box(&mut self, graph: &FlowGraph<'_>, index: usize) {
        self.own.insert(index);
        self.others.remove(&index);
        self.chars += graph.boxes[index].declaration.chars().count() + 8;
    }

    fn add_link(&mut self, graph: &FlowGraph<'_>, index: usize) {
        let link = &graph.links[index];
        if !self.own.contains(&link.from) && self.others.insert(link.from) {
            self.chars += graph.boxes[link.from].title.chars().count() + 24;
        }
        self.chars += link.arrow.chars().count() + 24;
        self.links.push(index);
    }

    /// Whether a text of some length still fits beside what is there.
    fn has_room(&self, chars: usize) -> bool {
        self.links.len() < MAX_LINKS && self.chars + chars + OVERHEAD < MAX_CHARS
    }
}

impl FlowGraph<'_> {
    /// Writes one diagram, or a document of several if there is too much for one. `styles` writes the classes of the
    /// boxes of a diagram.
    pub(super) fn render(&self, styles: &dyn Fn(&BTreeSet<usize>) -> String) -> String {
        let mut everything = FlowPart::default();
        (0..self.boxes.len()).for_each(|index| everything.add_box(self, index));
        (0..self.links.len()).for_each(|index| everything.add_link(self, index));
        let text = self.render_part(&everything, styles);
        if fits_one_diagram(&text, self.links.len()) {
            return text;
        }
        let parts: Vec<String> =
            self.parts().iter().map(|part| self.render_part(part, styles)).collect();
        let reason = format!(
            "The plan has {} tasks and {} links. Mermaid draws at most 500 links or 50,000 characters in one diagram. \
             Dashed boxes stand for tasks of other parts.",
            self.boxes.len(),
            self.links.len()
        );
        render_document(self.title, &reason, &parts)
    }

    fn parts(&self) -> Vec<FlowPart> {
        let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); self.boxes.len()];
        for (index, link) in self.links.iter().enumerate() {
            incoming[link.to].push(index);
        }
        let mut done = Vec::new();
        let mut part = FlowPart::default();
        for (index, flow_box) in self.boxes.iter().enumerate() {
            if !part.has_room(flow_box.declaration.chars().count()) {
                done.push(std::mem::take(&mut part));
            }
            part.add_box(self, index);
            for link in &incoming[index] {
                // A task with more links than one diagram holds is drawn again for the rest of them.
                if !part.has_room(self.boxes[self.links[*link].from].title.chars().count() + 48) {
                    done.push(std::mem::take(&mut part));
                    part.add_box(self, index);
                }
                part.add_link(self, *link);
            }
        }
        done.push(part);
        done
    }

    fn render_part(&self, part: &FlowPart, styles: &dyn Fn(&BTreeSet<usize>) -> String) -> String {
        let mut text = format!("{}\n", self.head);
        for index in &part.own {
            let _ = writeln!(text, "    {}", self.boxes[*index].declaration);
        }
        for index in &part.others {
            let other = &self.boxes[*index];
            let _ = writeln!(text, "    {}([\"{}\"])", other.name, other.title);
        }
        for index in &part.links {
            let link = &self.links[*index];
            let (from, to) = (&self.boxes[link.from].name, &self.boxes[link.to].name);
            let _ = writeln!(text, "    {from} {} {to}", link.arrow);
        }
        if !part.others.is_empty() {
            let names: Vec<&str> =
                part.others.iter().map(|index| self.boxes[*index].name.as_str()).collect();
            text.push_str("    classDef elsewhere stroke-dasharray:4 3\n");
            let _ = writeln!(text, "    class {} elsewhere", names.join(","));
        }
        text.push_str(&styles(&part.own));
        text
    }
}

/// Writes the lines of a Gantt chart behind its head, as several charts if they are too long for one.
pub(super) fn render_gantt_parts(title: &str, head: &str, lines: &str) -> String {
    let whole = format!("{head}{lines}");
    if fits_one_diagram(&whole, 0) {
        return whole;
    }
    let mut parts = vec![head.to_owned()];
    let mut section: Option<&str> = None;
    for line in lines.lines() {
        let is_section = line.trim_start().starts_with("section ");
        if is_section {
            section = Some(line);
        }
        let room = MAX_CHARS - OVERHEAD;
        if parts.last().is_some_and(|part| part.chars().count() + line.chars().count() > room) {
            parts.push(head.to_owned());
            if let (Some(section), Some(part), false) = (section, parts.last_mut(), is_section) {
                let _ = writeln!(part, "{section}");
            }
        }
        if let Some(part) = parts.last_mut() {
            let _ = writeln!(part, "{line}");
        }
    }
    let reason = "Mermaid draws at most 50,000 characters in one diagram.";
    render_document(title, reason, &parts)
}

fn render_document(title: &str, reason: &str, parts: &[String]) -> String {
    let mut text = format!("# {}\n\n{reason}\n", escape_markdown(title));
    for (index, part) in parts.iter().enumerate() {
        let _ =
            write!(text, "\n## Part {} of {}\n\n```mermaid\n{part}```\n", index + 1, parts.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(boxes: usize, links: &[(usize, usize)]) -> FlowGraph<'static> {
        let flow_box = |index: usize| FlowBox {
            name: format!("n{index}"),
            declaration: format!("n{index}[\"Task {index}\"]"),
            title: format!("Task {index}"),
        };
        let link = |&(from, to): &(usize, usize)| FlowLink { from, to, arrow: "-->".to_owned() };
        FlowGraph {
            title: "Big",
            head: "flowchart TD",
            boxes: (0..boxes).map(flow_box).collect(),
            links: links.iter().map(link).collect(),
        }
    }

    fn diagrams(text: &str) -> Vec<&str> {
        text.split("```mermaid\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
    }

    /// Every link is drawn once, no diagram is above the limits, every box is declared where it is used.
    #[test]
    fn a_large_graph_is_several_diagrams_with_every_link_once() {
        let links: Vec<(usize, usize)> = (1..400_usize)
            .flat_map(|to| (to.saturating_sub(3)..to).map(move |from| (from, to)))
            .collect();
        let text = graph(400, &links).render(&|_| String::new());
        let parts = diagrams(&text);
        assert_eq!(parts.len(), 3, "{text}");
        let mut drawn: Vec<&str> = Vec::new();
        for part in parts {
            let arrows: Vec<&str> =
                part.lines().filter(|line| line.contains("-->")).map(str::trim).collect();
            assert!(arrows.len() <= 480 && part.chars().count() <= 50_000);
            for end in arrows.iter().flat_map(|arrow| arrow.split(" --> ")) {
                let declared = [format!("    {end}[\""), format!("    {end}([\"")];
                assert!(
                    part.lines().any(|line| declared.iter().any(|head| line.starts_with(head)))
                );
            }
            drawn.extend(arrows);
        }
        let mut once = drawn.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!((drawn.len(), once.len()), (links.len(), links.len()));
    }

    #[test]
    fn a_task_with_more_links_than_a_diagram_holds_is_drawn_again() {
        let links: Vec<(usize, usize)> = (0..1_000).map(|from| (from, 1_000)).collect();
        let text = graph(1_001, &links).render(&|_| String::new());
        let again = diagrams(&text).iter().filter(|part| part.contains("n1000[\"")).count();
        assert!(again >= 3, "{again}");
    }

    #[test]
    fn a_small_graph_is_one_diagram() {
        let text = graph(2, &[(0, 1)]).render(&|own| format!("    %% {}\n", own.len()));
        assert_eq!(
            text,
            "flowchart TD\n    n0[\"Task 0\"]\n    n1[\"Task 1\"]\n    n0 --> n1\n    %% 2\n"
        );
    }

    #[test]
    fn a_long_gantt_chart_repeats_its_section() {
        let lines: String = std::iter::once("    section One\n".to_owned())
            .chain(
                (0..1_500).map(|n| format!("    Task {n} :2026-01-01T09:00, 2026-01-01T10:00\n")),
            )
            .collect();
        let text = render_gantt_parts("Big", "gantt\n", &lines);
        let parts = diagrams(&text);
        assert!(parts.len() > 1);
        for part in &parts {
            assert!(part.starts_with("gantt\n    section One\n") && part.chars().count() < 50_000);
        }
        assert_eq!(text.matches(" :2026").count(), 1_500);
    }
}
