//! A small set of patterns that match all functions that ran and not much else.

/// What a pattern may cost in bytes of code that did not run before two patterns are better than one.
const PATTERN: u64 = 1_000;
/// Patterns shorter than this would match by chance.
const SHORTEST: usize = 6;

/// Functions of one name are separated by their numbers where this much of them did not run.
const APART: u64 = 512;

/// A function of the program.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) ran: bool,
}

/// The name without the number at its end, by which the compiler distinguishes functions of one name. It changes with the
/// compiler and with the versions of packages.
fn stem(name: &str) -> &str {
    let number = name.rfind("17h").filter(|at| {
        let digits = name.get(at + 3..at + 19);
        name.starts_with("_ZN")
            && digits.is_some_and(|all| all.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    number.map_or(name, |at| &name[..at])
}

/// Functions that a pattern for a whole name matches.
#[derive(Debug)]
struct Named<'a> {
    name: &'a str,
    /// Whether the number is left out.
    is_stem: bool,
    ran: u64,
    idle: u64,
}

/// A pattern and what it matches.
#[derive(Debug)]
struct Chosen {
    pattern: String,
    ran: u64,
    idle: u64,
}

/// The patterns, those that match the least idle code first: idle code ends up in one place that is never touched.
pub(crate) fn covering(functions: &[Function]) -> Vec<String> {
    let mut sorted: Vec<&Function> = functions.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut named: Vec<Named<'_>> =
        sorted.chunk_by(|a, b| stem(&a.name) == stem(&b.name)).flat_map(names).collect();
    named.sort_by(|a, b| a.name.cmp(b.name));
    let mut chosen = choose(&named, 0);
    let idle_percent = |one: &Chosen| one.idle * 100 / (one.ran + one.idle).max(1);
    chosen.sort_by(|a, b| {
        idle_percent(a).cmp(&idle_percent(b)).then_with(|| a.pattern.cmp(&b.pattern))
    });
    chosen.into_iter().map(|one| one.pattern).collect()
}

/// Functions that differ in their number, as one name or each by itself.
fn names<'a>(same: &[&'a Function]) -> Vec<Named<'a>> {
    let sum = |ran| same.iter().filter(|one| one.ran == ran).map(|one| one.size).sum();
    let (ran, idle) = (sum(true), sum(false));
    if ran == 0 || idle < APART {
        return vec![Named { name: stem(&same[0].name), is_stem: true, ran, idle }];
    }
    let alone = |one: &&'a Function| {
        let (ran, idle) = if one.ran { (one.size, 0) } else { (0, one.size) };
        Named { name: &one.name, is_stem: false, ran, idle }
    };
    same.iter().map(alone).collect()
}

/// The cheapest choice for names that share their first `shared` bytes: one pattern for all, or those of the parts.
fn choose(named: &[Named<'_>], shared: usize) -> Vec<Chosen> {
    let ran: u64 = named.iter().map(|one| one.ran).sum();
    let idle: u64 = named.iter().map(|one| one.idle).sum();
    let (Some(first), Some(last)) = (named.first(), named.last()) else { return Vec::new() };
    if ran == 0 {
        return Vec::new();
    }
    if named.len() == 1 {
        let pattern = match first.name {
            name if first.is_stem && name.starts_with("_ZN") => format!("{name}17h*"),
            // A symbol that the linker makes public gets its own suffix.
            name => {
                name.split_once(".llvm.").map_or(name.to_owned(), |(name, _)| format!("{name}*"))
            }
        };
        return vec![Chosen { pattern, ran, idle }];
    }
    let same = |at: &usize| first.name.as_bytes().get(*at) == last.name.as_bytes().get(*at);
    let shared = (shared..first.name.len()).take_while(same).last().map_or(shared, |at| at + 1);
    let parts: Vec<Chosen> = named
        .chunk_by(|a, b| a.name.as_bytes().get(shared) == b.name.as_bytes().get(shared))
        .flat_map(|part| choose(part, shared + 1))
        .collect();
    let apart = parts.iter().map(|one| one.idle + PATTERN).sum::<u64>();
    if shared > SHORTEST && idle + PATTERN <= apart && first.name.is_char_boundary(shared) {
        return vec![Chosen { pattern: format!("{}*", &first.name[..shared]), ran, idle }];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, size: u64, ran: bool) -> Function {
        Function { name: name.to_owned(), size, ran }
    }

    #[test]
    fn the_number_of_a_name_is_ignored() {
        assert_eq!(stem("_ZN3abc4main17h1854dee5fd9945b4E"), "_ZN3abc4main");
        assert_eq!(stem("_ZN3abc4main17h1854dee5fd9945b4E.llvm.7"), "_ZN3abc4main");
        assert_eq!(stem("sqlite3_step"), "sqlite3_step");
    }

    #[test]
    fn neighbors_that_ran_share_a_pattern_and_idle_functions_have_none() {
        let all = [
            function("_ZN3abc5store4read17h0000000000000001E", 500, true),
            function("_ZN3abc5store5write17h0000000000000002E", 500, true),
            function("_ZN3abc6export17h0000000000000003E", 90_000, false),
        ];
        assert_eq!(covering(&all), ["_ZN3abc5store*"]);
    }

    #[test]
    fn a_large_idle_function_is_worth_a_pattern_for_each_neighbor() {
        let all = [
            function("sqlite3_step", 500, true),
            function("sqlite3_stem", 50_000, false),
            function("sqlite3_stop", 500, true),
        ];
        assert_eq!(covering(&all), ["sqlite3_step", "sqlite3_stop"]);
    }

    #[test]
    fn functions_of_one_name_are_kept_apart_where_it_is_worth_it() {
        let all = [
            function("_ZN3abc4grow17h0000000000000001E", 500, true),
            function("_ZN3abc4grow17h0000000000000002E", 50_000, false),
            function("_ZN3xyz4next17h0000000000000003E", 500, true),
            function("_ZN3xyz4next17h0000000000000004E", 100, false),
        ];
        assert_eq!(covering(&all), ["_ZN3abc4grow17h0000000000000001E", "_ZN3xyz4next17h*"]);
    }
}
